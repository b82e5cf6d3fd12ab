"""torch.autograd: what is recorded for gradients."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from torchjit import _lazy, _native
from torchjit._tensor import Tensor
from torchjit.autograd import _engine
from torchjit.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from torchjit.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from torchjit.autograd.function import Function as Function
from torchjit.autograd.grad_mode import enable_grad as enable_grad
from torchjit.autograd.grad_mode import inference_mode as inference_mode
from torchjit.autograd.grad_mode import no_grad as no_grad
from torchjit.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from torchjit.autograd.gradcheck import gradcheck as gradcheck
from torchjit.autograd.gradcheck import gradgradcheck as gradgradcheck
from torchjit.autograd.graph import Node as Node
from torchjit.autograd.variable import Variable as Variable


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds the gradients of tensors to those of the leaves that they were computed from, or to those of inputs.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.backward((w * w).sum())
    >>> w.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn("'grad_variables' is deprecated. Use 'grad_tensors' instead.", stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "'grad_tensors' and 'grad_variables' (deprecated) arguments both passed to backward(). Please only use 'grad_tensors'."
            )
        grad_tensors = grad_variables
    outputs = _sequence(tensors)
    grads = _seeds(grad_tensors)
    if create_graph:
        warnings.warn(_CYCLE, stacklevel=2)
    if inputs is None:
        _engine.run("aten::backward", outputs, grads, retain_graph, create_graph)
        return
    leaves = _sequence(inputs)
    if not leaves:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    for leaf in leaves:
        if not leaf.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    made = _engine.run("aten::grad", outputs, leaves, grads, retain_graph, create_graph, True)
    for leaf, g in zip(leaves, made):
        if g is not None:
            old = _native.tensor_grad(leaf) if leaf.is_leaf or leaf.retains_grad else None
            leaf.retain_grad()
            leaf.grad = g if old is None else old + g


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a "
    "memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to "
    "reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


def _seeds(grads: Any) -> list[Any] | None:
    """The gradients that the differentiation of some tensors starts with."""
    if grads is None:
        return None
    seeds = _sequence(grads)
    for g in seeds:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got " + type(g).__name__)
    return seeds


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
    """The gradients of outputs with respect to inputs.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.grad((w * w).sum(), w)
    (tensor([2., 4.]),)
    """
    outputs, inputs = _sequence(outputs), _sequence(inputs)
    if is_grads_batched:
        return _batched(outputs, inputs, _sequence(grad_outputs), create_graph, allow_unused)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, "
            "please use torch.autograd.backward.",
            stacklevel=2,
        )
    grads = _seeds(grad_outputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    return tuple(_engine.run("aten::grad", outputs, inputs, grads, retain_graph, create_graph, allow_unused))


def _batched(outputs: Any, inputs: Any, batches: list[Any], create_graph: bool, allow_unused: bool) -> tuple[Any, ...]:
    """The gradients for each of a batch of grad_outputs, stacked."""
    import torchjit as torch

    rows = [
        grad(outputs, inputs, [g[i] for g in batches], True, create_graph, allow_unused=allow_unused)
        for i in range(batches[0].size(0))
    ]
    return tuple(None if column[0] is None else torch.stack(column) for column in zip(*rows))


def _sequence(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


if TYPE_CHECKING:
    from torchjit.autograd import forward_ad as forward_ad
    from torchjit.autograd import functional as functional
    from torchjit.autograd import profiler as profiler
    from torchjit.autograd import profiler_legacy as profiler_legacy
    from torchjit.autograd import profiler_util as profiler_util
else:
    __getattr__: _lazy.Getter
    __dir__: _lazy.Lister
    __getattr__, __dir__ = _lazy.names(__name__, {
        **_lazy.modules(__name__, "forward_ad functional profiler profiler_legacy profiler_util"),
        "torchjit._C._autograd": """
            DeviceType SavedTensor _pop_saved_tensors_default_hooks _profiler_enabled _push_saved_tensors_default_hooks _supported_activities kineto_available
        """,
        "torchjit._C._profiler": "ProfilerActivity ProfilerState",
        "torchjit.autograd._arguments": "_calculate_shape _make_grads _tensor_or_tensors_to_tuple",
        "torchjit.overrides": "handle_torch_function has_torch_function is_tensor_like",
        "torchjit.types": "_TensorOrTensors _size",
    })  # fmt: skip
