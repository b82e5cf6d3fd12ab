"""Comparisons, logic and choices between elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.index import nonzero_numpy
from torchjit.onnx._symbolics.pointwise import equal, floor_divide


@symbolic("eq")
def eq(g: Any, x: Any, other: Any) -> Any:
    constants = [helper._constant(v) for v in (x, other)]
    if any(isinstance(c, str) for c in constants) and all(c is not NotImplemented for c in constants):
        return g.constant(constants[0] == constants[1])
    return equal(g, x, other)


@symbolic("ne", "not_equal")
def ne(g: Any, x: Any, other: Any) -> Any:
    return g.op("Not", eq(g, x, other))


def _ordered(g: Any, *values: Any) -> list[Any]:
    return [g.cast(v, torch.int32) if helper._is_bool(v) else v for v in values]


@symbolic("gt", "greater")
def gt(g: Any, x: Any, other: Any) -> Any:
    return g.op("Greater", *_ordered(g, x, other))


@symbolic("lt", "less")
def lt(g: Any, x: Any, other: Any) -> Any:
    return g.op("Less", *_ordered(g, x, other))


@symbolic("ge", "greater_equal")
def ge(g: Any, x: Any, other: Any) -> Any:
    return g.op("GreaterOrEqual", *_ordered(g, x, other)) if g.opset >= 12 else g.op("Not", lt(g, x, other))


@symbolic("le", "less_equal")
def le(g: Any, x: Any, other: Any) -> Any:
    return g.op("LessOrEqual", *_ordered(g, x, other)) if g.opset >= 12 else g.op("Not", gt(g, x, other))


def truth(g: Any, x: Any) -> Any:
    """A value as bools."""
    return x if helper._is_bool(x) else g.cast(x, torch.bool)


def _logical(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, other: Any) -> Any:
        return g.op(op, truth(g, x), truth(g, other))

    return export


def _bitwise(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, other: Any) -> Any:
        if not (helper._is_bool(x) and helper._is_bool(other)):
            helper._onnx_unsupported(f"bitwise {op} of elements other than bool", x)
        return g.op(op, x, other)

    return export


for _op in ("And", "Or", "Xor"):
    symbolic(f"logical_{_op.lower()}")(_logical(_op))
    symbolic(f"bitwise_{_op.lower()}", f"__{_op.lower()}__")(_bitwise(_op))


def _shift(direction: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, other: Any) -> Any:
        """A shift is a product with a power of two, which other types than unsigned ones have."""
        power = g.cast(g.op("Pow", g.constant(2.0), g.cast(other, torch.float32)), helper._dtype(x) or torch.int64)
        return g.op("Mul", x, power) if direction == "LEFT" else floor_divide(g, x, power)

    return export


symbolic("__lshift__", "bitwise_left_shift", "__lshift_")(_shift("LEFT"))
symbolic("__rshift__", "bitwise_right_shift", "__rshift_")(_shift("RIGHT"))


@symbolic("where")
def where(g: Any, condition: Any, x: Any = None, other: Any = None) -> Any:
    if x is None:
        return nonzero_numpy(g, condition)
    return g.op("Where", truth(g, condition), x, other)


@symbolic("masked_fill")
def masked_fill(g: Any, x: Any, mask: Any, value: Any) -> Any:
    value = g.cast(value, helper._dtype(x)) if helper._dtype(x) is not None else value
    return g.op("Where", truth(g, mask), value, x)
