"""Numbers that programs note: `add_stat_value(name, n)` adds one to the logger that `set_logger` has chosen, `time_point()` helps to find them.

Both can be called in compiled programs.
"""

from __future__ import annotations

import enum
import importlib

from torchjit import _native
from torchjit.jit._builtins import _register_builtin


class AggregationType(enum.IntEnum):
    """What becomes of several numbers of one name: their sum, or their mean."""

    SUM = 0
    AVG = 1

    def __str__(self) -> str:
        return f"AggregationType.{self.name}"


SUM, AVG = AggregationType.SUM, AggregationType.AVG


class LoggerBase:
    """A place for numbers."""

    _number = 0


class NoopLogger(LoggerBase):
    """Forgets what it is given."""


class LockingLogger(LoggerBase):
    """Keeps numbers by name, from any thread."""

    def __init__(self) -> None:
        self._number = _native.statistics_new()

    def __del__(self) -> None:
        if self._number and _native is not None:
            _native.statistics_free(self._number)

    def set_aggregation_type(self, counter_name: str, aggregation_type: AggregationType) -> None:
        """Has get_counter_val give the sum (at first) or the mean of the numbers of a name."""
        _native.statistics_average(self._number, counter_name, AggregationType(aggregation_type) is AggregationType.AVG)

    def get_counter_val(self, counter_name: str) -> int:
        """The sum or mean of the numbers of a name, 0 where there are none."""
        return _native.statistics_value(self._number, counter_name)


_current: LoggerBase = NoopLogger()


def set_logger(logger: LoggerBase) -> LoggerBase:
    """Has numbers go to a logger; returns the former one."""
    global _current
    if not isinstance(logger, LoggerBase):
        raise TypeError(f"set_logger(): expected a logger, not {type(logger).__name__}")
    former, _current = _current, logger
    _native.statistics_collect(logger._number)
    return former


def add_stat_value(name: str, value: int) -> None:
    """Notes a number; a trace that is being recorded will do so each time that it runs."""
    if _native.is_tracing():
        importlib.import_module("torchjit.ops").prim.AddStatValue(name, value)
    else:
        _native.statistics_add(name, value)


def time_point() -> int:
    """Nanoseconds since some moment before."""
    return _native.time_point()


_register_builtin(add_stat_value, "prim::AddStatValue")
_register_builtin(time_point, "prim::TimePoint")
