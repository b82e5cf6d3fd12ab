"""Measures training steps of whole nets (forward, loss, backward, optimizer): processor time of one thread, and the most memory above the import.

    python benchmarks/steps.py --peer /usr/bin/python3 --peer PYTHON_WITH_PYTORCH_2 [--only PART_OF_A_NAME] [--rounds N]

Every way of every peer is a process of its own; they take turns. The ratio is the best peer's time divided by that of our best way, by the least and by
the median. The losses of the first steps are compared first.
"""

import argparse
import contextlib
import statistics
import sys

from peer import Worker, lead, measure

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
WORK = "steps_work.py"


def compare(name, peers, rounds):
    """By the way: nanoseconds of steps, and bytes."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for title, python, module, ways in peers:
            for way in ways:
                workers[f"{title} {way}"] = stack.enter_context(Worker(python, WORK, module, name, way, **ONE_THREAD))
        losses = {title: worker.ask("losses") for title, worker in workers.items()}
        wanted = next(iter(losses.values()))
        for title, found in losses.items():  # dropout draws other numbers in some ways
            if any(abs(a - b) > 2e-2 * wanted[0] for a, b in zip(wanted, found, strict=True)):
                print(f"  {title}: other losses: {found}, not {wanted}")
        times = {title: [] for title in workers}
        for _ in range(rounds):
            for title, worker in workers.items():
                times[title] += worker.ask("step")
        return times, {title: worker.ask("memory") for title, worker in workers.items()}


def report(times, memory):
    for title, found in times.items():
        print(f"  {title:24} least {min(found) / 1e6:9.3f} ms, median {statistics.median(found) / 1e6:9.3f} ms, {memory[title] / 2**20:7.1f} MB")
    if ahead := lead(times):
        memory_ahead = lead({title: [taken] for title, taken in memory.items()})["least"]
        print("  " + ", ".join(f"{what} {ratio:.2f}" for what, ratio in ahead.items()) + f", memory {memory_ahead:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], help="a Python that has PyTorch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="measure only nets whose name has this")
    args = parser.parse_args()
    peers = []
    for python, module in [(sys.executable, "torchjit"), *((peer, "torch") for peer in args.peer)]:
        version, nets, ways = measure(python, WORK, module)
        peers.append((f"{module} {version}" if module == "torch" else module, python, module, ways))
    for name in nets:
        if args.only in name:
            print(name)
            report(*compare(name, peers, args.rounds))


if __name__ == "__main__":
    main()
