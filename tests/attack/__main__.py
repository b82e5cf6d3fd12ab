"""`python -m tests.attack [--seconds N] [--seed N] [--jobs N] [--cases N] [--first I] [part]...`"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import threading
from typing import NamedTuple

from tests.attack import supervisor

PARTS = [f.stem for f in sorted(pathlib.Path(__file__).parent.glob("*.py")) if "\nclass Part" in f.read_text()]


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.attack", description="Attacks the library and reports what it does not withstand.")
    arguments.add_argument("parts", nargs="*", default=PARTS, metavar="part", help=f"of {', '.join(PARTS)}")
    arguments.add_argument("--seconds", type=float, default=240, help="time until all parts are done (240)")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parts that run at a time (as many as there are processors)")
    arguments.add_argument("--seed", type=int, default=0, help="from which the cases follow (0)")
    arguments.add_argument("--cases", type=int, help="cases of each part, instead of as many as there is time for")
    arguments.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    options = arguments.parse_args()
    for part in options.parts:
        if part not in PARTS:
            arguments.error(f"no part {part!r}; there are {', '.join(PARTS)}")
    reports: list[supervisor.Report] = []

    def run(queue: list[Turn]) -> None:
        for turn in queue:
            if turn.number and options.cases is not None:
                continue  # the first turn runs them
            first = options.first + turn.number * FAR
            report = supervisor.attack(turn.part, turn.seconds, options.seed, options.cases, first, tell=lambda finding: print(finding, flush=True))
            reports.append(report)
            print(report, flush=True)

    threads = [threading.Thread(target=run, args=(queue,)) for queue in queues(options.parts, options.seconds, max(options.jobs, 1)) if queue]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    findings = sum(len(report.findings) for report in reports)
    print(f"{len(reports)} parts, {findings} findings")
    return 1 if findings else 0


# The share of the time that a part gets. A case of files takes two and a half times as long as one of operators, and as many are wanted of both. Others get 1.
SHARES = {"files": 15, "operators": 6}
FAR = 1 << 40  # cases between the first ones of two turns of a part


class Turn(NamedTuple):
    """What a job runs at a time: a part that takes longer than a job has several."""

    part: str
    number: int
    seconds: float


def queues(parts: list[str], seconds: float, jobs: int) -> list[list[Turn]]:
    """What each of some jobs runs, one part after the other: each job is to take about `seconds`."""
    whole = sum(SHARES.get(part, 1) for part in parts)
    turns = []
    for part in parts:
        left, number = seconds * jobs * SHARES.get(part, 1) / whole, 0
        while left > 1e-6 * seconds:
            turns.append(Turn(part, number, min(left, seconds)))
            left, number = left - seconds, number + 1
    queues: list[list[Turn]] = [[] for _ in range(jobs)]
    for turn in sorted(turns, key=lambda turn: -turn.seconds):
        min(queues, key=lambda queue: sum(t.seconds for t in queue)).append(turn)
    return [[t._replace(seconds=t.seconds * min(1, seconds / sum(t.seconds for t in queue))) for t in queue] for queue in queues]


if __name__ == "__main__":
    sys.exit(main())
