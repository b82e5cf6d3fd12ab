"""What was measured, and of what."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torchjit as torch

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique", "set_torch_threads"]

_MAX_SIGNIFICANT_FIGURES = 4
_MIN_CONFIDENCE_INTERVAL = 25e-9
# Shares of the median above which the interquartile range is warned of.
_IQR_WARN_THRESHOLD = 0.1
_IQR_GROSS_WARN_THRESHOLD = 0.25


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """A statement, and how tables call it."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label with the sub-label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt
        return f"stmt:\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup for people, empty where there is none."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The title, the description and the setup."""
        several = "\n" in self.stmt or "\n" in self.setup
        parts = [self.title, self.description or "", ("\n" if several and self.setup_str() else "") + self.setup_str()]
        return "\n".join(part for part in parts if part) + ("\n" if several and "\n" in self.setup else "")


_TASKSPEC_FIELDS = tuple(TaskSpec.__dataclass_fields__)


@dataclass(init=True, repr=False)
class Measurement:
    """The times that runs of a statement took, in seconds: raw_times, each of number_per_run runs.

    >>> m = torch.utils.benchmark.Timer("x.relu()", globals={"x": torch.ones(3)}).timeit(10)
    >>> isinstance(m, torch.utils.benchmark.Measurement), m.number_per_run
    (True, 10)
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        self._statistics: tuple[float, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _TASKSPEC_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """The times of one run."""
        return [t / self.number_per_run for t in self.raw_times]

    def _computed(self) -> tuple[float, ...]:
        """The median, the mean, and the quartiles of the times."""
        if self._statistics is None:
            if not self.raw_times:
                raise ValueError("`raw_times` is empty")
            ordered = sorted(self.times)
            self._statistics = (_quantile(ordered, 0.5), math.fsum(ordered) / len(ordered), _quantile(ordered, 0.25), _quantile(ordered, 0.75))
        return self._statistics

    @property
    def median(self) -> float:
        """The median of the times."""
        return self._computed()[0]

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return self._computed()[1]

    @property
    def iqr(self) -> float:
        """The difference of the quartiles."""
        return self._computed()[3] - self._computed()[2]

    @property
    def significant_figures(self) -> int:
        """How many digits of the median say something, by the spread of the times between the quartiles."""
        ordered = sorted(self.times)
        n = len(ordered)
        middle = ordered[n // 4 : math.ceil(3 * n / 4)]
        mean = math.fsum(middle) / len(middle)
        deviation = math.sqrt(math.fsum((t - mean) ** 2 for t in middle) / len(middle))
        interval = max(1.645 * deviation / math.sqrt(len(middle)), _MIN_CONFIDENCE_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times spread much."""
        return self.iqr / self.median > _IQR_WARN_THRESHOLD

    def meets_confidence(self, threshold: float = _IQR_WARN_THRESHOLD) -> bool:
        """Whether the difference of the quartiles is below a share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The label with the sub-label, or the statement."""
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        """The environment, if any."""
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """What a row of a table is called: the sub-label, the statement or a number."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        n, runs = len(self.raw_times), self.number_per_run
        lines = [object.__repr__(self), self.task_spec.summarize()]
        if n == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if n >= 4:
            low, high = self._computed()[2:]
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})")
        threads = f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}"
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {runs} runs {'per measurement' if n > 1 else ''}, {threads}")
        share = self.iqr / self.median
        if share > _IQR_WARN_THRESHOLD:
            environment = "suggests significant environmental influence" if share > _IQR_GROSS_WARN_THRESHOLD else "could indicate system fluctuation"
            lines.append(f"  WARNING: Interquartile range is {share * 100:.1f}% of the median measurement.\n           This {environment}.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """The measurements with those of one statement as one."""
        by_task: dict[TaskSpec, list[Measurement]] = {}
        for m in measurements:
            by_task.setdefault(m.task_spec, []).append(m)
        return [Measurement(1, [t for m in group for t in m.times], task, None) for task, group in by_task.items()]


def _quantile(ordered: list[float], q: float) -> float:
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def select_unit(t: float) -> tuple[str, float]:
    """The unit for a time, and its seconds."""
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(math.floor(math.log10(t) / 3), "s") if t > 0 else "ns"
    return unit, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def unit_to_english(u: str) -> str:
    """The name of a unit."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to n digits."""
    assert n == int(n)
    if x == 0:
        return 0.0
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements without repetitions."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A context in which operators use n threads."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)
