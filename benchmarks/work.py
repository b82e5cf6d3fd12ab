"""The work that is measured. It runs under PyTorch and under torchjit alike: run.py passes the module's name."""

import importlib
import json
import sys
import time

torch = importlib.import_module(sys.argv[1])
sys.modules["torch"] = torch


def identity(x):
    return x


def loop(n: int):
    s = 0.0
    i = 0
    while i < n:
        s += i * 0.5
        i += 1
    return s


def many(x):
    y = x
    for _ in range(50):
        y = y + x
        y = y * x
    return y


def best(call, times, rounds=7):
    """The best time of one call in nanoseconds."""
    found = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(times):
            call()
        found = min(found, (time.perf_counter() - begin) / times)
    return found * 1e9


def best_identity(f, x, times=100000, rounds=7):
    """As best, without a Python function around the call."""
    found = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(times):
            f(x)
        found = min(found, (time.perf_counter() - begin) / times)
    return found * 1e9


def main():
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    small, four, large = torch.ones(4, 4), torch.ones(4), torch.ones(1000000)
    f, g, h = torch.jit.script(identity), torch.jit.script(many), torch.jit.script(loop)
    for _ in range(20):
        f(small), g(small), h(10)
    square = torch.ones(256, 256)
    print(json.dumps({
        "call of a scripted identity": best_identity(f, small),
        "100 operators on 4x4 tensors, scripted": best(lambda: g(small), 300),
        "100,000 iterations of `while i < n: s += i*0.5`": best(lambda: h(100000), 3),
        "add of 4 elements, eager": best(lambda: four + four, 20000),
        "add of 1M elements, eager": best(lambda: large + large, 30),
        "exp of 1M elements, eager": best(lambda: torch.exp(large), 10),
        "256x256 matrix product, eager": best(lambda: torch.mm(square, square), 20),
    }))  # fmt: skip


main()
