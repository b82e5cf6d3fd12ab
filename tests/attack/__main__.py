"""`python -m tests.attack [--seconds N] [--seed N] [--cases N] [--first I] [part]...`"""

from __future__ import annotations

import argparse
import pathlib
import sys

from tests.attack import supervisor

PARTS = [f.stem for f in sorted(pathlib.Path(__file__).parent.glob("*.py")) if "\nclass Part" in f.read_text()]


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.attack", description="Attacks the library and reports what it does not withstand.")
    arguments.add_argument("parts", nargs="*", default=PARTS, metavar="part", help=f"of {', '.join(PARTS)}")
    arguments.add_argument("--seconds", type=float, default=240, help="time for all parts together (240)")
    arguments.add_argument("--seed", type=int, default=0, help="from which the cases follow (0)")
    arguments.add_argument("--cases", type=int, help="cases of each part, instead of as many as there is time for")
    arguments.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    options = arguments.parse_args()
    for part in options.parts:
        if part not in PARTS:
            arguments.error(f"no part {part!r}; there are {', '.join(PARTS)}")
    findings = 0
    for part in options.parts:
        report = supervisor.attack(
            part, options.seconds / len(options.parts), options.seed, options.cases, options.first, tell=lambda finding: print(finding, flush=True),
        )
        findings += len(report.findings)
        print(report, flush=True)
    print(f"{len(options.parts)} parts, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
