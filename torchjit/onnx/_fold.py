"""Nodes of constants are computed as they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._type_utils import JitScalarType

# A result may have this many elements more than the operands.
_MOST_NEW_ELEMENTS = 256

# What is computed of initializers too: other operators of them stay as they are.
_OF_INITIALIZERS = {
    "Add", "Cast", "Concat", "Div", "Equal", "Gather", "Mul", "Not", "ReduceL1", "ReduceL2", "ReduceSum", "Reshape", "Shape", "Slice",
    "Split", "Sqrt", "Squeeze",
    "Sub", "Transpose", "Unsqueeze",
}  # fmt: skip


def constant_of(value: Any) -> Any:
    """The tensor that a value is where a Constant makes it, or None."""
    node = value.node()
    if node.kind() == "onnx::Constant" and node.hasAttribute("value"):
        return node.t("value")
    return None


def fold(g: Any, op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
    """The value of what an operator gives of constants, a tuple of them for several; None where it has to be a node."""
    if op == "Shape" and not attributes:
        sizes = static_sizes(inputs[0])
        return g.constant(sizes) if sizes is not None else None
    compute = _COMPUTE.get(op)
    if compute is None or not inputs:
        return None
    tensors, initializers = [], False
    for value in inputs:
        tensor = constant_of(value)
        if tensor is None and value.debugName() in g.params_dict and _folds_initializers(op):
            tensor, initializers = g.params_dict[value.debugName()], True
        if tensor is None:
            return None
        tensors.append(tensor)
    result = compute(tensors, attributes)
    made = [] if result is None else list(result) if isinstance(result, tuple) else [result]
    if not made or sum(r.numel() for r in made) > sum(t.numel() for t in tensors) + _MOST_NEW_ELEMENTS:
        return None
    values = tuple(g.initializer(r) if initializers else g.constant(r) for r in made)
    return values if isinstance(result, tuple) else values[0]


def _folds_initializers(op: str) -> bool:
    return op in _OF_INITIALIZERS and GLOBALS.fold_constants and not GLOBALS.training_mode


def static_sizes(value: Any) -> list[int] | None:
    """The sizes of a tensor where all are known."""
    kind = value.type()
    if kind.kind() != "TensorType":
        return None
    sizes = kind.varyingSizes()
    return None if sizes is None or None in sizes else list(sizes)


def _axes(tensors: list[Any], attributes: dict[str, Any], at: int = 1) -> list[int] | None:
    """Axes, which are an attribute or an input."""
    if "axes_i" in attributes:
        axes = attributes["axes_i"]
        return list(axes) if isinstance(axes, (list, tuple)) else [axes]
    return tensors[at].tolist() if len(tensors) > at else None


def _cast(t: list[Any], a: dict[str, Any]) -> Any:
    return t[0].to(JitScalarType.from_onnx_type(a["to_i"]).dtype())


def _concat(t: list[Any], a: dict[str, Any]) -> Any:
    return torch.cat(t, a["axis_i"])


def _gather(t: list[Any], a: dict[str, Any]) -> Any:
    axis = a.get("axis_i", 0)
    picked = t[0].index_select(axis, t[1].reshape(-1) % t[0].shape[axis])
    sizes = list(t[0].shape)
    return picked.reshape(sizes[:axis] + list(t[1].shape) + sizes[axis:][1:])


def _slice(t: list[Any], a: dict[str, Any]) -> Any:
    if "starts_i" in a:
        starts, ends, axes, steps = (_listed(a["starts_i"]), _listed(a["ends_i"]), _listed(a.get("axes_i")), None)
    else:
        starts, ends, axes, steps = ([x.tolist() for x in t[1:]] + [None, None])[:4]
    result = t[0]
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis, step = (axes[i] if axes else i), (steps[i] if steps else 1)
        if step < 1:
            return None
        result = result[(slice(None),) * (axis % result.dim()) + (slice(start, end, step),)]
    return result.contiguous()


def _listed(value: Any) -> Any:
    return value if value is None or isinstance(value, (list, tuple)) else [value]


def _squeeze(t: list[Any], a: dict[str, Any]) -> Any:
    axes = _axes(t, a)
    if axes is None:
        return t[0].squeeze()
    dims = {d % t[0].dim() for d in axes}
    return t[0].reshape([n for d, n in enumerate(t[0].shape) if d not in dims])


def _unsqueeze(t: list[Any], a: dict[str, Any]) -> Any:
    axes = _axes(t, a) or []
    sizes = list(t[0].shape)
    for axis in sorted(d % (len(sizes) + len(axes)) for d in axes):
        sizes.insert(axis, 1)
    return t[0].reshape(sizes)


def _reduce_sum(t: list[Any], a: dict[str, Any]) -> Any:
    axes = _axes(t, a)
    return t[0].sum(list(range(t[0].dim())) if axes is None else axes, keepdim=bool(a.get("keepdims_i", 1)))


def _norm(order: int) -> Callable[[list[Any], dict[str, Any]], Any]:
    def compute(t: list[Any], a: dict[str, Any]) -> Any:
        axes = _axes(t, a)
        powers = t[0].abs() if order == 1 else t[0] * t[0]
        total = powers.sum(list(range(t[0].dim())) if axes is None else axes, keepdim=bool(a.get("keepdims_i", 1)))
        return total if order == 1 else total.sqrt()

    return compute


def _split(t: list[Any], a: dict[str, Any]) -> Any:
    parts = t[1].tolist() if len(t) > 1 else a.get("split_i")
    return None if parts is None else tuple(p.contiguous() for p in t[0].split(list(parts), a.get("axis_i", 0)))


def _reshape(t: list[Any], a: dict[str, Any]) -> Any:
    sizes = t[1].tolist()
    return t[0].reshape([t[0].shape[i] if n == 0 and not a.get("allowzero_i") else n for i, n in enumerate(sizes)])


def _div(t: list[Any], a: dict[str, Any]) -> Any:
    return t[0] / t[1] if t[0].is_floating_point() else torch.div(t[0], t[1], rounding_mode="trunc")


def _range(t: list[Any], a: dict[str, Any]) -> Any:
    return torch.arange(t[0].item(), t[1].item(), t[2].item(), dtype=t[0].dtype)


def _constant_of_shape(t: list[Any], a: dict[str, Any]) -> Any:
    value = a.get("value_t", torch.tensor([0.0]))
    return value.reshape([1] * t[0].numel()).expand(t[0].tolist()).contiguous() if t[0].numel() else value.reshape([])


_COMPUTE: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    "Abs": lambda t, a: t[0].abs(),
    "Add": lambda t, a: t[0] + t[1],
    "And": lambda t, a: t[0] & t[1],
    "Cast": _cast,
    "Ceil": lambda t, a: t[0].ceil(),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _div,
    "Equal": lambda t, a: t[0] == t[1],
    "Expand": lambda t, a: (t[0] + torch.zeros(t[1].tolist(), dtype=t[0].dtype)) if t[0].dtype != torch.bool else None,
    "Floor": lambda t, a: t[0].floor(),
    "Gather": _gather,
    "Greater": lambda t, a: t[0] > t[1],
    "GreaterOrEqual": lambda t, a: t[0] >= t[1],
    "Identity": lambda t, a: t[0],
    "Less": lambda t, a: t[0] < t[1],
    "LessOrEqual": lambda t, a: t[0] <= t[1],
    "Max": lambda t, a: torch.maximum(t[0], t[1]) if len(t) == 2 else None,
    "Min": lambda t, a: torch.minimum(t[0], t[1]) if len(t) == 2 else None,
    "Mod": lambda t, a: torch.fmod(t[0], t[1]) if a.get("fmod_i") else t[0] % t[1],
    "Mul": lambda t, a: t[0] * t[1],
    "Neg": lambda t, a: -t[0],
    "Not": lambda t, a: ~t[0],
    "Or": lambda t, a: t[0] | t[1],
    "Range": _range,
    "ReduceL1": _norm(1),
    "ReduceL2": _norm(2),
    "ReduceSum": _reduce_sum,
    "Reshape": _reshape,
    "Shape": lambda t, a: torch.tensor(list(t[0].shape)) if not a else None,
    "Slice": _slice,
    "Split": _split,
    "Sqrt": lambda t, a: t[0].sqrt(),
    "Squeeze": _squeeze,
    "Sub": lambda t, a: t[0] - t[1],
    "Transpose": lambda t, a: (
        t[0].permute(a["perm_i"] if "perm_i" in a else list(range(t[0].dim()))[::-1]).contiguous()
    ),
    "Unsqueeze": _unsqueeze,
    "Where": lambda t, a: torch.where(t[0], t[1], t[2]),
    "Xor": lambda t, a: t[0] ^ t[1],
}
