"""Measures operators of torchjit against PyTorch, eager against eager, and prints ratios: how many times faster torchjit is.

    python benchmarks/operators.py --peer /usr/bin/python3 --dtypes float32 float64

--peer is a Python that has PyTorch. The two run in turn, one thread each; the medians of the rounds are compared. Printed
are the geometric mean of a type and the rows below --below; rows that PyTorch refuses are left out.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Some machines export these, and OpenBLAS then runs at half its speed.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def measure(python, module, dtype):
    environment = {k: v for k, v in os.environ.items() if k not in SLOWING}
    environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", ATEN_CPU_CAPABILITY="avx512")
    environment["PYTHONPATH"] = str(HERE.parent) if module == "torchjit" else ""
    done = subprocess.run([python, str(HERE / "operators_work.py"), module, dtype], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} with {module} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def report(dtype, ours, theirs, below):
    ratios = {}
    for name in theirs[0]:
        if isinstance(theirs[0][name], str):
            continue
        if isinstance(ours[0][name], str):
            print(f"{dtype}: {name:60} fails: {ours[0][name]}")
            continue
        a, b = (statistics.median(run[name] for run in runs) for runs in (ours, theirs))
        ratios[name] = (b / a, a, b)
    mean = math.exp(statistics.fmean(math.log(r) for r, _, _ in ratios.values()))
    low = sorted((found, name) for name, found in ratios.items() if found[0] < below)
    print(f"{dtype}: {len(ratios)} rows, geometric mean {mean:.2f}x, {len(low)} below {below}x")
    for (ratio, a, b), name in low:
        print(f"  {name:62} {a / 1e3:11.2f} us {b / 1e3:11.2f} us {ratio:6.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="/usr/bin/python3")
    parser.add_argument("--dtypes", nargs="+", default=["float32"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--below", type=float, default=0.95)
    args = parser.parse_args()
    for dtype in args.dtypes:
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(measure(sys.executable, "torchjit", dtype))
            theirs.append(measure(args.peer, "torch", dtype))
        report(dtype, ours, theirs, args.below)


if __name__ == "__main__":
    main()
