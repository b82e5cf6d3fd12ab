"""Exports a module as a graph of functional operators, saves it and runs what was saved."""

import os
import tempfile

import torchjit as torch
import torchjit.export  # noqa: F401
from torchjit import nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Linear(16, 3))

    def forward(self, x):
        scores = self.layers(x)
        return torch.cond(scores.sum() > 0, lambda s: s.softmax(-1), lambda s: s.sigmoid(), [scores])


torch.manual_seed(0)
model = Classifier().eval()
batch = torch.export.Dim("batch", max=1024)
program = torch.export.export(model, (torch.randn(4, 8),), dynamic_shapes={"x": {0: batch}})
print(program)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "classifier.pt2")
    torch.export.save(program, path)
    loaded = torch.export.load(path)

x = torch.randn(7, 8)
assert torch.allclose(loaded.module()(x), model(x))
print("the saved program gives what the module gives, for another batch too")
