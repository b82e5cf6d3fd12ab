"""Records the profile by which the Go compiler optimizes the library: pybind/default.pgo.

    python benchmarks/record_profile.py && make setup

Run it after a change to what every call passes through.
"""

import gzip
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


def without_paths(profile):
    """A profile without the paths of the files that the process had mapped, which tell of the machine and not of the code.

    Its strings are the fields 6 of the message that it is; all other fields here are numbers (wire type 0) or have their length before them (2).
    """

    def number(at):
        value = shift = 0
        while True:
            value |= (profile[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if profile[at - 1] < 128:
                return value, at

    made, at = bytearray(), 0
    while at < len(profile):
        begin = at
        key, at = number(at)
        size, at = number(at)
        end = at + size if key & 7 == 2 else at
        is_path = key == 6 << 3 | 2 and profile[at:end].startswith(b"/")
        made += bytes([key, 0]) if is_path else profile[begin:end]
        at = end
    return bytes(made)


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
    target.write_bytes(gzip.compress(without_paths(gzip.decompress(target.read_bytes())), mtime=0))
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
