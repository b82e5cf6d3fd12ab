"""Ctrl-C in single operators: samples with one of their sizes made larger until a call takes a while, then the same call with an interrupt on its way.

A call that goes on for more than a part of its time after the interrupt does not look for signals: one that takes longer would be deaf for longer.
"""

from __future__ import annotations

import os
import random
import re
import signal
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
LONG = 1.5  # seconds that a call should not take
LARGEST = 1 << 28  # elements of the results of a call


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


def timed(operator, args, keywords, interrupt: bool) -> tuple[float, int]:
    """How much of the processor a call takes, so that other programs do not count, and how many elements its results have. Other errors than an interrupt pass."""
    torch.manual_seed(1)
    began = time.process_time()
    try:
        if interrupt:
            signal.setitimer(signal.ITIMER_REAL, SOON)
        result = operator(*args, **keywords)
        took = time.process_time() - began
        signal.setitimer(signal.ITIMER_REAL, 0)
        return took, sum(t.numel() for t in operators.tensors(result))
    except KeyboardInterrupt:
        return time.process_time() - began, 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def end(*_) -> None:
    raise KeyboardInterrupt


class Part:
    """A case is a sample of an operator and one of its sizes; those of a seed go through all of them."""

    def __init__(self, seed: int, folder: str) -> None:
        os.chdir(folder)
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, end)
        by_name = {(s.name, s.overload_name): operator for s, operator, _ in operators.targets()}
        only = os.environ.get("ATTACK_ONLY", "")  # a pattern of operators, for those who look for the cause of something
        self.cases = [
            (name, by_name[name, overload], args, keywords, size)
            for name, known in operators.samples().items() if re.search(only, name) and not (name.endswith("_") and name[:-1] in operators.samples())
            for overload, args, keywords in known[:1] if (name, overload) in by_name
            for size in ends(sizes([args, list(keywords.values())]) - {0})
        ]  # fmt: skip
        random.Random(seed).shuffle(self.cases)

    def describe(self, i: int) -> str:
        name, operator, _, _, size = self.cases[i % len(self.cases)]
        return f"{name}.{operator._overloadname}: the size {size} of its first sample is larger"

    def run(self, i: int) -> str | None:
        name, operator, args, keywords, size = self.cases[i % len(self.cases)]
        factor, took, before, growth, faster = 1, 0.0, 1, 1, 1.0
        while took < ENOUGH:
            try:
                last = max(took, 0.001)
                large = Large(size, factor)
                operators.made.clear()
                arguments = [large.make(a) for a in args], {k: large.make(a) for k, a in keywords.items()}
                operators.made.clear()
                took, elements = timed(operator, *arguments, False)
            except Exception as e:
                return operators.internal(e)  # no larger one can be called
            before, growth, faster = elements, max(growth, elements // max(before, 1)), max(faster, took / last)
            if took < ENOUGH and elements * (growth if factor > 1 else GROWTH**4) > LARGEST:
                return None
            step = GROWTH if took * faster < LONG else 2
            factor *= step
        late = min(timed(operator, *arguments, True)[0] for _ in range(3))  # on a busy machine the thread that hears it may have to wait
        if late > LATENCY + DEAF * took:
            return f"late: {late:.2f} s of the processor to the end with an interrupt, {took:.2f} s without: {name}.{operator._overloadname}, size {size} times {factor // step}"
        return None


def ends(numbers: set[int]) -> set[int]:
    """The least and the greatest one."""
    return {min(numbers), max(numbers)} if numbers else set()
