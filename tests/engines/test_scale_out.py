"""The examples for Dask, Ray and Spark, on the real engines: each starts a cluster of this machine's processes."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def printed(example):
    """What a program of examples/ prints. It runs where nothing but PYTHONPATH leads to the package."""
    return subprocess.run(
        [sys.executable, ROOT / "examples" / example], capture_output=True, text=True, timeout=300, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout  # fmt: skip


def test_dask():
    pytest.importorskip("distributed", reason="Dask is not installed")
    assert "64 batches by 2 processes; all agree" in printed("dask_inference.py")


def test_ray():
    pytest.importorskip("ray", reason="Ray is not installed")
    lines = [line for line in printed("ray_inference.py").splitlines() if line.startswith("by_")]  # Ray prints lines of its own
    assert re.fullmatch(r"by_tasks: 16 batches in [12] processes", lines[0])
    assert lines[1:] == ["by_actors: 16 batches in 2 processes", "by_data: 512 rows", "by_serve: 4 requests; all agree"]


def test_spark():
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    found = [line.rpartition("\r")[2] for line in printed("spark_inference.py").splitlines()]
    assert found == ["by_map: 512 rows; all agree", "by_function: 512 rows; all agree"]
