"""Ctrl-C in single operators: samples with one of their sizes made larger until a call takes a while, then the same call with an interrupt on its way.

A call that goes on for more than a part of its time after the interrupt does not look for signals: one that takes longer would be deaf for longer.
`python -m tests.attack.interrupts [PATTERN]` goes through the operators once, in their order.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
import warnings

import torchjit as torch
from tests.attack import operators

ENOUGH = 0.3  # seconds that a call takes at least
SOON = 0.02  # after which it is interrupted
DEAF = 0.35  # the part of its time, beside LATENCY, after which it has to be over
LATENCY = 0.1
MOST_ELEMENTS = 1 << 26  # of an argument
GROWTH = 4


def sizes(sample) -> set[int]:
    """The sizes of tensors in a sample."""
    if isinstance(sample, operators.T):
        return set(sample.shape)
    if isinstance(sample, (list, tuple)):
        return set().union(*map(sizes, sample))
    return set()


class Large:
    """Makes arguments of a sample in which one size, wherever it stands in a shape, is a multiple."""

    def __init__(self, size: int, factor: int) -> None:
        self.size, self.factor = size, factor

    def shape(self, shape: tuple) -> tuple:
        larger = tuple(s * self.factor if s == self.size else s for s in shape)
        if operators.numel(larger) > MOST_ELEMENTS:
            raise MemoryError("larger than a case may be")
        return larger

    def make(self, sample):
        if isinstance(sample, operators.Written):
            return eval(sample, {"packed": operators.packed})
        if isinstance(sample, operators.S):
            return operators.sparse(sample.layout, "float32", self.shape(sample.shape))
        if isinstance(sample, operators.T):
            return operators.tensor(sample.dtype, self.shape(sample.shape), "plain", "normal", 1, sample.top)
        if isinstance(sample, (list, tuple)):
            return [self.make(s) for s in sample]
        return sample


def timed(operator, args, keywords, interrupt: bool) -> tuple[float, bool]:
    """How long a call takes, and whether it was interrupted. Other errors pass."""
    torch.manual_seed(1)
    began = time.monotonic()
    try:
        if interrupt:
            signal.setitimer(signal.ITIMER_REAL, SOON)
        operator(*args, **keywords)
        took = time.monotonic() - began
        signal.setitimer(signal.ITIMER_REAL, 0)
        return took, False
    except KeyboardInterrupt:
        return time.monotonic() - began, True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def end(*_) -> None:
    raise KeyboardInterrupt


class Part:
    def __init__(self, seed: int, folder: str) -> None:
        self.seed = seed
        os.chdir(folder)
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, end)
        by_name = {(s.name, s.overload_name): operator for s, operator, _ in operators.targets()}
        self.calls = [
            (name, by_name[name, overload], args, keywords)
            for name, known in operators.samples().items() for overload, args, keywords in known
            if (name, overload) in by_name and sizes([args, list(keywords.values())]) - {0}
        ]  # fmt: skip

    def choose(self, i: int):
        r = random.Random(f"{self.seed}:{i}")
        name, operator, args, keywords = r.choice(self.calls)
        return name, operator, args, keywords, r.choice(sorted(sizes([args, list(keywords.values())]) - {0}))

    def describe(self, i: int) -> str:
        name, operator, args, keywords, size = self.choose(i)
        return f"{name}.{operator._overloadname}: the size {size} of its sample is larger"

    def run(self, i: int) -> str | None:
        return self.interrupted(*self.choose(i))

    def interrupted(self, name: str, operator, args, keywords, size: int) -> str | None:
        factor, took = 1, 0.0
        while took < ENOUGH:
            try:
                large = Large(size, factor)
                operators.made.clear()
                arguments = [large.make(a) for a in args], {k: large.make(a) for k, a in keywords.items()}
                operators.made.clear()
                took, _ = timed(operator, *arguments, False)
            except Exception as e:
                return operators.internal(e)  # no larger one can be called
            factor *= GROWTH
        late, interrupted = timed(operator, *arguments, True)
        if late > LATENCY + DEAF * took:
            return f"late: {late:.2f} s to the end with an interrupt, {took:.2f} s without: {name}.{operator._overloadname}, size {size} times {factor // GROWTH}"
        return None


def main() -> None:
    """A sample of each operator, but of those in place."""
    part, seen = Part(0, "."), set()
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    names = {name for name, *_ in part.calls}
    for name, operator, args, keywords in part.calls:
        if name in seen or name.endswith("_") and name[:-1] in names or not re.search(pattern, name):
            continue
        seen.add(name)
        found = sorted(sizes([args, list(keywords.values())]) - {0})
        for size in {found[0], found[-1]}:
            if wrong := part.interrupted(name, operator, args, keywords, size):
                print(wrong, flush=True)


if __name__ == "__main__":
    main()
