"""The compiler takes time in proportion to the program."""

import time

import pytest

import torchjit as torch

PROGRAMS = {
    "chain": lambda n: "def f(x):\n" + "    x = x + 1\n" * n + "    return x\n",
    "expression": lambda n: "def f(x):\n    return " + " + ".join(["x"] * n) + "\n",
    "functions": lambda n: "def f(x):\n" + "".join(f"    x = torch.tanh(x * {i % 7}) - x\n" for i in range(n // 3)) + "    return x\n",
    "constants": lambda n: "def f(x):\n    return x[[" + ", ".join(str(i % 3) for i in range(n)) + "]].sum() + " + "len([" + ", ".join(map(str, range(n))) + "])\n",
    "branches": lambda n: "def f(x):\n" + "    if bool(x.sum() > 1e9):\n        x = x + 1\n" * (n // 4) + "    return x\n",
    "results": lambda n: "def f(x):\n" + "".join(f"    y{i} = x + {i}\n" for i in range(n)) + "    return [" + ", ".join(f"y{i}" for i in range(n)) + "]\n",
}


def seconds(program: str) -> float:
    began = time.process_time()
    torch.jit.CompilationUnit(program).f(torch.ones(3, 3))
    return time.process_time() - began


@pytest.mark.parametrize("name", PROGRAMS)
def test_time_grows_with_the_program(name):
    """Eight times the program takes about eight times as long; where the time were the square of the length it would be 64.

    Short and long programs are measured side by side, and one round of six must show it, so that a busy machine fails no test."""
    short, long = PROGRAMS[name](1500), PROGRAMS[name](12000)
    seconds(short)
    ratios: list[float] = []
    while len(ratios) < 6 and min(ratios, default=100) > 24:
        ratios.append(seconds(long) / max(seconds(short), seconds(short), 0.001))
    assert min(ratios) <= 24, ratios


def test_groups_of_a_long_chain_give_its_result():
    f = torch.jit.CompilationUnit("def f(x, y):\n" + "    x = torch.tanh(x * 1.5 + y)\n" * 700 + "    return x\n").f
    x, y = torch.linspace(-2, 2, 50), torch.linspace(1, -1, 50)
    expected = x
    for _ in range(700):
        expected = torch.tanh(expected * 1.5 + y)
    assert torch.equal(f(x, y), expected)
    x.requires_grad_()
    (fused,) = torch.autograd.grad(f(x, y).sum(), x)
    again = x
    for _ in range(700):
        again = torch.tanh(again * 1.5 + y)
    (single,) = torch.autograd.grad(again.sum(), x)
    assert torch.allclose(fused, single, rtol=1e-4, atol=1e-7)


def test_doubled_lists_are_not_written_out():
    f = torch.jit.CompilationUnit("def f(n: int):\n    x = [n]" + "\n    x = x + x" * 18 + "\n    return len(x)\n").f
    assert f(3) == 1 << 18  # each element as a node took minutes
