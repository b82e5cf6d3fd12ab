"""Runs a program of this folder under torchjit or under PyTorch."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Some machines export these, and OpenBLAS then runs at half its speed.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# One thread, and the machine's widest vectors.
KERNELS = {"OPENBLAS_NUM_THREADS": "1", "ATEN_CPU_CAPABILITY": "avx512"}


def measure(python, work, module, *args, **variables):
    """What `work MODULE ARGS` prints, as JSON, with one thread and these environment variables besides."""
    environment = {k: v for k, v in os.environ.items() if k not in SLOWING}
    environment.update(OMP_NUM_THREADS="1", PYTHONPATH=str(HERE.parent) if module == "torchjit" else "", **variables)
    done = subprocess.run([python, str(HERE / work), module, *args], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} with {module} failed:\n{done.stderr}")
    return json.loads(done.stdout)
