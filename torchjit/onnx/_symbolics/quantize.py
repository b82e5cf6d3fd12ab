"""Rounding of floats to integers and back."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic

_RANGES = {(0, 255): torch.uint8, (-128, 127): torch.int8, (0, 127): torch.uint8}


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
