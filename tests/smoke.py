"""Run by hand or by .ci/run against an installed package: scripts, runs and loads in a few lines."""

import pathlib
import sys

import torchjit as torch


def repeat(x, n: int):
    for _ in range(n):
        x = x * 2
    return x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)

    def forward(self, x):
        return torch.relu(self.layer(x))


assert torch.jit.script(repeat)(torch.ones(2), 3).tolist() == [8.0, 8.0]
assert torch.jit.script(Model())(torch.ones(4, 2)).shape == (4, 3)
archive = pathlib.Path(__file__).parent / "data" / "digits_cnn.pt"
assert torch.jit.load(archive)(torch.zeros(1, 1, 12, 12)).shape == (1, 10)
try:
    torch.jit.script(repeat)(1, 2)
except RuntimeError as error:
    assert "Expected a value of type 'Tensor (inferred)' for argument 'x'" in str(error)
print("ok on", sys.version.split()[0], "from", torch.__file__)
