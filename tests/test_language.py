"""The programs of language/*.txt give what PyTorch 1.13.1 gives, but for data/language_differences.txt.

data/language.json.xz holds PyTorch's answers; `language.py --module torch --record` writes it.
"""

import json
import lzma
import os
import pathlib
import subprocess
import sys

import language
import pytest

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    out = tmp_path_factory.mktemp("language") / "answers.json"
    done = subprocess.run(
        [sys.executable, str(HERE / "language.py"), "--module", "torchjit", "--json", str(out)],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
    )
    assert out.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    expected = json.loads(lzma.decompress(language.ANSWERS.read_bytes()))
    actual = json.loads(out.read_text())
    return expected, actual, set(language.differences(expected, actual))


@pytest.fixture(scope="module")
def known():
    lines = (HERE / "data" / "language_differences.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_answers_are_those_of_pytorch(compared, known):
    expected, actual, found = compared
    new = sorted(found - known)
    shown = [f"{k}\n  PyTorch: {expected[k.split()[0]][k.split()[1]][:300]!r}\n  ours:    {str(actual[k.split()[0]].get(k.split()[1]))[:300]!r}" for k in new[:5]]
    assert not new, f"{len(new)} answers differ:\n" + "\n".join(shown)


def test_known_differences_still_differ(compared, known):
    _, _, found = compared
    assert known <= found, f"these agree now and can be taken off the list: {sorted(known - found)}"


def test_no_error_is_internal(compared):
    _, actual, _ = compared
    internal = [f"{n} {k}" for n, a in actual.items() for k, text in a.items() if "internal error" in text]
    assert not internal
