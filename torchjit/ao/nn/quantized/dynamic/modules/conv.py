"""Convolutions whose weight is quantized: the input is quantized on the way, by its own range, and results are floats of it."""

from typing import Any

import torchjit as torch
from torchjit import Tensor
from torchjit.ao.nn.quantized.modules import conv as _conv
from torchjit.nn import functional as F

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class Conv1d(_conv.Conv1d):
    """A convolution over one dimension with a weight of qint8."""

    _NNIQAT_CONV_BN_MODULE = None
    _NNI_CONV_RELU_MODULE = None

    def __init__(self, *args: Any, reduce_range: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def _get_name(self):
        return "DynamicQuantizedConv1d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            input = F.pad(input, _conv._reverse_repeat_padding(self.padding[:1]), mode=self.padding_mode)  # type: ignore[arg-type]
        return torch.ops.quantized.conv1d_dynamic(input, self._packed_params, reduce_range)


class Conv2d(_conv.Conv2d):
    """A convolution over two dimensions with a weight of qint8."""

    _NNIQAT_CONV_BN_MODULE = None
    _NNI_CONV_RELU_MODULE = None

    def _get_name(self):
        return "DynamicQuantizedConv2d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            input = F.pad(input, _conv._reverse_repeat_padding(self.padding), mode=self.padding_mode)  # type: ignore[arg-type]
        return torch.ops.quantized.conv2d_dynamic(input, self._packed_params, reduce_range)


class Conv3d(_conv.Conv3d):
    """A convolution over three dimensions with a weight of qint8."""

    _NNIQAT_CONV_BN_MODULE = None
    _NNI_CONV_RELU_MODULE = None

    def _get_name(self):
        return "DynamicQuantizedConv3d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        if self.padding_mode != "zeros":
            input = F.pad(input, _conv._reverse_repeat_padding(self.padding), mode=self.padding_mode)  # type: ignore[arg-type]
        return torch.ops.quantized.conv3d_dynamic(input, self._packed_params, reduce_range)


class ConvTranspose1d(_conv.ConvTranspose1d):
    """A transposed convolution over one dimension with a weight of qint8."""

    def _get_name(self):
        return "DynamicQuantizedConvTranpose1d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        return torch.ops.quantized.conv_transpose1d_dynamic(input, self._packed_params, reduce_range)


class ConvTranspose2d(_conv.ConvTranspose2d):
    """A transposed convolution over two dimensions with a weight of qint8."""

    def _get_name(self):
        return "DynamicQuantizedConvTranpose2d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return torch.ops.quantized.conv_transpose2d_dynamic(input, self._packed_params, reduce_range)


class ConvTranspose3d(_conv.ConvTranspose3d):
    """A transposed convolution over three dimensions with a weight of qint8."""

    def _get_name(self):
        return "DynamicQuantizedConvTranpose3d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, T, H, W)`!")
        return torch.ops.quantized.conv_transpose3d_dynamic(input, self._packed_params, reduce_range)
