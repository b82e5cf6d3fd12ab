"""Timing of statements."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable
from typing import Any

from torchjit.utils.benchmark.utils import common

__all__ = ["Timer", "timer", "Language"]

timer: Callable[[], float] = timeit.default_timer


class Language(enum.Enum):
    """What statements are written in."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures how long a statement of Python takes, with a number of threads, once or over a time.

    The setup is run first. label, sub_label, description and env say where tables show it. Raises ValueError where stmt is no text or the language is
    unknown, NotImplementedError for C++.

    >>> timer = torch.utils.benchmark.Timer("x.relu()", globals={"x": torch.ones(3)})
    >>> timer.timeit(10).median > 0
    True
    """

    _timer_cls = timeit.Timer

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Language | str = Language.PYTHON,
    ) -> None:  # fmt: skip
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("statements of C++ are not timed: there is no compiler for them")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        self._globals = dict(globals or {})
        if "torch" not in self._globals:
            import torchjit

            self._globals["torch"] = torchjit
        stmt, setup = (textwrap.dedent(text).strip("\n").rstrip() if text.startswith("\n") else text for text in (stmt, setup))
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = common.TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        """The seconds of a number of runs, and at least a little."""
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> common.Measurement:
        """A number of runs as one measurement, after a few that do not count."""
        with common.set_torch_threads(self._task_spec.num_threads):
            self._timeit(number=max(int(number // 100), 2))
            return common.Measurement(number, [self._timeit(number=number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raises NotImplementedError: see blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], None] | None = None) -> None:
        """Raises NotImplementedError: see blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _estimate_block_size(self, min_run_time: float) -> int:
        """How many runs a measurement should have, so that reading the clock does not count."""
        with common.set_torch_threads(self._task_spec.num_threads):
            overhead = min(self._timeit(0) for _ in range(5))
            number = 1
            while True:
                took = self._timeit(number)
                if overhead / took <= 1e-4 and took >= min_run_time / 1000 or took > min_run_time:
                    return number
                number *= 10

    def _threaded_measurement_loop(
        self, number: int, time_hook: Callable[[], float], stop_hook: Callable[[list[float]], bool], min_run_time: float,
        max_run_time: float | None = None, callback: Callable[[int, float], None] | None = None,
    ) -> list[float]:  # fmt: skip
        """Measures until min_run_time is over and stop_hook approves, at most for max_run_time."""
        total, measured = 0.0, False
        times: list[float] = []
        with common.set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not measured:
                took = time_hook()
                times.append(took)
                total += took
                if callback:
                    callback(number, took)
                measured = stop_hook(times)
                if max_run_time and total > max_run_time:
                    break
        return times

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Callable[[int, float], None] | None = None
    ) -> common.Measurement:
        """Measures until the times spread less than threshold of their median."""
        number = self._estimate_block_size(min_run_time=0.05)

        def stop(times: list[float]) -> bool:
            return len(times) > 3 and common.Measurement(number, times, self._task_spec).meets_confidence(threshold)

        times = self._threaded_measurement_loop(number, lambda: self._timeit(number), stop, min_run_time, max_run_time, callback)
        return common.Measurement(number, times, self._task_spec)

    def blocked_autorange(self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2) -> common.Measurement:
        """Measures, in blocks of runs that are long enough, for min_run_time."""
        number = self._estimate_block_size(min_run_time)
        times = self._threaded_measurement_loop(number, lambda: self._timeit(number), lambda times: True, min_run_time, callback=callback)
        return common.Measurement(number, times, self._task_spec)

    def collect_callgrind(self, number: int = 100, *, repeats: int | None = None, collect_baseline: bool = True, retain_out_file: bool = False) -> Any:
        """Raises NotImplementedError: instructions are not counted."""
        raise NotImplementedError("collect_callgrind: this library does not count instructions")
