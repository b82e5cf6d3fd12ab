"""Measures torchjit against PyTorch in one run and prints ratios: how many times faster torchjit is.

    python benchmarks/run.py --peer /usr/bin/python3

--peer is a Python that has PyTorch. The two run in turn, three times, one thread each; the medians are compared.
"""

import argparse
import statistics
import sys

from peer import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="/usr/bin/python3")
    parser.add_argument("--work", default="work.py", help="work.py, or compile_work.py: the time to compile")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(measure(sys.executable, args.work, "torchjit"))
        theirs.append(measure(args.peer, args.work, "torch"))
    print(f"{'work':50} {'torchjit':>12} {'PyTorch':>12} {'ratio':>7}")
    for name in ours[0]:
        a, b = (statistics.median(r[name] for r in runs) for runs in (ours, theirs))
        print(f"{name:50} {a / 1e3:9.2f} us {b / 1e3:9.2f} us {b / a:6.2f}x")


if __name__ == "__main__":
    main()
