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

from peer import KERNELS, Worker


def compare(ours, theirs, name, rounds):
    """The ratio of a row and the nanoseconds of both, or the error of either."""
    pairs = []
    for _ in range(rounds):
        a, b = ours.ask(name), theirs.ask(name)
        if isinstance(b, str):
            return None
        if isinstance(a, str):
            return a
        pairs.append((b / a, a, b))
    return tuple(statistics.median(p[i] for p in pairs) for i in range(3))


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
        work = ("operators_work.py", "torchjit", dtype), ("operators_work.py", "torch", dtype)
        ratios = {}
        with Worker(sys.executable, *work[0], **KERNELS) as ours, Worker(args.peer, *work[1], **KERNELS) as theirs:
            for name in [n for n in theirs.ask("") if args.only in n]:
                found = compare(ours, theirs, name, args.rounds)
                if isinstance(found, str):
                    print(f"{dtype}: {name:60} fails: {found}")
                elif found:
                    ratios[name] = found
        report(dtype, ratios, args.below)


if __name__ == "__main__":
    main()
