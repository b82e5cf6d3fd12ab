"""The examples for Dask, Ray and Spark, on the real engines: each starts a cluster of this machine's processes."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = {f"RAY_SERVE_PROXY_{check}_CHECK_TIMEOUT_S": "100" for check in ("READY", "HEALTH")}  # a busy machine starts its servers slowly


@pytest.fixture
def printed(tmp_path):
    """Runs a program of examples/ where nothing but PYTHONPATH leads to the package, and gives what it prints.

    That goes to a file: processes that an engine leaves for a moment would hold a pipe open.
    """

    def run(example):
        with open(tmp_path / "out", "w") as out, open(tmp_path / "errors", "w") as errors:
            command = [sys.executable, ROOT / "examples" / example]
            done = subprocess.run(command, stdout=out, stderr=errors, timeout=600, env={**os.environ, **PATIENCE, "PYTHONPATH": str(ROOT)})
        assert done.returncode == 0, (tmp_path / "errors").read_text()[-4000:]
        return (tmp_path / "out").read_text()

    return run


def test_dask(printed):
    pytest.importorskip("distributed", reason="Dask is not installed")
    assert "64 batches by 2 processes; all agree" in printed("dask_inference.py")


def test_ray(printed):
    pytest.importorskip("ray", reason="Ray is not installed")
    lines = [line for line in printed("ray_inference.py").splitlines() if line.startswith("by_")]  # Ray prints lines of its own
    assert re.fullmatch(r"by_tasks: 16 batches in [12] processes", lines[0])
    assert lines[1:] == ["by_actors: 16 batches in 2 processes", "by_data: 512 rows", "by_serve: 4 requests; all agree"]


def test_spark(printed):
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    found = [line.rpartition("\r")[2] for line in printed("spark_inference.py").splitlines()]
    assert found == ["by_map: 512 rows; all agree", "by_function: 512 rows; all agree"]
