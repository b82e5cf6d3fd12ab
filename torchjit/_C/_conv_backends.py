"""torch._C._ConvBackend: which kernel of PyTorch's a convolution would run by."""

from __future__ import annotations

import enum
from typing import Any

_ConvBackend = enum.IntEnum(
    "_ConvBackend",
    "CudaDepthwise2d CudaDepthwise3d Cudnn CudnnTranspose Empty Miopen MiopenDepthwise MiopenTranspose Mkldnn MkldnnEmpty NnpackSpatial Overrideable "
    "Slow2d Slow3d SlowDilated2d SlowDilated3d SlowTranspose2d SlowTranspose3d Winograd3x3Depthwise Xnnpack2d",
    start=0,
    module="torch._C",
)


def _select_conv_backend(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int, bias_sizes: Any = None
) -> Any:
    """The kernel for a convolution on the processor, in a PyTorch without MKL-DNN as this library is one."""
    if input.numel() == 0 or weight.numel() == 0:
        return _ConvBackend.Empty
    solid = input.dim() == 5
    if input.dim() not in (3, 4, 5):
        raise RuntimeError("unsupported ConvNd parameters")
    if transposed:
        return _ConvBackend.SlowTranspose3d if solid else _ConvBackend.SlowTranspose2d
    if any(d != 1 for d in dilation):
        return _ConvBackend.SlowDilated3d if solid else _ConvBackend.SlowDilated2d
    return _ConvBackend.Slow3d if solid else _ConvBackend.Slow2d
