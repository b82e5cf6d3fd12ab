"""Functions of single elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic


def as_float(g: Any, x: Any) -> Any:
    """A value with floating point elements: others are cast to the default type."""
    dtype = helper._dtype(x)
    return x if dtype is None or dtype.is_floating_point or dtype.is_complex else g.cast(x, torch.get_default_dtype())


def number(g: Any, value: Any, like: Any) -> Any:
    """A constant with the element type of another value."""
    return g.constant(value, helper._dtype(like) or torch.float32)


def equal(g: Any, x: Any, other: Any) -> Any:
    """Whether elements are equal, which floats have from opset version 11 on."""
    if g.opset < 11 and (helper._is_fp(x) or helper._is_fp(other)):
        return g.op("Not", g.op("Or", g.op("Less", x, other), g.op("Greater", x, other)))
    return g.op("Equal", x, other)


def _unary(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, *rest: Any) -> Any:
        return g.op(op, x)

    return export


def _float_unary(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any) -> Any:
        return g.op(op, as_float(g, x))

    return export


for _name, _op in _native.operators_with("onnx").items():
    symbolic(_name)(_unary(_op))

for _name, _op in _native.operators_with("onnx_float").items():
    symbolic(_name)(_float_unary(_op))


@symbolic("isnan")
def isnan(g: Any, x: Any) -> Any:
    return g.op("IsNaN", as_float(g, x))


@symbolic("isinf", since=10)
def isinf(g: Any, x: Any) -> Any:
    return g.op("IsInf", as_float(g, x))


@symbolic("isfinite", since=10)
def isfinite(g: Any, x: Any) -> Any:
    return g.op("Not", g.op("Or", isnan(g, x), isinf(g, x)))


@symbolic("round", since=11)
def round_(g: Any, x: Any, decimals: Any = None) -> Any:
    places = helper._maybe_get_const(decimals, "i") if decimals is not None else 0
    if not places:
        return g.op("Round", x)
    factor = number(g, 10.0**places, x)
    return g.op("Div", g.op("Round", g.op("Mul", x, factor)), factor)


@symbolic("logical_not")
def logical_not(g: Any, x: Any) -> Any:
    return g.op("Not", g.cast(x, torch.bool) if helper._dtype(x) != torch.bool else x)


@symbolic("bitwise_not", "__not__")
def bitwise_not(g: Any, x: Any) -> Any:
    if helper._dtype(x) not in (torch.bool, None):
        helper._onnx_unsupported("bitwise_not of elements other than bool", x)
    return g.op("Not", x)


def of_constants(name: str, build: Callable[..., Any], since: int = 9) -> None:
    """Exports a function of floats that is made of others: build gets the context, the value and a maker of constants like it."""

    def export(g: Any, x: Any, *rest: Any) -> Any:
        x = as_float(g, x)
        return build(g, x, lambda v: number(g, v, x))

    symbolic(name, since=since)(export)


of_constants("rsqrt", lambda g, x, c: g.op("Div", c(1.0), g.op("Sqrt", x)))
of_constants("log2", lambda g, x, c: g.op("Div", g.op("Log", x), c(math.log(2))))
of_constants("log10", lambda g, x, c: g.op("Div", g.op("Log", x), c(math.log(10))))
of_constants("log1p", lambda g, x, c: g.op("Log", g.op("Add", c(1.0), x)))
of_constants("expm1", lambda g, x, c: g.op("Sub", g.op("Exp", x), c(1.0)))
of_constants("erfc", lambda g, x, c: g.op("Sub", c(1.0), g.op("Erf", x)))
of_constants("log_sigmoid", lambda g, x, c: g.op("Log", g.op("Sigmoid", x)))
of_constants("silu", lambda g, x, c: g.op("Mul", x, g.op("Sigmoid", x)))
of_constants("mish", lambda g, x, c: g.op("Mul", x, g.op("Tanh", g.op("Softplus", x))))
of_constants("trunc", lambda g, x, c: g.op("Mul", g.op("Sign", x), g.op("Floor", g.op("Abs", x))))


@symbolic("signbit")
def signbit(g: Any, x: Any) -> Any:
    """The reciprocals of the two zeros tell them apart."""
    negative = g.op("Less", x, number(g, 0, x))
    return negative if _is_integral(x) else g.op("Or", negative, g.op("Less", g.op("Reciprocal", x), number(g, 0, x)))


@symbolic("copysign")
def copysign(g: Any, x: Any, other: Any) -> Any:
    x = g.op("Abs", as_float(g, x))
    return g.op("Where", signbit(g, other), g.op("Neg", x), x)


@symbolic("square")
def square(g: Any, x: Any) -> Any:
    return g.op("Mul", x, x)


# ---- two operands ----


def _scaled(g: Any, other: Any, alpha: Any) -> Any:
    return other if alpha is None or helper._scalar(alpha) == 1 else g.op("Mul", other, alpha)


def _boolean(*values: Any) -> bool:
    return all(helper._dtype(v) == torch.bool for v in values)


@symbolic("add")
def add(g: Any, x: Any, other: Any, alpha: Any = None) -> Any:
    if helper._is_list(x) and helper._is_list(other):
        return g.list([*helper._unpack_list(x), *helper._unpack_list(other)], x.type())
    if _boolean(x, other):
        return g.op("Or", x, other)
    return g.op("Add", x, _scaled(g, other, alpha))


@symbolic("sub", "subtract")
def sub(g: Any, x: Any, other: Any, alpha: Any = None) -> Any:
    return g.op("Sub", x, _scaled(g, other, alpha))


@symbolic("rsub")
def rsub(g: Any, x: Any, other: Any, alpha: Any = None) -> Any:
    return g.op("Sub", other, _scaled(g, x, alpha))


@symbolic("mul", "multiply")
def mul(g: Any, x: Any, other: Any) -> Any:
    if helper._is_list(x):
        times = helper._get_const(other, "i", "other")
        return g.list(helper._unpack_list(x) * times, x.type())
    if _boolean(x, other):
        return g.op("And", x, other)
    return g.op("Mul", x, other)


def _is_integral(x: Any) -> bool:
    dtype = helper._dtype(x)
    return dtype is not None and not dtype.is_floating_point and not dtype.is_complex


@symbolic("div", "divide")
def div(g: Any, x: Any, other: Any, rounding_mode: Any = None) -> Any:
    mode = None if helper._is_none(rounding_mode) else helper._parse_arg(rounding_mode, "s")
    if mode == "floor":
        return floor_divide(g, x, other)
    if mode == "trunc":
        quotient = true_divide(g, x, other) if not (_is_integral(x) and _is_integral(other)) else g.op("Div", x, other)
        return (
            quotient
            if _is_integral(quotient)
            else g.op("Mul", g.op("Sign", quotient), g.op("Floor", g.op("Abs", quotient)))
        )
    return true_divide(g, x, other)


@symbolic("true_divide")
def true_divide(g: Any, x: Any, other: Any) -> Any:
    if _is_integral(x) and _is_integral(other):
        x, other = as_float(g, x), as_float(g, other)
    return g.op("Div", x, other)


@symbolic("floor_divide", "floordiv", "__floordiv__")
def floor_divide(g: Any, x: Any, other: Any) -> Any:
    """The quotient of integers is rounded towards zero in ONNX: one less where it is negative and not exact."""
    quotient = g.op("Div", x, other)
    if not _is_integral(quotient):
        return g.op("Floor", quotient)
    zero = number(g, 0, quotient)
    negative = g.op("Xor", g.op("Less", x, zero), g.op("Less", other, zero))
    rest = g.op("Sub", x, g.op("Mul", quotient, other))
    less = g.op("And", negative, g.op("Not", g.op("Equal", rest, zero)))
    return g.op("Sub", quotient, g.cast(less, helper._dtype(quotient)))


@symbolic("remainder")
def remainder(g: Any, x: Any, other: Any) -> Any:
    if _is_integral(x) and _is_integral(other) and g.opset >= 10:
        return g.op("Mod", x, other, fmod_i=0)
    return g.op("Sub", x, g.op("Mul", floor_divide(g, x, other), other))


@symbolic("fmod", since=10)
def fmod(g: Any, x: Any, other: Any) -> Any:
    return g.op("Mod", x, other, fmod_i=1)


@symbolic("float_power")
def float_power(g: Any, x: Any, exponent: Any) -> Any:
    return g.op("Pow", g.cast(x, torch.float64), g.cast(exponent, torch.float64))


@symbolic("pow")
def pow_(g: Any, x: Any, exponent: Any) -> Any:
    if not _is_integral(exponent):
        x = as_float(g, x)
    if helper._dtype(exponent) != helper._dtype(x) and helper._dtype(x) is not None:
        if helper._get_tensor_rank(exponent) == 0 or g.opset < 12:
            exponent = g.cast(exponent, helper._dtype(x))
    if g.opset < 12 and _is_integral(x):
        return g.cast(g.op("Pow", g.cast(x, torch.float32), g.cast(exponent, torch.float32)), helper._dtype(x))
    return g.op("Pow", x, exponent)


@symbolic("maximum")
def maximum(g: Any, x: Any, other: Any) -> Any:
    """Integers have Max and Min from opset version 12 on: comparisons find them before it."""
    if g.opset < 12 and _is_integral(x) and _is_integral(other):
        return g.op("Where", g.op("Greater", x, other), x, other)
    return g.op("Max", x, other)


@symbolic("minimum")
def minimum(g: Any, x: Any, other: Any) -> Any:
    if g.opset < 12 and _is_integral(x) and _is_integral(other):
        return g.op("Where", g.op("Less", x, other), x, other)
    return g.op("Min", x, other)


@symbolic("atan2", "arctan2")
def atan2(g: Any, x: Any, other: Any) -> Any:
    """The angle of a vector, by the arctangent of the quotient and the quadrant; that of none is zero."""
    zero, pi = number(g, 0.0, x), number(g, math.pi, x)
    angle = g.op("Atan", g.op("Div", x, other))
    shifted = g.op("Where", g.op("Less", x, zero), g.op("Sub", angle, pi), g.op("Add", angle, pi))
    angle = g.op("Where", g.op("Less", other, zero), shifted, angle)
    return g.op("Where", g.op("And", equal(g, x, zero), equal(g, other, zero)), x, angle)


@symbolic("addcmul")
def addcmul(g: Any, x: Any, a: Any, b: Any, value: Any = None) -> Any:
    return g.op("Add", x, _scaled(g, g.op("Mul", a, b), value))


@symbolic("lerp")
def lerp(g: Any, x: Any, end: Any, weight: Any) -> Any:
    return g.op("Add", x, g.op("Mul", weight, g.op("Sub", end, x)))


# ---- bounds ----


def clip(g: Any, x: Any, low: Any, high: Any) -> Any:
    """Clip with bounds as attributes or, from opset version 11 on, as inputs."""
    if g.opset < 11:
        bounds = {"min_f": low, "max_f": high}
        return g.op("Clip", x, **{k: float(helper._scalar(v)) for k, v in bounds.items() if v is not None})
    return g.op("Clip", x, low, high) if high is not None else g.op("Clip", x, low)


@symbolic("clamp", "clip")
def clamp(g: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    given = [None if helper._is_none(b) else b for b in (low, high)]
    dtype = helper._dtype(x)
    if dtype is not None and not dtype.is_floating_point and any(b is not None and helper._is_fp(b) for b in given):
        x = as_float(g, x)
        dtype = helper._dtype(x)
    cast = [
        None if b is None else g.cast(b, dtype) if dtype is not None and helper._dtype(b) != dtype else b for b in given
    ]
    if all(
        b is None or helper._get_tensor_rank(b) == 0 and (g.opset >= 11 or helper._scalar(b) is not None) for b in cast
    ):
        if g.opset >= 12 or helper._is_fp(x):
            return clip(g, x, *cast)
    for limit, bound in zip((maximum, minimum), cast):
        x = x if bound is None else limit(g, x, bound)
    return x


@symbolic("clamp_min")
def clamp_min(g: Any, x: Any, low: Any) -> Any:
    return clamp(g, x, low, None)


@symbolic("clamp_max")
def clamp_max(g: Any, x: Any, high: Any) -> Any:
    return clamp(g, x, None, high)
