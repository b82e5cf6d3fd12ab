"""What compile.py measures. It runs under PyTorch and under torchjit alike."""

import importlib
import importlib.util
import json
import pathlib
import sys
import tempfile
import time

from compile_text import program

torch = importlib.import_module(sys.argv[1])
sys.modules["torch"] = torch
sys.modules["torch.nn"] = importlib.import_module(sys.argv[1] + ".nn")

BLOCK = '''
class Block{i}(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 32)
        self.act = nn.{act}()
        self.down = nn.Linear(32, 16)
        self.scale = {i} + 0.5

    def mix(self, x: Tensor, keep: bool) -> Tensor:
        h = self.down(self.act(self.up(self.norm(x))))
        if keep:
            h = h * self.scale + x
        else:
            h = torch.where(h > {i}, h, x)
        return h

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        y = self.mix(x, mask is None)
        if mask is not None:
            y = y.masked_fill(mask.unsqueeze(-1), float("-inf")).clamp(min=-{i}.0)
        for k in range(y.dim()):
            if y.size(k) == {i}:
                y = y.flip(k)
        return y
'''

MODEL = '''
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([{blocks}])

    def forward(self, x: Tensor) -> Tensor:
        for i, block in enumerate(self.blocks):
            x = block(x, None if i % 2 == 0 else x[..., 0] > 0)
        return x
'''

HEAD = "import torch\nimport torch.nn as nn\nfrom torch import Tensor\nfrom typing import *\n"


def model(folder, number, blocks):
    """A module class in a file of its own, so that nothing of it has been compiled before."""
    acts = ("ReLU", "GELU", "SiLU", "Tanh")
    text = HEAD + "".join(BLOCK.format(i=i, act=acts[i % 4]) for i in range(blocks))
    text += MODEL.format(blocks=", ".join(f"Block{i}()" for i in range(blocks)))
    path = pathlib.Path(folder) / f"model_{number}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    sys.modules[path.stem] = made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made.Model()


def best(call, rounds):
    found = float("inf")
    for i in range(rounds):
        begin = time.perf_counter()
        call(i)
        found = min(found, time.perf_counter() - begin)
    return found * 1e9


def main():
    text = program(46)
    assert 1000 <= text.count("\n") <= 1100
    with tempfile.TemporaryDirectory() as folder:
        models = [model(folder, i, 20) for i in range(4)]
        assert 100 <= sum(1 for _ in models[0].modules()) <= 105
        print(json.dumps({
            "1,000 lines of text, CompilationUnit": best(lambda i: torch.jit.CompilationUnit(text), 25),
            "100 modules, torch.jit.script": best(lambda i: torch.jit.script(models[i]), 4),
        }))  # fmt: skip


main()
