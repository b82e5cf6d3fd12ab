"""Static modules: a frozen graph that is run for its results alone.

`torch._C._jit_to_static_module(module)` freezes a compiled module, `_jit_to_static_module(graph)` takes a graph as it is. What runs is
the engine that runs every other function, without gradients: it plans memory by itself.
"""

from __future__ import annotations

import importlib
import threading
import time
from typing import Any


class IndividualMetrics:
    """How long the operators of a static module take, in milliseconds of a run. What is 0 the engine does not measure apart."""

    def __init__(self) -> None:
        self.setup_time = self.memory_alloc_time = self.memory_dealloc_time = self.output_dealloc_time = 0.0
        self.first_iter_time = self.total_time = 0.0
        self.out_nodes: set[str] = set()
        self.out_nodes_count = self.total_nodes_count = 0
        self.time_per_node: list[float] = []
        self.time_per_node_type: dict[str, float] = {}
        self.percent_per_node_type: dict[str, float] = {}
        self.instances_per_node_type: dict[str, int] = {}


_Metrics = IndividualMetrics


class StaticModule:
    """A function without gradients, made of a graph or of a frozen module."""

    IndividualMetrics = IndividualMetrics

    def __init__(self, run: Any, graph: Any, named: bool) -> None:
        self._run, self._graph, self._named = run, graph, named

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import torchjit

        if kwargs and not self._named:
            raise RuntimeError("Schema is not available, but BlockRunner got kwargs.")
        with torchjit.no_grad():
            return self._run(*args, **kwargs)

    def runAsync(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Starts a call in a thread of its own and returns its Future."""
        from torchjit.futures import Future

        future: Any = Future()

        def run() -> None:
            try:
                future.set_result(self(*args, **kwargs))
            except Exception as e:
                future.set_exception(e)

        threading.Thread(target=run, daemon=True).start()
        return future

    def benchmark(self, args: list[Any], kwargs: dict[str, Any], warmup_runs: int, main_runs: int) -> None:
        """Prints how long a run takes, and which operators take how much of it."""
        total, metrics = self._timed(args, kwargs, warmup_runs, main_runs), self.benchmark_individual_ops(args, kwargs, warmup_runs, main_runs)
        print(f"Input size: {len(args)}\nStatic runtime ms per iter: {total:g}. Iters per second: {1000 / total:g}\nTime per node type:")
        for kind, spent in sorted(metrics.time_per_node_type.items(), key=lambda item: -item[1]):
            print(f"{spent:15g} ms. {metrics.percent_per_node_type[kind]:10g}%. {kind} ({metrics.instances_per_node_type[kind]} nodes)")
        print(f"{metrics.total_time:15g} ms. in Total\nFirst iter time: {metrics.first_iter_time:g} ms\nNumber of operators: {metrics.total_nodes_count}")

    def benchmark_individual_ops(
        self, args: list[Any], kwargs: dict[str, Any], warmup_runs: int, main_runs: int,
    ) -> _Metrics:  # fmt: skip
        """How long each operator takes, on average over the runs."""
        profiler = importlib.import_module("torchjit.autograd.profiler")
        if warmup_runs < 0 or main_runs < 1:
            raise RuntimeError(f"expected no fewer than 0 runs to warm up and 1 that counts, but got {warmup_runs} and {main_runs}")
        found = IndividualMetrics()
        found.first_iter_time = self._timed(args, kwargs, 0, 1)
        for _ in range(warmup_runs):
            self(*args, **kwargs)
        with profiler.profile() as profile:
            for _ in range(main_runs):
                self(*args, **kwargs)
        for event in profile.key_averages():
            if "::" in event.key or event.key.startswith("fused_"):
                found.time_per_node_type[event.key] = event.self_cpu_time_total / 1000 / main_runs
                found.instances_per_node_type[event.key] = event.count // main_runs
        found.total_time = sum(found.time_per_node_type.values())
        found.total_nodes_count = sum(found.instances_per_node_type.values())
        for kind, spent in found.time_per_node_type.items():
            found.percent_per_node_type[kind] = 100 * spent / found.total_time if found.total_time else 0.0
            count = found.instances_per_node_type[kind]
            found.time_per_node += [spent / count] * count
        return found

    def _timed(self, args: list[Any], kwargs: dict[str, Any], warmup_runs: int, main_runs: int) -> float:
        for _ in range(warmup_runs):
            self(*args, **kwargs)
        start = time.perf_counter()
        for _ in range(main_runs):
            self(*args, **kwargs)
        return (time.perf_counter() - start) * 1000 / main_runs


def to_static_module(of: Any) -> StaticModule:
    """torch._C._jit_to_static_module."""
    from torchjit import _C
    from torchjit.jit._recursive import wrap_cpp_module

    if isinstance(of, _C.Graph):
        return StaticModule(_C._create_function_from_graph("forward", of.copy()), of, False)
    frozen = wrap_cpp_module(_C._freeze_module(of))
    return StaticModule(frozen, frozen.graph, True)
