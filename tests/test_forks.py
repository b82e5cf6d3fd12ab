"""Forked calls, and the check of what they share (GOJIT_CHECK=forks)."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """
from typing import Dict, List
import torchjit as torch

@torch.jit.script
class Box:
    def __init__(self, n: int):
        self.n = n

def add(x: torch.Tensor, items: List[torch.Tensor], names: Dict[str, int], box: Box) -> torch.Tensor:
    return x + len(items) + len(names) + box.n

def program(x: torch.Tensor) -> torch.Tensor:
    items = [x, x * 2]
    names = {"a": 1}
    box = Box(3)
    view = items[1].view(-1)
    f = torch.jit.fork(add, x, items, names, box)
    STATEMENT
    return torch.jit.wait(f) + torch.jit.wait(g)
"""

# What the forked call sees, written while it runs; the other fork is g.
RACES = {
    "a Tensor": "g = torch.jit.fork(add, x, items, names, box)\n    x.add_(1)",
    "a Tensor of a list, by a view": "g = torch.jit.fork(add, x, items, names, box)\n    view[0] = 1.0",
    "a List": "g = torch.jit.fork(add, x, items, names, box)\n    items.append(x)",
    "a Dict": 'g = torch.jit.fork(add, x, items, names, box)\n    names["b"] = 2',
    "an Object": "g = torch.jit.fork(add, x, items, names, box)\n    box.n = 4",
}
SAFE = {
    "waited for": "torch.jit.wait(f)\n    items.append(x)\n    x.add_(1)\n    g = torch.jit.fork(add, x, items, names, box)",
    "its own": "g = torch.jit.fork(add, x, items, names, box)\n    mine = [x]\n    mine.append(x)\n    y = x + 1\n    y.add_(1)",
}


def run(tmp_path, statement, check="forks"):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("STATEMENT", statement) + "\nprint(torch.jit.script(program)(torch.ones(2)).tolist())\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GOJIT_CHECK": check}
    return subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True)


@pytest.mark.parametrize("what", RACES)
def test_writes_that_a_fork_can_see_are_found(tmp_path, what):
    done = run(tmp_path, RACES[what])
    assert done.returncode == 1
    assert "is written that a forked call can see which has not been waited for" in done.stderr
    assert "torch.jit.fork(add, x, items, names, box)" in done.stderr.split("The call was forked here")[1]


@pytest.mark.parametrize("what", SAFE)
def test_other_writes_pass(tmp_path, what):
    done = run(tmp_path, SAFE[what])
    assert done.returncode == 0, done.stderr


def test_nothing_is_checked_unless_asked_for(tmp_path):
    assert run(tmp_path, RACES["a List"], check="").returncode == 0
