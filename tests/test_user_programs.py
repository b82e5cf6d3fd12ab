"""Twenty-two programs as users write them give what PyTorch 1.13.1 gave.

data/user_programs.json holds its answers, recorded by user_programs.py.
"""

import json
import math
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = json.loads((HERE / "data" / "user_programs.json").read_text())


@pytest.fixture(scope="module")
def results():
    command = [sys.executable, str(HERE / "user_programs.py"), "torchjit"]
    done = subprocess.run(command, cwd=HERE.parent, env={**__import__("os").environ, "PYTHONPATH": str(HERE.parent)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def difference(expected, found, where="result"):
    """The first place where found is not expected, to within rounding of float32; None where there is none."""
    if isinstance(expected, float) and isinstance(found, float):
        same = math.isclose(expected, found, rel_tol=1e-4, abs_tol=1e-5) or expected == found or (math.isnan(expected) and math.isnan(found))
        return None if same else f"{where}: {found}, expected {expected}"
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(f"{where}[{i}]", x, y) for i, (x, y) in enumerate(zip(expected, found))]
    elif isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        pairs = [(f"{where}.{k}", expected[k], found[k]) for k in expected]
    else:
        return None if type(expected) is type(found) and expected == found else f"{where}: {str(found)[-1500:]}, expected {str(expected)[:200]}"
    return next((d for d in (difference(x, y, place) for place, x, y in pairs) if d), None)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_same_as_pytorch(results, name):
    assert difference(EXPECTED[name], results[name]) is None


def test_every_program_has_an_answer():
    assert sorted(EXPECTED) == sorted(p.stem for p in (HERE / "user_programs").glob("*.py"))
    assert not [name for name, answer in EXPECTED.items() if isinstance(answer, dict) and "raised" in answer]
