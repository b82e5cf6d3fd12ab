"""Measures operators of torchjit against PyTorch, eager against eager, and prints ratios: how many times faster torchjit is.

    python benchmarks/operators.py --peer /usr/bin/python3 --dtypes float32 float64

--peer is a Python that has PyTorch. The two run in turn, one thread each; the medians of the rounds are compared. Printed
are the geometric mean of a type and the rows below --below; rows that PyTorch refuses are left out.
"""

import argparse
import math
import statistics
import sys

from peer import KERNELS, measure


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
            ours.append(measure(sys.executable, "operators_work.py", "torchjit", dtype, **KERNELS))
            theirs.append(measure(args.peer, "operators_work.py", "torch", dtype, **KERNELS))
        report(dtype, ours, theirs, args.below)


if __name__ == "__main__":
    main()
