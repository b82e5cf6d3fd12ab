"""torch.autograd: what is recorded for gradients."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit.autograd.grad_mode import enable_grad as enable_grad
from torchjit.autograd.grad_mode import inference_mode as inference_mode
from torchjit.autograd.grad_mode import no_grad as no_grad
from torchjit.autograd.grad_mode import set_grad_enabled as set_grad_enabled


class Node:
    """What made a tensor that is no leaf."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{self._name} object at {hex(id(self))}>"


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
        raise NotImplementedError("grad() with is_grads_batched=True is not implemented by this version of torchjit")
    grads = None if grad_outputs is None else _sequence(grad_outputs)
    made = _native.operator("aten::grad")(
        _sequence(outputs), _sequence(inputs), grads, retain_graph, create_graph, allow_unused
    )
    return tuple(made)


def _sequence(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


class Variable:
    """A tensor; kept for old programs."""

    def __new__(cls, data, requires_grad=False):
        return data.requires_grad_(requires_grad) if requires_grad else data
