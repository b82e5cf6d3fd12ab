"""Graphs out of logs, made runnable and timed.

A log holds graphs between `<GRAPH_EXPORT>` and `</GRAPH_EXPORT>`; what stands before the first of them in its line stands before all lines.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torchjit as torch


def extract_ir(filename: str) -> list[str]:
    """The texts of the graphs in a log."""
    begin, end = "<GRAPH_EXPORT>", "</GRAPH_EXPORT>"
    with open(filename) as log:
        text = log.read()
    parts = text.split(begin)
    found = []
    for before, part in zip(parts, parts[1:]):
        graph, closed, _ = part.partition(end)
        if closed:
            prefix = (before.splitlines() or [""])[-1]
            found.append("\n".join(line[len(prefix) :] for line in graph.splitlines()))
    return found


def make_tensor_from_type(inp_type: Any) -> Any:
    """A random tensor of a complete type."""
    size, stride = inp_type.sizes(), inp_type.strides()
    device, dtype = inp_type.device(), inp_type.dtype()
    assert None not in (size, stride, device, dtype)
    made = torch.empty_strided(size=size, stride=stride, device=device, dtype=dtype)
    return made.random_(0, 2) if not dtype.is_floating_point and not dtype.is_complex else made.normal_()


def load_graph_and_inputs(ir: str) -> tuple[Any, list[Any]]:
    """The graph of a text, ready to run, and inputs of the types that it says."""
    graph = torch._C.parse_ir(ir, parse_tensor_constants=True)
    graph.makeMultiOutputIntoTuple()
    inputs: list[Any] = []
    for value in graph.inputs():
        kind = value.type()
        if isinstance(kind, torch._C.FloatType):
            inputs.append(random.uniform(0.1, 100))
        elif isinstance(kind, torch._C.IntType):
            inputs.append(random.randint(1, 100))
        elif isinstance(kind, torch._C.TensorType):
            inputs.append(make_tensor_from_type(kind))
        elif isinstance(kind, torch._C.BoolType):
            inputs.append(random.randint(0, 1) == 1)
        else:
            raise NotImplementedError(f"A default value is not implemented for type {kind}")
    function = torch._C._create_function_from_graph("forward", graph)
    torch._C._jit_pass_erase_shape_information(function.graph)
    return function, inputs


def time_cpu(fn: Callable[..., Any], inputs: list[Any], test_runs: int) -> float:
    """The milliseconds of a call, of so many."""
    began = time.perf_counter()
    for _ in range(test_runs):
        fn(*inputs)
    return (time.perf_counter() - began) / test_runs * 1000


def time_cuda(fn: Callable[..., Any], inputs: list[Any], test_runs: int) -> float:
    """Raises RuntimeError: events of devices measure nothing here."""
    raise RuntimeError("time_cuda: torchjit has no events of CUDA streams; time_cpu measures calls")


def run_test(ir: str, inputs: list[Any], *, warmup_runs: int = 10, test_runs: int = 20) -> float:
    """The milliseconds of a run of a graph, after some that are not counted."""
    function, _ = load_graph_and_inputs(ir)
    for _ in range(warmup_runs):
        function(*inputs)
    return time_cpu(function, inputs, test_runs)


@contextmanager
def no_fuser(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context in which nothing is fused."""
    before = torch._C._get_graph_executor_optimize(False)
    try:
        yield
    finally:
        torch._C._get_graph_executor_optimize(before)


def run_baseline_no_fusion(ir: str, inputs: list[Any]) -> float:
    """run_test without fusion."""
    with no_fuser():
        return run_test(ir, inputs)


def run_nnc(ir: str, inputs: list[Any], dynamic: bool) -> float:
    """run_test with fusion."""
    with torch.jit.fuser("fuser1"):
        return run_test(ir, inputs)


def run_nvfuser(ir: str, inputs: list[Any]) -> float:
    """run_test with fusion by the other name."""
    with torch.jit.fuser("fuser2"):
        return run_test(ir, inputs)
