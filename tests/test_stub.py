"""The stub of the native library is the one that its functions call for."""

import os
import runpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_the_stub_is_up_to_date():
    made = runpy.run_path(os.path.join(ROOT, "pybind", "stub.py"))["make"]()
    with open(os.path.join(ROOT, "torchjit", "_native.pyi")) as f:
        assert f.read() == made, "run: python pybind/stub.py --write"
