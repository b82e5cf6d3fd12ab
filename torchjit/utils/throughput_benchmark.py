"""How many calls of a module a second several threads make."""

from __future__ import annotations

import threading
import time
from typing import Any


def format_time(time_us: float | None = None, time_ms: float | None = None, time_s: float | None = None) -> str:
    """A time, given in one of three units, as text in the unit that fits."""
    assert sum(t is not None for t in (time_us, time_ms, time_s)) == 1
    us = time_us if time_us is not None else time_ms * 1e3 if time_ms is not None else time_s * 1e6  # type: ignore[operator]
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


class BenchmarkConfig:
    """How a benchmark runs: how many threads call, how many of them warm up, how often, and where a profile goes."""

    def __init__(self) -> None:
        self.num_calling_threads = self.num_worker_threads = self.num_warmup_iters = 1
        self.num_iters = 100
        self.profiler_output_path = ""


class ExecutionStats:
    """What a benchmark has measured: num_iters calls by num_threads threads in total_time_seconds."""

    def __init__(self, num_iters: int, total_time_seconds: float, num_threads: int) -> None:
        self.num_iters: int = num_iters
        self.total_time_seconds: float = total_time_seconds
        self.num_threads: int = num_threads

    @property
    def latency_avg_ms(self) -> float:
        """The time that a call takes, in milliseconds."""
        return self.total_time_seconds * 1e3 * self.num_threads / self.num_iters

    @property
    def iters_per_second(self) -> float:
        """The calls a second of all threads together."""
        return self.num_iters / self.total_time_seconds

    def __str__(self) -> str:
        return "\n".join((
            "Average latency per example: " + format_time(time_ms=self.latency_avg_ms),
            f"Total number of iterations: {self.num_iters}",
            f"Total number of iterations per second (across all threads): {self.iters_per_second:.2f}",
            "Total time: " + format_time(time_s=self.total_time_seconds),
        ))  # fmt: skip


class ThroughputBenchmark:
    """Calls a module, compiled or not, with inputs that add_input has given.

    Compiled modules run in the threads at once, others one at a time.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self._inputs: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def run_once(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the module once, with inputs of one's own."""
        return self._module(*args, **kwargs)

    def add_input(self, *args: Any, **kwargs: Any) -> None:
        """Adds inputs: calls take those that were added in turn."""
        self._inputs.append((args, kwargs))

    def benchmark(
        self, num_calling_threads: int = 1, num_warmup_iters: int = 10, num_iters: int = 100, profiler_output_path: str = ""
    ) -> ExecutionStats:
        """Calls the module num_warmup_iters times in each thread and then, measured, num_iters times in all threads together.

        Raises RuntimeError where no inputs were added, and what the module raises. With a path a trace of the calls is written.
        """
        if not self._inputs:
            raise RuntimeError("Please provide benchmark inputs.Did you forget to call add_input()?")
        if profiler_output_path:
            from torchjit.autograd import profiler

            recorded = profiler.profile()
            with recorded:
                stats = self._measure(num_calling_threads, num_warmup_iters, num_iters)
            recorded.export_chrome_trace(profiler_output_path)
            return stats
        return self._measure(num_calling_threads, num_warmup_iters, num_iters)

    def _measure(self, threads: int, warmup: int, iters: int) -> ExecutionStats:
        ready, start = threading.Barrier(threads + 1), threading.Barrier(threads + 1)
        left, failures = iter(range(iters)), []

        def call(i: int) -> None:
            args, kwargs = self._inputs[i % len(self._inputs)]
            self._module(*args, **kwargs)

        def work() -> None:
            try:
                for i in range(warmup):
                    call(i)
            except Exception as e:
                failures.append(e)
            ready.wait()
            start.wait()
            try:
                for i in left if not failures else ():
                    call(i)
            except Exception as e:
                failures.append(e)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        ready.wait()
        begin = time.perf_counter()
        start.wait()
        for worker in workers:
            worker.join()
        elapsed = time.perf_counter() - begin
        if failures:
            raise failures[0]
        return ExecutionStats(iters, elapsed, threads)
