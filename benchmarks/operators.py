"""Measures operators of torchjit against PyTorch, eager against eager, and prints ratios: how many times faster torchjit is.

    python benchmarks/operators.py --peer /usr/bin/python3 --dtypes float32 float64

--peer is a Python that has PyTorch. Both are measured row by row in turn, one thread each, so that a machine's slow minutes
slow both; the ratio of a row is the median of its rounds. Printed are the geometric mean of a type and the rows below
--below; rows that PyTorch refuses are left out.
"""

import argparse
import math
import statistics
import sys

from peer import KERNELS, Worker, compare


def report(dtype, ratios, below):
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
    parser.add_argument("--only", default="", help="measure only rows whose name has this")
    args = parser.parse_args()
    for dtype in args.dtypes:
        with Worker(sys.executable, "operators_work.py", "torchjit", dtype, **KERNELS) as ours:
            with Worker(args.peer, "operators_work.py", "torch", dtype, **KERNELS) as theirs:
                report(dtype, compare(ours, theirs, args.only, args.rounds), args.below)


if __name__ == "__main__":
    main()
