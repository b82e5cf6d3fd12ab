"""Measures torchjit against PyTorch in one run and prints ratios: how many times faster torchjit is.

    python benchmarks/run.py --peer /usr/bin/python3

--peer is a Python that has PyTorch. The two run in turn, three times, one thread each; the medians are compared.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Some machines export these, and OpenBLAS then runs at half its speed.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def measure(python, module, work):
    environment = {k: v for k, v in os.environ.items() if k not in SLOWING}
    environment.update(OMP_NUM_THREADS="1", PYTHONPATH=str(HERE.parent) if module == "torchjit" else "")
    done = subprocess.run([python, str(HERE / work), module], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} with {module} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="/usr/bin/python3")
    parser.add_argument("--work", default="work.py", help="work.py, or compile_work.py: the time to compile")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(measure(sys.executable, "torchjit", args.work))
        theirs.append(measure(args.peer, "torch", args.work))
    print(f"{'work':50} {'torchjit':>12} {'PyTorch':>12} {'ratio':>7}")
    for name in ours[0]:
        a, b = (statistics.median(r[name] for r in runs) for runs in (ours, theirs))
        print(f"{name:50} {a / 1e3:9.2f} us {b / 1e3:9.2f} us {b / a:6.2f}x")


if __name__ == "__main__":
    main()
