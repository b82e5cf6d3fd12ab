"""Records the profile by which the Go compiler optimizes the library: pybind/default.pgo.

    python benchmarks/record_profile.py && make setup

Run it after a change to what every call passes through.
"""

import pathlib
import sys
import time

from compile_text import program

import torchjit as torch
from torchjit import _native

sys.argv[1:] = ["torchjit", "float32"]
from operators_work import F, nanoseconds, rows  # noqa: E402

SECONDS = 24


def identity(x):
    return x


def pointwise(x):
    for _ in range(20):
        x = torch.relu(x + x).mul(0.5).sub(x).add(1)
    return x


def loop(n: int):
    s = 0.0
    i = 0
    while i < n:
        s += i * 0.5
        i += 1
    return s


def main():
    scripted, many, count = torch.jit.script(identity), torch.jit.script(pointwise), torch.jit.script(loop)
    text = program(12)
    matrix, vector, result = torch.ones(4, 4), torch.ones(4), torch.empty(4, 4)
    weight = torch.ones(4, 4, requires_grad=True)
    small = [
        eval("lambda: " + expression, {"torch": torch, "F": F, **names})
        for name, expression, names in rows()
        if name.startswith(("4:", "call:")) and not isinstance(nanoseconds(expression, names), str)
    ]
    target = pathlib.Path(__file__).resolve().parent.parent / "pybind" / "default.pgo"
    _native.function("cpu_profile_start")(str(target))
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        for _ in range(20000):
            scripted(matrix)
        for _ in range(30):
            many(matrix)
        count(20000)
        for _ in range(3000):
            vector + vector
            torch.mm(matrix, matrix, out=result)
            torch.relu(matrix.view(16)).max()
            result.add_(1, alpha=0.5)
            torch.softmax(matrix, 1)
            torch.tensor([1.0, 2.0])
        for _ in range(300):
            (matrix @ weight).sum().backward()
        for _ in range(3):
            torch.jit.CompilationUnit(text)
        for call in small:
            for _ in range(300):
                call()
    _native.function("cpu_profile_stop")()
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
