"""A module named Net; its namesake in network2 is another class."""

import torchjit.nn as nn


class Net(nn.Module):
    """A linear layer of 10 by 20."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 20)
