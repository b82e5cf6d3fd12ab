"""Measures training steps and inference of small networks and gradients of single operators, eager, under torchjit and under PyTorch, and prints
ratios: how many times faster torchjit is.

    python benchmarks/training.py --peer /usr/bin/python3

--peer is a Python that has PyTorch; its products of matrices are those of the BLAS library that it finds. Both are measured row by row in
turn, one thread each.
"""

import argparse
import sys

from peer import Worker, compare

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="measure only rows whose name has this")
    args = parser.parse_args()
    with Worker(sys.executable, "training_work.py", "torchjit", **ONE_THREAD) as ours:
        with Worker(args.peer, "training_work.py", "torch", **ONE_THREAD) as theirs:
            for name, (ratio, a, b) in compare(ours, theirs, args.only, args.rounds).items():
                print(f"{name:40} {a / 1e6:10.3f} ms {b / 1e6:10.3f} ms {ratio:6.2f}x")


if __name__ == "__main__":
    main()
