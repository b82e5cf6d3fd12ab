"""Calls of autograd.Function classes that say how they are exported: a trace for an export has each as one node."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.autograd import function as _function

KIND = "onnx::PythonFunction"


class Call:
    """One call of a class: its arguments, of which those that are tensors are inputs of the node."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = tuple(None if isinstance(a, torch.Tensor) else a for a in args)
        self.is_tensor = [isinstance(a, torch.Tensor) for a in args]

    def arguments(self, values: list[Any]) -> list[Any]:
        """The arguments with values in the places of tensors."""
        left = iter(values)
        return [next(left) if tensor else arg for tensor, arg in zip(self.is_tensor, self.args)]


@contextlib.contextmanager
def recorded() -> Iterator[list[Call]]:
    """A context in which traces have calls as nodes; gives the list of the calls, in which the attribute "call" of a node is a position."""
    calls: list[Call] = []

    def call(function: Any, args: tuple[Any, ...]) -> Any:
        state = _C._get_tracing_state()
        return function._call(*args) if state is None else _record(calls, state, function, args)

    former, _function._exported = _function._exported, call
    try:
        yield calls
    finally:
        _function._exported = former


def _record(calls: list[Call], state: Any, function: Any, args: tuple[Any, ...]) -> Any:
    """Calls a class outside of the trace and puts a node into it."""
    inputs = [_C._get_value_trace(a) for a in args if isinstance(a, torch.Tensor)]
    _C._set_tracing_state(None)
    try:
        results = function._call(*args)
    finally:
        _C._set_tracing_state(state)
    outs = results if isinstance(results, tuple) else (results,)
    graph = state.graph()
    node = graph.insertNode(graph.create(KIND, inputs, len(outs)))
    node.i_("call", len(calls))
    node.s_("name", function.__name__)
    calls.append(Call(function, args))
    for value, out in zip(node.outputs(), outs):
        if isinstance(out, torch.Tensor):
            value.setType(_C.TensorType.create_from_tensor(out.detach()))
            _C._set_value_trace(out, value)
    return results
