"""The stubs of the package are the ones that its functions and operators call for."""

import functools
import os
import runpy

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = (
    "_native.pyi", "_C/__init__.pyi", "__init__.pyi", "_operator_methods.pyi", "linalg.pyi", "fft.pyi", "functional.pyi", "special.pyi", "return_types.pyi",
    "nn/__init__.pyi", "nn/functional.pyi", "nn/modules/__init__.pyi",
)  # fmt: skip


@functools.cache
def stubs():
    return runpy.run_path(os.path.join(ROOT, "pybind", "stub.py"))["stubs"]()


def test_the_stubs_are_all_that_there_are():
    assert sorted(stubs()) == sorted(FILES)


@pytest.mark.parametrize("file", FILES)
def test_the_stub_is_up_to_date(file):
    with open(os.path.join(ROOT, "torchjit", file)) as f:
        assert f.read() == stubs()[file], "run: python pybind/stub.py --write"
