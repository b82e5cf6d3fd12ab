"""Measures operators and networks on a CUDA device against PyTorch on the same one: nanoseconds of a call, the time of the peer divided by ours.

    python benchmarks/gpu.py [--peer PYTHON_WITH_PYTORCH] [--only PART_OF_A_NAME] [--rounds N]

Both are processes of their own and take turns. Without a peer, torchjit alone is measured.
"""

import argparse
import contextlib
import math
import sys

from peer import Worker

WORK = "gpu_work.py"


def text(told):
    return told.splitlines()[0][:100] if isinstance(told, str) else f"{told / 1e3:.1f} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="a Python that has PyTorch with CUDA")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="", help="measure only rows whose name has this")
    args = parser.parse_args()
    ratios = []
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(Worker(sys.executable, WORK, "torchjit"))
        theirs = stack.enter_context(Worker(args.peer, WORK, "torch", PYTHONWARNINGS="ignore")) if args.peer else None
        for name in ours.ask(""):
            if args.only not in name:
                continue
            told = {}
            for _ in range(args.rounds):
                for title, worker in ("torchjit", ours), ("torch", theirs):
                    if worker:
                        told.setdefault(title, []).append(worker.ask(name))
            best = {title: min(found, key=lambda t: math.inf if isinstance(t, str) else t) for title, found in told.items()}
            ratio = ""
            if len(best) == 2 and not any(isinstance(t, str) for t in best.values()):
                ratios.append(best["torch"] / best["torchjit"])
                ratio = f"{ratios[-1]:6.2f}"
            print(f"{name:60} {ratio:6}  " + "  ".join(f"{title} {text(t)}" for title, t in best.items()), flush=True)
    if ratios:
        print(f"{len(ratios)} rows, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
