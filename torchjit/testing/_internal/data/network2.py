"""A module named Net; its namesake in network1 is another class."""

import torchjit.nn as nn


class Net(nn.Module):
    """A linear layer of 10 by 20 with a ReLU behind it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 20)
        self.relu = nn.ReLU()
