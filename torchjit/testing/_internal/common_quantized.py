"""What tests of quantized operators share: the engines, and quantization written with NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import torchjit as torch
from torchjit.testing._internal._conditions import *  # noqa: F403

supported_qengines = [name for name in torch.backends.quantized.supported_engines if name != "none"]


@contextmanager
def override_quantized_engine(qengine: str) -> Iterator[None]:
    """A context with another engine."""
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = qengine
    try:
        yield
    finally:
        torch.backends.quantized.engine = before


def override_qengines(qfunction: Callable[..., Any]) -> Callable[..., None]:
    """A decorator: a test runs with each engine."""

    @functools.wraps(qfunction)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        for qengine in supported_qengines:
            with override_quantized_engine(qengine):
                qfunction(*args, **kwargs)

    return wrapper


@contextmanager
def override_cpu_allocator_for_qnnpack(qengine_is_qnnpack: bool) -> Iterator[None]:
    """A context in which memory is allocated as ever: no engine here reads beyond its tensors."""
    yield


def _is(name: str) -> Callable[[], bool]:
    return lambda: torch.backends.quantized.engine == name


qengine_is_fbgemm = _is("fbgemm")
qengine_is_qnnpack = _is("qnnpack")
qengine_is_onednn = _is("onednn")
qengine_is_x86 = _is("x86")


def _conv_output_shape(input_size: Any, kernel_size: Any, padding: Any, stride: Any, dilation: Any, output_padding: Any = 0) -> Any:
    """The size of an image behind a convolution."""
    return np.floor((input_size + 2 * padding - kernel_size - (kernel_size - 1) * (dilation - 1)) / stride) + 2 * output_padding + 1


def _quantize(x: Any, scale: float, zero_point: int, qmin: int | None = None, qmax: int | None = None, dtype: Any = np.uint8) -> Any:
    """Numbers as integers of a scale."""
    limits = np.iinfo(dtype)
    rounded = np.round(x / scale + zero_point).astype(np.int64)
    return np.clip(rounded, limits.min if qmin is None else qmin, limits.max if qmax is None else qmax).astype(dtype)


def _dequantize(qx: Any, scale: float, zero_point: int) -> Any:
    """The numbers of integers of a scale."""
    return (qx.astype(float) - zero_point) * scale


def _requantize(x: Any, multiplier: float, zero_point: int, qmin: int = 0, qmax: int = 255, qtype: Any = np.uint8) -> Any:
    """Integers in another scale."""
    return np.clip((x * multiplier).round() + zero_point, qmin, qmax).astype(qtype)


def _calculate_dynamic_qparams(X: Any, dtype: Any, reduce_range: bool = False, qscheme: Any = torch.per_tensor_affine) -> list[Any]:
    """The scale and the zero point that hold all numbers of a tensor."""
    X = X.numpy() if isinstance(X, torch.Tensor) else X
    signed, bits = dtype == torch.qint8, 7 if reduce_range else 8
    symmetric = qscheme == torch.per_tensor_symmetric
    steps = 2**bits - 1
    qmin = -(2 ** (bits - 1)) if signed else 0
    qmax = qmin + steps
    low, high = min(float(X.min()), 0.0), max(float(X.max()), 0.0)
    if low == high:
        return [1.0, 0]
    if symmetric:
        largest = max(high, -low)
        return [max(float(np.float64(largest / ((qmax - qmin) / 2))), float(np.finfo(np.float32).eps)), 0 if signed else 128]
    scale = max((high - low) / (qmax - qmin), float(np.finfo(np.float32).eps))
    zero_point = int(round(max(qmin, min(qmax, qmin - round(low / scale)))))
    return [float(scale), zero_point]


def _calculate_dynamic_per_channel_qparams(X: Any, dtype: Any) -> tuple[Any, Any]:
    """Those of each row."""
    rows = X.numpy() if isinstance(X, torch.Tensor) else X
    limits = torch.iinfo(dtype)
    steps = limits.max - limits.min
    scale, zero_point = np.zeros(rows.shape[0], dtype=np.float64), np.zeros(rows.shape[0], dtype=np.int64)
    for i in range(rows.shape[0]):
        low, high = min(float(rows[i].min()), 0.0), max(float(rows[i].max()), 0.0)
        if low == high:
            scale[i], zero_point[i] = 1.0, 0
            continue
        scale[i] = max((high - low) / steps, np.finfo(np.float32).eps)
        zero_point[i] = int(round(max(limits.min, min(limits.max, limits.min - round(low / scale[i])))))
    return scale, zero_point


def _snr(x: Any, x_hat: Any) -> Any:
    """How large a signal is beside what another one differs from it by: the norms of both, and their ratio in decibels; lists for lists."""
    if isinstance(x, (list, tuple)):
        assert len(x) == len(x_hat)
        return [_snr(a, b) for a, b in zip(x, x_hat)]
    x, x_hat = (t.dequantize() if t.is_quantized else t for t in (x, x_hat))
    noise, signal = (x - x_hat).norm(), x.norm()
    if noise == 0:
        return 0.0, float("inf"), float("inf")
    ratio = signal / noise
    return noise, ratio, 20 * ratio.log10()


def _permute_to_axis_zero(X: Any, axis: int) -> tuple[Any, list[int]]:
    """The tensor with an axis in front, and the order of its dimensions."""
    order = list(range(X.dim()))
    order[axis], order[0] = 0, axis
    return X.permute(tuple(order)), order


def _fake_quantize_per_channel_affine_reference(X: Any, per_channel_scale: Any, per_channel_zero_point: Any, axis: int, quant_min: int, quant_max: int) -> Any:
    """The numbers after they were integers of the scale of their channel."""
    dtype = X.dtype
    moved, order = _permute_to_axis_zero(X.to(torch.float32), axis)
    result = torch.zeros_like(moved)
    for i in range(moved.size(0)):
        steps = torch.round(moved[i] * (1.0 / per_channel_scale[i]) + per_channel_zero_point[i])
        result[i] = (torch.clamp(steps, quant_min, quant_max) - per_channel_zero_point[i]) * per_channel_scale[i]
    return result.permute(tuple(order)).to(dtype)


def _fake_quantize_per_channel_affine_grad_reference(
    dY: Any, X: Any, per_channel_scale: Any, per_channel_zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    """The gradient of that: zero outside of the limits."""
    dtype = X.dtype
    moved, order = _permute_to_axis_zero(X.to(torch.float32), axis)
    steps = torch.zeros_like(moved)
    for i in range(moved.size(0)):
        steps[i] = torch.round(moved[i] * (1.0 / per_channel_scale[i]) + per_channel_zero_point[i])
    inside = ((steps >= quant_min) & (steps <= quant_max)).permute(tuple(order))
    return torch.where(inside, dY, torch.zeros_like(dY)).to(dtype)


def to_tensor(X: Any, device: Any) -> Any:
    """A tensor of numbers or an array, on a device."""
    if not isinstance(X, torch.Tensor):
        X = torch.tensor(X)
    return X.to(device=torch.device(device), dtype=torch.float32)
