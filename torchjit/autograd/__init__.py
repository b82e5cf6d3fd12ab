"""torch.autograd: what is recorded for gradients."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from torchjit.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from torchjit.autograd.function import Function as Function
from torchjit.autograd.grad_mode import enable_grad as enable_grad
from torchjit.autograd.grad_mode import inference_mode as inference_mode
from torchjit.autograd.grad_mode import no_grad as no_grad
from torchjit.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from torchjit.autograd.gradcheck import gradcheck as gradcheck
from torchjit.autograd.gradcheck import gradgradcheck as gradgradcheck

_NODE_HANDLE = 8


class Node(_native.Handle):
    """What made a tensor that is no leaf: a recorded operation, or what adds up the gradient of a leaf."""

    def name(self) -> str:
        return _native.grad_node_name(self)

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """Pairs of the node that the gradient of each input goes to, or None, and the number of its output there."""
        return _native.grad_node_next(self)

    @property
    def variable(self) -> Any:
        """The leaf whose gradient the node adds up, None for other nodes."""
        return _native.grad_node_variable(self)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"


_native.register_handle_class(_NODE_HANDLE, Node)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds the gradients of tensors to those of the leaves that they were computed from."""
    outputs = _sequence(tensors)
    grads = None if grad_tensors is None else _sequence(grad_tensors)
    if inputs is None:
        _native.operator("aten::backward")(outputs, grads, retain_graph, create_graph)
        return
    leaves = _sequence(inputs)
    made = _native.operator("aten::grad")(outputs, leaves, grads, retain_graph, create_graph, True)
    for leaf, g in zip(leaves, made):
        if g is not None:
            leaf.grad = g if leaf.grad is None else leaf.grad + g


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """The gradients of outputs with respect to inputs."""
    if is_grads_batched:
        return _batched(outputs, inputs, _sequence(grad_outputs), create_graph, allow_unused)
    grads = None if grad_outputs is None else _sequence(grad_outputs)
    made = _native.operator("aten::grad")(
        _sequence(outputs), _sequence(inputs), grads, retain_graph, create_graph, allow_unused
    )
    return tuple(made)


def _batched(outputs: Any, inputs: Any, batches: list[Any], create_graph: bool, allow_unused: bool) -> tuple[Any, ...]:
    """The gradients for each of a batch of grad_outputs, stacked."""
    import torchjit as torch

    rows = [
        grad(outputs, inputs, [g[i] for g in batches], True, create_graph, allow_unused=allow_unused)
        for i in range(batches[0].size(0))
    ]
    return tuple(None if column[0] is None else torch.stack(column) for column in zip(*rows))


def _sequence(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def __getattr__(name: str) -> Any:
    if name in ("functional", "forward_ad", "profiler"):
        import importlib

        return importlib.import_module("torchjit.autograd." + name)
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


class Variable:
    """A tensor; kept for old programs."""

    def __new__(cls, data, requires_grad=False):
        return data.requires_grad_(requires_grad) if requires_grad else data
