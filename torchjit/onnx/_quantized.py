"""Quantized tensors in graphs of ONNX: tuples of the integers, the scale, the zero point and, with those of channels, the dimension.

Operators compute with floats between a DequantizeLinear and a QuantizeLinear; runtimes have kernels of integers for the three together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _C, _native
from torchjit.onnx import _fold, _infer, errors


def is_quantized(value: Any) -> bool:
    """Whether a value is a quantized tensor, or a list of values with one."""
    if not isinstance(value, _C.Value):
        return False
    kind = value.node().kind()
    if kind == "prim::ListConstruct":
        return any(is_quantized(v) for v in value.node().inputs())
    return kind == "prim::TupleConstruct" and value.node().hasAttribute("quantized")


def dequantize_helper(g: Any, qtensor: Any, qdtype: Any = None) -> tuple[Any, Any, Any, Any]:
    """The floats of a quantized tensor, its scale, its zero point and the dimension of its channels, None where it has one scale. qdtype is
    the type of the integers in ONNX, that which they have where it is None."""
    integers, scale, zero, *rest = qtensor.node().inputs()
    axis = rest[0] if rest else None
    at = None if axis is None else int(_fold.constant_of(axis))
    if qdtype is not None:
        integers, zero = (g.op("Cast", v, to_i=qdtype) for v in (integers, zero))
    return g.op("DequantizeLinear", integers, scale, zero, axis_i=at), scale, zero, axis


def quantize_helper(g: Any, tensor: Any, scale: Any, zero_point: Any, axis: Any = None) -> Any:
    """A quantized tensor of floats; the type of the zero point, uint8 where it is an integer of another size, is that of the integers. axis
    is the dimension of the channels, where scale and zero_point have an element for each of them."""
    if axis is not None and g.opset < 13:
        raise errors.SymbolicValueError(f"scales of channels have a form from opset version 13 on, not at {g.opset}", tensor)
    scale = _with_type(g, scale, torch.float32)
    if _infer.info(zero_point)[0] not in (torch.uint8, torch.int8):
        zero_point = _with_type(g, zero_point, torch.uint8)
    at = None if axis is None else int(_fold.constant_of(axis))
    integers = g.op("QuantizeLinear", tensor, scale, zero_point, axis_i=at)
    return packed(g, integers, scale, zero_point, axis)


def packed(g: Any, integers: Any, scale: Any, zero_point: Any, axis: Any = None) -> Any:
    """The quantized tensor with these integers."""
    parts = [integers, scale, zero_point] + ([] if axis is None else [axis])
    node = g.graph.insertNode(g.graph.create("prim::TupleConstruct", parts, 1))
    node.i_("quantized", 1)
    node.output().setType(_C.TupleType([v.type() for v in parts]))
    return node.output()


def requantize_bias_helper(g: Any, bias: Any, input_scale: Any, weight_scale: Any, axis: Any = None) -> Any:
    """A bias as a quantized tensor of 32-bit integers, whose scale is the product of those of the input and of the weight."""
    scale = g.op("Mul", weight_scale, input_scale)
    integers = g.cast(g.op("Round", g.op("Div", bias, scale)), torch.int32)
    shape = g.op("Shape", scale)
    zero = g.op("ConstantOfShape", shape, value_t=torch.zeros(1, dtype=torch.int32)) if _infer.info(scale)[1] else g.constant(0, torch.int32)
    return packed(g, integers, scale, zero, axis)


def _with_type(g: Any, value: Any, dtype: Any) -> Any:
    return value if _infer.info(value)[0] == dtype else g.cast(value, dtype)


def quantized_args(*arg_q_descriptors: bool, scale: float | None = None, zero_point: int | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of symbolic functions of floats that has them take quantized tensors: those among the arguments that are marked are
    dequantized, and the result is quantized with scale and zero_point, or where these are None as the first of them is. Without a quantized
    tensor the function is called as it is."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def wrapper(g: Any, *args: Any, **kwargs: Any) -> Any:
            marked = [bool(d) and is_quantized(a) for a, d in zip(args, (*arg_q_descriptors, *[False] * len(args)))]
            if not any(marked):
                return f(g, *args, **kwargs)
            return _around(g, lambda *given: f(g, *given, **kwargs), args, marked, scale, zero_point)

        wrapper.takes_quantized = True  # type: ignore[attr-defined]
        return wrapper

    return decorate


def through(g: Any, f: Callable[..., Any], args: list[Any], kind: str) -> Any:
    """What the symbolic function of an operator of floats makes of arguments among which are quantized tensors: floats are quantized as the
    operator's results are, which its record says, or else as the first of these, and what is no float stays as it is."""
    integers = _infer.info(next(iter(_first(args).node().inputs())))[0]
    given, scale, zero_point = _native.operator_quantization(kind, integers == torch.int8)
    own = (scale, zero_point) if given else (None, None)
    return _around(g, lambda *floats: f(g, *floats), args, [is_quantized(a) for a in args], *own)


def _first(values: Any) -> Any:
    """The first quantized tensor among values."""
    for value in values:
        if is_quantized(value):
            return _first(value.node().inputs()) if value.node().kind() == "prim::ListConstruct" else value
    raise AssertionError("no value is quantized")


def _around(g: Any, f: Callable[..., Any], args: Any, marked: list[bool], scale: Any, zero_point: Any) -> Any:
    first: list[Any] = []

    def floats(value: Any) -> Any:
        if value.node().kind() == "prim::ListConstruct":
            return g.list([floats(v) if is_quantized(v) else v for v in value.node().inputs()], _C.ListType.ofTensors())
        made, *found = dequantize_helper(g, value)
        first.append(found)
        return made

    results = f(*[floats(a) if m else a for a, m in zip(args, marked)])
    its_scale, its_zero, axis = first[0]
    if scale is not None:
        its_scale = g.constant(scale, torch.float32)
    if zero_point is not None:
        its_zero = g.constant(zero_point, _infer.info(its_zero)[0])

    def quantized(value: Any) -> Any:
        if value.node().kind() == "prim::ListConstruct":
            return g.list([quantized(v) for v in value.node().inputs()], _C.ListType.ofTensors())
        dtype = _infer.info(value)[0]
        if dtype is not None and not dtype.is_floating_point:
            return value
        if axis is not None:
            raise errors.SymbolicValueError("operators on tensors with scales of channels have no form in ONNX", value)
        return quantize_helper(g, value, its_scale, its_zero)

    return tuple(quantized(r) for r in results) if isinstance(results, (tuple, list)) else quantized(results)
