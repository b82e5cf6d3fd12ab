"""torch.ao.nn.quantized.functional: functions of quantized tensors. Each raises ValueError for tensors that are not quantized."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import Tensor
from torchjit.nn.modules.utils import _pair, _single, _triple

# ruff: noqa: A002

__all__ = [
    "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "conv1d", "conv2d", "conv3d", "interpolate", "linear",
    "max_pool1d",
    "max_pool2d", "celu", "leaky_relu", "hardtanh", "hardswish", "threshold", "elu", "hardsigmoid", "clamp", "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


def _check(input: Tensor, name: str) -> None:
    if not input.is_quantized:
        raise ValueError(f"Input to 'quantized.{name}' must be quantized!")


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Tensor:  # fmt: skip
    """F.avg_pool2d; results have the scale of the input."""
    _check(input, "avg_pool2d")
    return F.avg_pool2d(
        input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Tensor:  # fmt: skip
    """F.avg_pool3d; results have the scale of the input."""
    _check(input, "avg_pool3d")
    return F.avg_pool3d(
        input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """F.adaptive_avg_pool2d; results have the scale of the input."""
    _check(input, "functional.adaptive_avg_pool2d")
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """F.adaptive_avg_pool3d; results have the scale of the input."""
    _check(input, "functional.adaptive_avg_pool3d")
    return F.adaptive_avg_pool3d(input, output_size)


def _conv(
    dim: int, input: Tensor, weight: Tensor, bias: Any, sizes: tuple[Any, Any, Any], groups: int, padding_mode: str, scale: float,
    zero_point: int,
    dtype: Any,
) -> Tensor:  # fmt: skip
    if padding_mode != "zeros":
        raise NotImplementedError("Only zero-padding is supported!")
    if input.dtype != torch.quint8:
        raise NotImplementedError("Only torch.quint8 is supported for activation tensor!")
    if weight.dtype != torch.qint8:
        raise NotImplementedError("Only torch.qint8 is supported for weight tensor!")
    if input.ndim != dim + 2:
        raise ValueError(f"Input shape must be `{('(N, C, L)', '(N, C, H, W)', '(N, C, D, H, W)')[dim - 1]}`!")
    parse = (_single, _pair, _triple)[dim - 1]
    packed = getattr(torch.ops.quantized, f"conv{dim}d_prepack")(weight, bias, *(list(parse(size)) for size in sizes), groups)
    return getattr(torch.ops.quantized, f"conv{dim}d")(input, packed, scale, zero_point)


def conv1d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0, zero_point: int = 0, dtype: Any = torch.quint8,
) -> Tensor:  # fmt: skip
    """A convolution of quint8 with a weight of qint8; results have the given scale.

    Raises NotImplementedError for other types and padding modes.
    """
    return _conv(1, input, weight, bias, (stride, padding, dilation), groups, padding_mode, scale, zero_point, dtype)


def conv2d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0, zero_point: int = 0, dtype: Any = torch.quint8,
) -> Tensor:  # fmt: skip
    """A convolution of quint8 with a weight of qint8; results have the given scale.

    Raises NotImplementedError for other types and padding modes.
    """
    return _conv(2, input, weight, bias, (stride, padding, dilation), groups, padding_mode, scale, zero_point, dtype)


def conv3d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0, zero_point: int = 0, dtype: Any = torch.quint8,
) -> Tensor:  # fmt: skip
    """A convolution of quint8 with a weight of qint8; results have the given scale.

    Raises NotImplementedError for other types and padding modes.
    """
    return _conv(3, input, weight, bias, (stride, padding, dilation), groups, padding_mode, scale, zero_point, dtype)


def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None) -> Tensor:
    """F.interpolate; results have the scale of the input."""
    _check(input, "interpolate")
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def linear(input: Tensor, weight: Tensor, bias: Any = None, scale: float | None = None, zero_point: int | None = None) -> Tensor:
    """A linear layer with a weight of qint8; results have the given scale, or that of the input."""
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return torch.ops.quantized.linear(input, torch.ops.quantized.linear_prepack(weight, bias), scale, zero_point)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """F.max_pool1d without indices. Raises NotImplementedError where they are wanted."""
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """F.max_pool2d without indices. Raises NotImplementedError where they are wanted."""
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """F.celu; results have the given scale."""
    _check(input, "celu")
    return torch.ops.quantized.celu(input, scale, zero_point, alpha)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """F.leaky_relu; results have the given scale, or that of the input."""
    if scale is not None and zero_point is not None:
        if inplace:
            raise AssertionError("Cannot rescale with `inplace`")
        return torch.ops.quantized.leaky_relu(input, negative_slope, inplace, scale, zero_point)
    return F.leaky_relu(input, negative_slope, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """F.hardtanh; results have the scale of the input."""
    _check(input, "hardtanh")
    return F.hardtanh(input, min_val, max_val, inplace)


def hardswish(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """F.hardswish; results have the given scale."""
    _check(input, "hardswish")
    return torch.ops.quantized.hardswish(input, scale, zero_point)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """F.threshold; results have the scale of the input."""
    _check(input, "threshold")
    return torch.ops.quantized.threshold(input, threshold, value)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """F.elu; results have the given scale."""
    _check(input, "elu")
    return torch.ops.quantized.elu(input, scale, zero_point, alpha)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """F.hardsigmoid; results have steps of 1/256."""
    _check(input, "hardsigmoid")
    return F.hardsigmoid(input, inplace)


def clamp(input: Tensor, min_: float, max_: float) -> Tensor:
    """torch.clamp; results have the scale of the input."""
    _check(input, "clamp")
    return torch.clamp(input, min_, max_)


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None) -> Tensor:
    """The former name of interpolate."""
    warnings.warn("nn.quantized.functional.upsample is deprecated. Use nn.quantized.functional.interpolate instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of interpolate between pixels, corners aligned."""
    warnings.warn("nn.quantized.functional.upsample_bilinear is deprecated. Use nn.quantized.functional.interpolate instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The former name of interpolate with the nearest pixel."""
    warnings.warn("nn.quantized.functional.upsample_nearest is deprecated. Use nn.quantized.functional.interpolate instead.")
    return interpolate(input, size, scale_factor, mode="nearest")
