"""Activations of neural networks, softmax and dropout."""

from __future__ import annotations

import math
from typing import Any

from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.parts import chunk
from torchjit.onnx._symbolics.pointwise import as_float, clip, number
from torchjit.onnx.symbolic_helper import parse_args


@symbolic("relu6")
def relu6(g: Any, x: Any) -> Any:
    return clip(g, x, number(g, 0, x), number(g, 6, x))


@symbolic("hardtanh")
@parse_args("v", "f", "f")
def hardtanh(g: Any, x: Any, low: float, high: float) -> Any:
    return clip(g, x, number(g, low, x), number(g, high, x))


@symbolic("hardsigmoid")
def hardsigmoid(g: Any, x: Any) -> Any:
    return g.op("HardSigmoid", x, alpha_f=1 / 6)


@symbolic("hardswish")
def hardswish(g: Any, x: Any) -> Any:
    return g.op("HardSwish", x) if g.opset >= 14 else g.op("Mul", x, hardsigmoid(g, x))


@symbolic("leaky_relu")
@parse_args("v", "f")
def leaky_relu(g: Any, x: Any, slope: float) -> Any:
    return g.op("LeakyRelu", x, alpha_f=slope)


@symbolic("rrelu")
@parse_args("v", "f", "f", "b", "v")
def rrelu(g: Any, x: Any, lower: float, upper: float, training: bool, generator: Any) -> Any:
    if training:
        helper._onnx_unsupported("rrelu in training", x)
    return g.op("LeakyRelu", x, alpha_f=(lower + upper) / 2)


@symbolic("elu")
@parse_args("v", "f", "f", "f")
def elu(g: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    if scale != 1 or input_scale != 1:
        helper._onnx_unsupported("elu with a scale other than 1", x)
    return g.op("Elu", x, alpha_f=alpha)


@symbolic("celu", since=12)
@parse_args("v", "f")
def celu(g: Any, x: Any, alpha: float) -> Any:
    return g.op("Celu", x, alpha_f=alpha)


@symbolic("prelu", "_prelu_kernel")
def prelu(g: Any, x: Any, weight: Any) -> Any:
    rank = helper._get_tensor_rank(x)
    if rank is not None and rank > 2 and helper._get_tensor_rank(weight) == 1:
        weight = helper._unsqueeze_helper(g, weight, list(range(1, rank - 1)))
    return g.op("PRelu", x, weight)


@symbolic("softplus")
@parse_args("v", "f", "f")
def softplus(g: Any, x: Any, beta: float, threshold: float) -> Any:
    """The threshold, behind which PyTorch takes the identity, makes no difference that float32 shows."""
    if beta == 1:
        return g.op("Softplus", x)
    factor = number(g, beta, x)
    return g.op("Div", g.op("Softplus", g.op("Mul", x, factor)), factor)


@symbolic("threshold")
def threshold(g: Any, x: Any, bound: Any, value: Any) -> Any:
    return g.op("Where", g.op("Greater", x, bound), x, value)


@symbolic("hardshrink")
@parse_args("v", "f")
def hardshrink(g: Any, x: Any, lambd: float) -> Any:
    keep = g.op("Greater", g.op("Abs", x), number(g, lambd, x))
    return g.op("Where", keep, x, number(g, 0.0, x))


@symbolic("softshrink")
@parse_args("v", "f")
def softshrink(g: Any, x: Any, lambd: float) -> Any:
    return g.op("Shrink", x, bias_f=lambd, lambd_f=lambd)


@symbolic("tanhshrink")
def tanhshrink(g: Any, x: Any) -> Any:
    return g.op("Sub", x, g.op("Tanh", x))


@symbolic("gelu")
def gelu(g: Any, x: Any, approximate: Any = None) -> Any:
    kind = "none" if approximate is None else helper._parse_arg(approximate, "s")
    one, half = number(g, 1.0, x), number(g, 0.5, x)
    if kind == "tanh":
        cubic = g.op("Mul", number(g, 0.044715, x), g.op("Mul", x, g.op("Mul", x, x)))
        inner = g.op("Mul", number(g, math.sqrt(2 / math.pi), x), g.op("Add", x, cubic))
        return g.op("Mul", half, g.op("Mul", x, g.op("Add", g.op("Tanh", inner), one)))
    error = g.op("Erf", g.op("Div", x, number(g, math.sqrt(2), x)))
    return g.op("Mul", g.op("Mul", x, g.op("Add", error, one)), half)


@symbolic("glu")
@parse_args("v", "i")
def glu(g: Any, x: Any, dim: int) -> Any:
    size = helper._get_tensor_dim_size(x, dim)
    if size is None:
        helper._onnx_unsupported("glu of a dimension whose size is not known", x)
    parts = helper._unpack_list(chunk(g, x, 2, dim))
    return g.op("Mul", parts[0], g.op("Sigmoid", parts[1]))


def last_softmax(g: Any, op: str, x: Any, dim: int) -> Any:
    """Softmax along one dimension: before opset version 13 ONNX has it of the last dimensions together."""
    if g.opset >= 13:
        return g.op(op, x, axis_i=dim)
    rank = helper._rank(x, op)
    if rank == 0:
        return helper._squeeze_helper(g, g.op(op, helper._unsqueeze_helper(g, x, [0]), axis_i=0), [0])
    if dim % rank == rank - 1:
        return g.op(op, x, axis_i=rank - 1)
    perm = list(range(rank))
    perm[dim], perm[-1] = perm[-1], perm[dim]
    made = g.op(op, g.op("Transpose", x, perm_i=perm), axis_i=rank - 1)
    return g.op("Transpose", made, perm_i=perm)


def _cast_to(g: Any, x: Any, dtype: int | None) -> Any:
    return x if dtype is None else g.cast(x, helper.scalar_type_to_pytorch_type[dtype])


@symbolic("softmax", "_softmax", "special_softmax")
@parse_args("v", "i", "i")
def softmax(g: Any, x: Any, dim: int, dtype: int | None = None) -> Any:
    return last_softmax(g, "Softmax", as_float(g, _cast_to(g, x, dtype)), dim)


@symbolic("log_softmax", "_log_softmax", "special_log_softmax")
@parse_args("v", "i", "i")
def log_softmax(g: Any, x: Any, dim: int, dtype: int | None = None) -> Any:
    return last_softmax(g, "LogSoftmax", as_float(g, _cast_to(g, x, dtype)), dim)


@symbolic("softmin")
@parse_args("v", "i", "i")
def softmin(g: Any, x: Any, dim: int, dtype: int | None = None) -> Any:
    return last_softmax(g, "Softmax", g.op("Neg", _cast_to(g, x, dtype)), dim)


@symbolic("dropout")
@parse_args("v", "f", "b")
def dropout(g: Any, x: Any, p: float, train: bool) -> Any:
    """Nothing where the program is not in training."""
    helper.check_training_mode(train, "dropout")
    if not train:
        return x
    if g.opset < 12:
        return g.op("Dropout", x, ratio_f=p, outputs=2)[0]
    return g.op("Dropout", x, g.constant(p), g.constant(True), outputs=2)[0]


@symbolic("feature_dropout", "alpha_dropout", "feature_alpha_dropout")
@parse_args("v", "f", "b")
def other_dropout(g: Any, x: Any, p: float, train: bool) -> Any:
    if train:
        helper._onnx_unsupported("feature_dropout and alpha_dropout in training", x)
    return x


@symbolic("native_dropout")
@parse_args("v", "f", "b")
def native_dropout(g: Any, x: Any, p: float, train: bool) -> Any:
    if not train:
        return x, g.op("Expand", g.constant(True), g.op("Shape", x))
    return g.op("Dropout", x, g.constant(p), g.constant(True), outputs=2)
