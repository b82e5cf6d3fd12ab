"""Load a model that PyTorch saved and run it."""

import pathlib

import torchjit as torch

path = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "char_lstm_lm.pt"
model = torch.jit.load(str(path))
print(model.generate("the c", 40))
