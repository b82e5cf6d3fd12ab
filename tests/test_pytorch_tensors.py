"""Tensors of PyTorch itself are arguments, without a copy, where PyTorch is installed.

A Python that has it, with the same extension, is this one, one that the variable PYTORCH_PYTHON names, or the system's.
"""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pythons():
    named = [path for path in os.environ.get("PYTORCH_PYTHON", "").split(os.pathsep) if path]
    for path in [*named, sys.executable, "/usr/bin/python3"]:
        if pathlib.Path(path).exists() and subprocess.run([path, "-c", "import torch"], cwd="/", capture_output=True).returncode == 0:
            tag = subprocess.run([path, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout
            if tag.strip() == str(sys.version_info[:2]):
                yield path


def test_tensors_of_pytorch_are_arguments():
    found = list(pythons())
    if not found:
        pytest.skip("no Python of this version with PyTorch is there: PYTORCH_PYTHON may name one")
    for python in found:
        command = [python, "-W", "ignore", ROOT / "tests" / "with_pytorch.py", ROOT / "tests" / "data" / "digits_cnn.pt"]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and done.stdout.startswith("tensors of PyTorch "), done.stderr
