"""Forked calls, and the check of what they share (GOJIT_CHECK=forks)."""

import _thread
import io
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import torchjit as torch
from torchjit.testing import FileCheck

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


class Branch(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        a, b = torch.jit.fork(self.linear, x), torch.jit.fork(lambda y: self.linear.weight @ y, x)
        return torch.jit.wait(a) + torch.jit.wait(b)


class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.shared, self.own = Branch(self.linear), Branch(torch.nn.Linear(2, 2))

    def forward(self, x):
        a, b = torch.jit.fork(self.shared, x), torch.jit.fork(self.own, x)
        return torch.jit.wait(a) + torch.jit.wait(b) + self.linear(x)


def inner(x, y):
    return torch.jit.wait(torch.jit.fork(lambda z: z * x, x + y)) * 2


@torch.jit.script
def tripled(x):
    return x * 3


TRACED = {
    "a function": lambda x: torch.jit.wait(torch.jit.fork(torch.neg, x)) * x,
    "a keyword": lambda x: torch.jit.wait(torch.jit.fork(inner, x, y=x * 2)),
    "a script": lambda x: torch.jit.wait(torch.jit.fork(tripled, x)) * x,
    "a closure": lambda x: torch.jit.wait(torch.jit.fork(lambda: x + 1)),
    "a tuple": lambda x: sum(torch.jit.wait(torch.jit.fork(lambda y: (y + x, y * x), x + 1))),
    "a list": lambda x: torch.jit.wait(torch.jit.fork(lambda y: [y, y + 1], x))[1],
    "a dictionary": lambda x: torch.jit.wait(torch.jit.fork(lambda y: {"a": y + 1}, x))["a"],
    "sizes": lambda x: torch.jit.wait(torch.jit.fork(lambda y: y.view(y.size(0), -1) + y.size(1), x)),
    "two waits": lambda x: (lambda f: torch.jit.wait(f) + torch.jit.wait(f))(torch.jit.fork(torch.neg, x)),
    "a write": lambda x: torch.jit.wait(torch.jit.fork(lambda y: y.add_(1), x * 2)) + x,
    "its argument": lambda x: torch.jit.wait(torch.jit.fork(lambda y: y, x)) + x,
    "modules": Branches(),
}  # fmt: skip


@pytest.mark.parametrize("what", TRACED)
def test_traced_forks(what):
    program, x = TRACED[what], torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    traced = torch.jit.trace(program, torch.ones(2, 2))
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    for made in (traced, torch.jit.load(buffer)):
        assert "fork(__forked_function)" in made.code and "torch.wait(" in made.code
        assert torch.equal(made(x), program(x))


def test_graph_of_a_traced_fork():
    def f(x):
        a = torch.jit.fork(lambda y: y + x, x * 2)
        return torch.jit.wait(a) * x

    f = torch.jit.trace(f, torch.ones(2))
    FileCheck().check_count("prim::fork_0(%", 1, exactly=True).check("aten::wait").check("aten::mul").check("with prim::fork_0 = graph(").check("aten::add").run(str(f.graph))
    assert "Future[Float(2, strides=[1], requires_grad=0, device=cpu)] = prim::fork_0(%y, %x)" in str(f.graph)


def test_traced_forks_that_fail():
    kept = []

    def leaks(x):
        future = torch.jit.fork(lambda y: kept.append(y + 1) or y * 2, x)
        return kept[-1] + torch.jit.wait(future)

    def caught(x):
        try:
            torch.jit.fork(lambda y: (y + 1) / [][0], x)
        except IndexError:
            pass
        return x * 2

    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="A tensor that a forked call made is used outside of it"):
        torch.jit.trace(leaks, x)
    for result, name in ((3, "Int"), (None, "None")):
        with pytest.raises(RuntimeError, match=f"Tracer cannot set value trace for type {name}. Supported types are"):
            torch.jit.trace(lambda x, r=result: torch.jit.wait(torch.jit.fork(lambda y: r, x)) or x * 2, x)
    assert "prim::fork" not in str(torch.jit.trace(caught, x).graph)


def test_an_interrupt_ends_what_a_program_has_forked():
    source = """
def endless(n: int) -> int:
    while n > 0:
        n += 1
    return n
def both(n: int) -> int:
    return torch.jit.wait(torch.jit.fork(endless, n)) + torch.jit.wait(torch.jit.fork(endless, n))
def f(n: int) -> int:
    return torch.jit.wait(torch.jit.fork(both, n))
"""
    program = torch.jit.CompilationUnit(source).f
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program(1)
    timer.join()
    for _ in range(100):  # until the forked calls have looked whether they are to end
        before = time.process_time()
        time.sleep(0.1)
        if time.process_time() - before < 0.02:
            return
    pytest.fail("forked calls still run")


def test_futures_of_python_are_arguments():
    @torch.jit.script
    def total(xs: list[torch.futures.Future[int]], y: torch.futures.Future[int] | None) -> int:
        r = 0
        for x in xs:
            r += x.wait()
        if y is not None:
            r += y.wait()
        return r

    later: torch.futures.Future = torch.futures.Future()
    timer = threading.Timer(0.05, later.set_result, [4])
    timer.start()
    assert total([torch.jit.fork(lambda: 3), later], torch.jit.fork(lambda: 10)) == 17
    timer.join()
    with pytest.raises(RuntimeError, match="Expected a value of type 'List.Future.int..'"):
        total([torch.jit.fork(lambda: "s")], None)
    failed: torch.futures.Future = torch.futures.Future()
    failed.set_exception(ValueError("no number"))
    with pytest.raises(ValueError, match="no number"):
        total([], failed)
