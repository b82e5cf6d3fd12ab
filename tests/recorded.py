"""Programs that print numbers: the same lines as PyTorch's, to within rounding."""

import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def recorded(name):
    """The lines that `NAME_program.py torch` printed."""
    return (HERE / "data" / f"{name}.txt").read_text().splitlines()


def printed(name):
    """The lines that NAME_program.py prints with this library."""
    env = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run([sys.executable, str(HERE / f"{name}_program.py"), "torchjit"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check(expected, found):
    """Fails unless the words are equal and the numbers almost."""
    assert NUMBER.sub("#", expected) == NUMBER.sub("#", found)
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(found))
    assert all(math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=2e-4) for a, b in pairs), f"{found}\nexpected\n{expected}"
