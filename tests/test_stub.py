"""The stubs of the native library and of torch._C are the ones that their functions call for."""

import os
import runpy

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.mark.parametrize("file, make", [("_native.pyi", "make"), ("_C/__init__.pyi", "make_c")])
def test_the_stub_is_up_to_date(file, make):
    made = runpy.run_path(os.path.join(ROOT, "pybind", "stub.py"))[make]()
    with open(os.path.join(ROOT, "torchjit", file)) as f:
        assert f.read() == made, "run: python pybind/stub.py --write"
