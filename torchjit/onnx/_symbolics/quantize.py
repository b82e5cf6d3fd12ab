"""Rounding of floats to integers and back, and the operators of quantized tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import _quantized, _registry
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.conv import _convolved
from torchjit.onnx._symbolics.matmul import linear as of_floats
from torchjit.onnx._type_utils import JitScalarType

_RANGES = {(0, 255): torch.uint8, (-128, 127): torch.int8, (0, 127): torch.uint8}
_INTEGERS = {torch.quint8: torch.uint8, torch.qint8: torch.int8}


def _rounded(g: Any, x: Any, scale: Any, zero: Any, low: int, high: int, axis: int | None) -> Any:
    if (low, high) not in _RANGES:
        helper._onnx_unsupported(f"fake_quantize to integers from {low} to {high}: they are not those of a type", x)
    zero = g.cast(zero, _RANGES[low, high])
    made = g.op("QuantizeLinear", x, scale, zero, axis_i=axis)
    if (low, high) == (0, 127):
        made = g.op("Clip", made, g.constant(0, torch.uint8), g.constant(127, torch.uint8))
    back = g.op("DequantizeLinear", made, scale, zero, axis_i=axis)
    back.setType(x.type())
    return back


@symbolic("fake_quantize_per_tensor_affine", since=10)
def fake_quantize_per_tensor_affine(g: Any, x: Any, scale: Any, zero: Any, *bounds: Any) -> Any:
    low, high = (helper._get_const(b, "i", "bound") for b in bounds[-2:])
    return _rounded(g, x, g.cast(scale, torch.float32), zero, low, high, None)


@symbolic("fake_quantize_per_channel_affine", since=13)
def fake_quantize_per_channel_affine(g: Any, x: Any, scale: Any, zero: Any, axis: Any, low: Any, high: Any) -> Any:
    first, last = (helper._get_const(b, "i", "bound") for b in (low, high))
    return _rounded(g, x, scale, zero, first, last, helper._get_const(axis, "i", "axis"))


# ---- quantized tensors ----


def _of_quantized(*names: str, since: int = 10) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that export operators of quantized tensors."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        f.takes_quantized = True  # type: ignore[attr-defined]
        return symbolic(*names, since=since)(f)

    return register


def _zero_of(g: Any, zero: Any, dtype: Any) -> Any:
    """A zero point as one of the integers that a quantized type has."""
    kind = JitScalarType(helper._get_const(dtype, "i", "dtype")).dtype()
    if kind not in _INTEGERS:
        helper._onnx_unsupported(f"quantize to {kind}, which has no form in ONNX")
    return g.cast(zero, _INTEGERS[kind])


@_of_quantized("quantize_per_tensor")
def quantize_per_tensor(g: Any, x: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    return _quantized.quantize_helper(g, x, scale, _zero_of(g, zero, dtype))


@_of_quantized("quantize_per_channel", since=13)
def quantize_per_channel(g: Any, x: Any, scales: Any, zeros: Any, axis: Any, dtype: Any) -> Any:
    return _quantized.quantize_helper(g, x, scales, _zero_of(g, zeros, dtype), axis)


@_of_quantized("dequantize")
def dequantize(g: Any, x: Any) -> Any:
    return _quantized.dequantize_helper(g, x)[0] if _quantized.is_quantized(x) else x


@_of_quantized("int_repr")
def int_repr(g: Any, x: Any) -> Any:
    return next(iter(x.node().inputs()))


def _floats(g: Any, x: Any) -> Any:
    return _quantized.dequantize_helper(g, x)[0]


def _constant(g: Any, t: Any) -> Any:
    """A quantized tensor that does not change."""
    if t.dtype not in _INTEGERS:
        helper._onnx_unsupported(f"weights of type {t.dtype}, which has no form in ONNX")
    kind = _INTEGERS[t.dtype]
    integers = g.constant(t.int_repr())
    if t.qscheme() == torch.per_tensor_affine:
        return _quantized.packed(g, integers, g.constant(t.q_scale(), torch.float32), g.constant(t.q_zero_point(), kind))
    if g.opset < 13:
        helper._onnx_opset_unsupported("weights with scales of channels", g.opset, 13)
    scales, zeros = t.q_per_channel_scales(), t.q_per_channel_zero_points()
    return _quantized.packed(g, integers, g.constant(scales, torch.float32), g.constant(zeros, kind), g.constant(t.q_per_channel_axis()))


def _weights(g: Any, x: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """The floats of an input, of a weight and of a bias, None where there is none."""
    floats, scale, _, _ = _quantized.dequantize_helper(g, x)
    weights, weight_scale, _, axis = _quantized.dequantize_helper(g, _constant(g, weight))
    if bias is None:
        return floats, weights, None
    along = None if axis is None else g.constant(0)
    return floats, weights, _floats(g, _quantized.requantize_bias_helper(g, g.constant(bias.detach()), scale, weight_scale, along))


def _parameters(packed: Any) -> Any:
    """The packed parameters that a value of the program is."""
    found = packed.node().output().toIValue() if packed.node().kind() == "prim::Constant" else None
    if found is None:
        helper._onnx_unsupported("a quantized layer whose parameters are not constants: trace or freeze the module", packed)
    return found


def _result(g: Any, name: str, made: Any, scale: Any, zero: Any) -> Any:
    """The quantized result of an operator, above zero where its name says so."""
    return _quantized.quantize_helper(g, g.op("Relu", made) if name.endswith("_relu") else made, scale, zero)


def _linear(name: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, packed: Any, scale: Any, zero: Any) -> Any:
        weight, bias = torch.ops.quantized.linear_unpack(_parameters(packed))
        return _result(g, name, of_floats(g, *_weights(g, x, weight, bias)), scale, zero)

    return export


def _convolution(name: str, dims: int) -> Callable[..., Any]:
    def export(g: Any, x: Any, packed: Any, scale: Any, zero: Any) -> Any:
        found = _parameters(packed)
        weight, bias = getattr(torch.ops.quantized, f"conv{dims}d_unpack")(found)
        stride, padding, dilation = (list(getattr(found, what)())[-dims:] for what in ("stride", "padding", "dilation"))
        floats = _weights(g, x, weight, bias)
        made = _convolved(g, floats[0], floats[1], g.none() if bias is None else floats[2], stride, padding, dilation, False, [0] * dims, found.groups())
        return _result(g, name, made, scale, zero)

    return export


for _name in ("linear", "linear_relu"):
    _of_quantized("quantized::" + _name)(_linear(_name))
for _dims in (1, 2, 3):
    for _name in (f"conv{_dims}d", f"conv{_dims}d_relu"):
        _of_quantized("quantized::" + _name)(_convolution(_name, _dims))


def _pairwise(name: str, op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, other: Any, scale: Any, zero: Any) -> Any:
        return _result(g, name, g.op(op, _floats(g, x), _floats(g, other)), scale, zero)

    return export


for _name, _op in (("add", "Add"), ("add_relu", "Add"), ("mul", "Mul"), ("mul_relu", "Mul")):
    _of_quantized("quantized::" + _name)(_pairwise(_name, _op))


def _joined(name: str) -> Callable[..., Any]:
    def export(g: Any, tensors: Any, dim: Any, scale: Any, zero: Any) -> Any:
        parts = helper._unpack_list(tensors)
        made = g.op("Concat", *(_floats(g, x) for x in parts), axis_i=helper._get_const(dim, "i", "dim"))
        _, first_scale, first_zero = list(parts[0].node().inputs())[:3]
        return _result(g, name, made, *(own if helper._is_none(given) else given for given, own in ((scale, first_scale), (zero, first_zero))))

    return export


for _name in ("cat", "cat_relu"):
    _of_quantized("quantized::" + _name)(_joined(_name))


def _of_operator(name: str, given: Callable[..., list[Any]]) -> Callable[..., Any]:
    """Exports an operator as that of floats with the same name: given has its arguments behind the first one."""

    def export(g: Any, x: Any, *args: Any) -> Any:
        *rest, scale, zero = args
        function = _registry.find("aten::" + name, g.opset)
        if function is None:
            helper._onnx_unsupported(f"quantized::{name} at opset version {g.opset}", x)
        return _quantized.quantize_helper(g, function(g, _floats(g, x), *given(g, *rest)), scale, zero)

    return export


def _batch_norm(g: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: Any) -> list[Any]:
    return [weight, bias, mean, var, g.constant(False), g.constant(0.0), eps, g.constant(False)]


_ARGUMENTS: dict[str, Callable[..., list[Any]]] = {
    "hardswish": lambda g: [],
    "softmax": lambda g, dim: [dim, g.none()],
    "batch_norm": _batch_norm,
    "sigmoid": lambda g: [],
    "leaky_relu": lambda g, slope, inplace: [slope],
    "layer_norm": lambda g, shape, weight, bias, eps: [shape, weight, bias, eps, g.constant(False)],
    "group_norm": lambda g, groups, weight, bias, eps: [groups, weight, bias, eps, g.constant(False)],
    "instance_norm": lambda g, weight, bias, eps: [
        weight, bias, g.none(), g.none(), g.constant(True), g.constant(0.0), eps, g.constant(False)
    ],
}  # fmt: skip
for _name, _given in _ARGUMENTS.items():
    _of_quantized("quantized::" + _name)(_of_operator(_name, _given))
for _dims in (1, 2, 3):
    _of_quantized(f"quantized::batch_norm{_dims}d")(_of_operator("batch_norm", _batch_norm))


@_of_quantized("quantized::relu6")
def relu6(g: Any, x: Any, inplace: Any = None) -> Any:
    made, scale, zero, _ = _quantized.dequantize_helper(g, x)
    return _quantized.quantize_helper(g, g.op("Clip", made, g.constant(0.0), g.constant(6.0)) if g.opset >= 11 else g.op("Clip", made, min_f=0.0, max_f=6.0), scale, zero)
