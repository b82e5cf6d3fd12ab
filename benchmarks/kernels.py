"""Measures the kernels of torchjit against PyTorch, OpenBLAS and oneDNN and prints ratios: how many times faster torchjit is.

    python benchmarks/kernels.py --peer /usr/bin/python3 --only 'gemm*'

--peer is a Python that has PyTorch; --only is a pattern over "group: name". The two sides run in turn, three times, one
thread each, each with the fastest of its ways to do the work (with or without out=); the medians are compared. In the rows of two threads
the peer is torchjit with one, in those of "gemm avx2", which forbid AVX-512, what independent multiplications reach. A ratio below what its group asks for is marked.
"""

import argparse
import math
import statistics
import sys

from peer import KERNELS, measure

# What the ratios of a group are to reach: each, and their geometric mean.
GOALS = {
    "bandwidth": (0.95, None),
    "compute": (1.3, None),
    "small": (1.0, None),
    "fused 32K": (4, None),
    "fused 1M": (10, None),
    "rows": (1.3, None),
    "gemm": (0.95, 1.05),
    "gemm f64": (0.95, 1.05),
    "gemm bf16": (0.95, None),
    "gemm avx2": (0.85, None),
    "conv": (0.9, 1.0),
    "recurrent": (1.0, None),
    "network": (1.5, None),
    "quantized": (1.0, None),
    "quantized network": (1.0, None),
    "two threads": (1.8, None),
}


def rows(python, module, only):
    """The rows that match, by group and name."""
    return {(row["group"], row["name"]): row for row in measure(python, "kernels_work.py", module, only, **KERNELS)}


def median(runs, key, field="ns"):
    return statistics.median(run[key][field] for run in runs)


def compare(ours, theirs, key):
    """The time here, the time of the peer, and how the peer did it."""
    for run in ours + theirs:
        if "error" in run.get(key, {}):
            raise RuntimeError(run[key]["error"])
    if "alone" in ours[0][key]:
        return median(ours, key), median(ours, key, "alone"), ours[0][key].get("against", "one thread")
    ways = statistics.mode(run[key]["way"] for run in theirs)
    return median(ours, key), median(theirs, key), ways


def mark(ratio, goal):
    return f"{ratio:6.2f}x {goal:5.2f}x  {'' if ratio >= goal else 'BELOW'}".rstrip()


def report(ours, theirs):
    print(f"{'work':55} {'torchjit':>13} {'peer':>13} {'peer':>16} {'ratio':>7} {'goal':>6}")
    ratios = {}
    for key in ours[0]:
        group, name = key
        try:
            a, b, way = compare(ours, theirs, key)
        except RuntimeError as e:
            print(f"{group + ': ' + name:55} fails: {e}")
            ratios.setdefault(group, []).append(0)
            continue
        ratios.setdefault(group, []).append(b / a)
        print(f"{group + ': ' + name:55} {a / 1e3:10.2f} us {b / 1e3:10.2f} us {way:>16} {mark(b / a, GOALS[group][0])}")
    print()
    for group, found in ratios.items():
        each, together = GOALS[group]
        mean = math.exp(statistics.fmean(math.log(r) for r in found)) if all(found) else 0
        reached = sum(r >= each for r in found)
        print(f"{group + ': geometric mean':55} {mark(mean, together or each)}   {reached} of {len(found)} reach {each}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="*", metavar="GLOB")
    args = parser.parse_args()
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(rows(sys.executable, "torchjit", args.only))
        theirs.append(rows(args.peer, "torch", args.only))
    if not ours[0]:
        sys.exit(f"no row matches {args.only!r}")
    report(ours, theirs)


if __name__ == "__main__":
    main()
