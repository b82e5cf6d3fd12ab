"""`python -m torchjit` is the command gojit: data in and out as NumPy has them, the same exit statuses."""

import json
import subprocess
import sys

import numpy as np
import pytest

MODEL = "tests/data/digits_cnn.pt"


def run(*args, **options):
    return subprocess.run([sys.executable, "-m", "torchjit", *map(str, args)], capture_output=True, text=True, timeout=60, **options)


def test_answers_are_those_of_pytorch(tmp_path):
    recorded = np.load("tests/data/digits_cnn.npz")
    np.save(tmp_path / "x.npy", recorded["in0"])
    done = run("run", MODEL, "--input", tmp_path / "x.npy", "-o", tmp_path / "y.npz")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["output"], recorded["out0"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", ">f4", ">c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_elements(tmp_path, dtype, order):
    x = np.asarray(np.arange(6).reshape(2, 3) % 2 if dtype == "bool" else np.arange(6).reshape(2, 3), dtype, order)
    (tmp_path / "same.py").write_text("def same(x):\n    return x\n")
    assert run("compile", tmp_path / "same.py", "-o", tmp_path / "same.pt").returncode == 0
    np.savez(tmp_path / "x.npz", x=x)
    done = run("run", tmp_path / "same.pt", tmp_path / "x.npz", "-o", tmp_path / "y.npy")
    assert done.returncode == 0, done.stderr
    y = np.load(tmp_path / "y.npy")
    assert y.dtype == x.dtype.newbyteorder("=") and (y == x).all()


def test_statuses():
    assert run("run", MODEL).returncode == 2
    assert run("nothing").returncode == 2
    served = run("serve", MODEL, "--max-batch", "2")
    assert served.returncode == 2 and "go install" in served.stderr
    assert run("run", MODEL, "3x3").returncode == 1
    assert run("info", __file__).returncode == 3


def test_doctor_and_version():
    assert all(check["ok"] for check in json.loads(run("doctor", "--json").stdout)["checks"])
    assert json.loads(run("version", "--json").stdout)["version"]
