"""`python -m tests.attack [--seconds N] [--seed N] [--jobs N] [--cases N] [--first I] [part]...`"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import threading

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

    def run(queue: list[tuple[str, float]]) -> None:
        for part, seconds in queue:
            report = supervisor.attack(part, seconds, options.seed, options.cases, options.first, tell=lambda finding: print(finding, flush=True))
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


# The share of the time that a part gets: cases of files and operators are many, and about as many in these; those of others are long. Others get 1.
SHARES = {"files": 6, "operators": 2}


def queues(parts: list[str], seconds: float, jobs: int) -> list[list[tuple[str, float]]]:
    """What each of some jobs runs, one part after the other: each job is to take about `seconds`."""
    jobs = min(jobs, len(parts))
    whole = sum(SHARES.get(part, 1) for part in parts)
    times = {part: min(seconds, seconds * jobs * SHARES.get(part, 1) / whole) for part in parts}
    queues: list[list[tuple[str, float]]] = [[] for _ in range(jobs)]
    for part in sorted(parts, key=lambda part: -times[part]):
        min(queues, key=lambda queue: sum(time for _, time in queue)).append((part, times[part]))
    return [[(part, time * min(1, seconds / sum(t for _, t in queue))) for part, time in queue] for queue in queues]


if __name__ == "__main__":
    sys.exit(main())
