"""Normalizations."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.pointwise import number
from torchjit.onnx._symbolics.reduce import reduced
from torchjit.onnx.symbolic_helper import parse_args


def _or(g: Any, value: Any, x: Any, fill: float, dim: int = 1) -> Any:
    """A value, or as many constants as there are channels."""
    if not helper._is_none(value):
        return value
    channels = helper._get_tensor_dim_size(x, dim)
    if channels is None:
        helper._onnx_unsupported("normalization of a number of channels that is not known", x)
    return g.constant([fill] * channels, helper._dtype(x))


@symbolic("batch_norm", "native_batch_norm")
@parse_args("v", "v", "v", "v", "v", "b", "f", "f", "b")
def batch_norm(
    g: Any, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float, cudnn: bool = False
) -> Any:  # fmt: skip
    rank = helper._rank(x, "batch_norm")
    if rank == 2 and g.opset < 9:
        x = helper._unsqueeze_helper(g, x, [2])
    weight, bias = _or(g, weight, x, 1.0), _or(g, bias, x, 0.0)
    if helper._is_none(mean):
        return (
            instance_norm(g, x, weight, bias, mean, var, True, momentum, eps, False)
            if not training
            else _by_batch(g, x, weight, bias, eps)
        )
    helper.check_training_mode(training, "batch_norm")
    attributes: dict[str, Any] = {"epsilon_f": eps, "momentum_f": 1 - momentum}
    given = (x, weight, bias, mean, var)
    if not training:
        return g.op("BatchNormalization", *given, training_mode_i=0 if g.opset >= 14 else None, **attributes)
    if g.opset >= 14:
        return g.op("BatchNormalization", *given, training_mode_i=1, outputs=3, **attributes)[0]
    return g.op("BatchNormalization", *given, outputs=5, **attributes)[0]


def _by_batch(g: Any, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Normalization by the mean and variance of the batch."""
    rank = helper._rank(x, "batch_norm")
    dims = [d for d in range(rank) if d != 1]
    scale, shift = (helper._reshape_helper(g, v, [1, -1, *[1] * (rank - 2)]) for v in (weight, bias))
    return g.op("Add", g.op("Mul", _standard(g, x, dims, eps), scale), shift)


def _standard(g: Any, x: Any, dims: list[int], eps: float) -> Any:
    """Differences to the mean along dimensions, divided by the deviation."""
    difference = g.op("Sub", x, g.op("ReduceMean", x, axes_i=dims))
    variance = g.op("ReduceMean", g.op("Pow", difference, number(g, 2.0, x)), axes_i=dims)
    return g.op("Div", difference, g.op("Sqrt", g.op("Add", variance, number(g, eps, x))))


@symbolic("layer_norm", "native_layer_norm")
@parse_args("v", "is", "v", "v", "f", "b")
def layer_norm(g: Any, x: Any, shape: list[int], weight: Any, bias: Any, eps: float, cudnn: bool = False) -> Any:
    if g.opset >= 17:
        scale = g.constant(torch.ones(shape, dtype=helper._dtype(x))) if helper._is_none(weight) else weight
        given = [x, scale] + ([] if helper._is_none(bias) else [bias])
        return g.op("LayerNormalization", *given, epsilon_f=eps, axis_i=-len(shape))
    made = _standard(g, x, [-i for i in range(len(shape), 0, -1)], eps)
    if not helper._is_none(weight):
        made = g.op("Mul", made, weight)
    return made if helper._is_none(bias) else g.op("Add", made, bias)


@symbolic("instance_norm")
@parse_args("v", "v", "v", "v", "v", "b", "f", "f", "b")
def instance_norm(
    g: Any, x: Any, weight: Any, bias: Any, mean: Any, var: Any, use_input_stats: bool, momentum: float, eps: float, cudnn: bool
) -> Any:  # fmt: skip
    weight, bias = _or(g, weight, x, 1.0), _or(g, bias, x, 0.0)
    if not use_input_stats:
        return g.op("BatchNormalization", x, weight, bias, mean, var, epsilon_f=eps, momentum_f=1 - momentum)
    return g.op("InstanceNormalization", x, weight, bias, epsilon_f=eps)


@symbolic("group_norm", "native_group_norm")
@parse_args("v", "i", "v", "v", "f", "b")
def group_norm(g: Any, x: Any, groups: int, weight: Any, bias: Any, eps: float, cudnn: bool) -> Any:
    """Each group is an instance's channel for a while."""
    rank = helper._rank(x, "group_norm")
    grouped = helper._reshape_helper(g, x, [0, groups, -1])
    ones, zeros = g.constant([1.0] * groups, helper._dtype(x)), g.constant([0.0] * groups, helper._dtype(x))
    made = g.op("InstanceNormalization", grouped, ones, zeros, epsilon_f=eps)
    made = helper._reshape_helper(g, made, g.op("Shape", x))
    for op, v in (("Mul", weight), ("Add", bias)):
        if not helper._is_none(v):
            made = g.op(op, made, helper._unsqueeze_helper(g, v, list(range(1, rank - 1))) if rank > 2 else v)
    return made


@symbolic("_weight_norm")
@parse_args("v", "v", "i")
def weight_norm(g: Any, v: Any, magnitude: Any, dim: int) -> Any:
    rank = helper._rank(v, "weight_norm")
    dims = [d for d in range(rank) if dim == -1 or d != dim % rank]
    return g.op("Mul", v, g.op("Div", magnitude, reduced(g, "ReduceL2", v, dims, True)))


@symbolic("renorm")
@parse_args("v", "f", "i", "f")
def renorm(g: Any, x: Any, p: float, dim: int, bound: float) -> Any:
    from torchjit.onnx._symbolics.reduce import vector_norm

    rank = helper._rank(x, "renorm")
    lengths = vector_norm(g, x, p, [d for d in range(rank) if d != dim % rank], True)
    limit = number(g, bound, x)
    factor = g.op("Div", limit, g.op("Add", lengths, number(g, 1e-7, x)))
    return g.op("Mul", x, g.op("Where", g.op("Greater", lengths, limit), factor, number(g, 1.0, x)))
