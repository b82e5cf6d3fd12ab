"""Compile a module with its parameters and control flow."""

import torchjit as torch
from torchjit import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x, flip: bool = False):
        y = self.linear(x)
        return -y if flip else torch.relu(y)


gate = torch.jit.script(Gate())
print(gate(torch.ones(1, 3), True))
print(gate.code)
