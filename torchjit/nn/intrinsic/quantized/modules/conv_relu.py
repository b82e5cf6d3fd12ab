"""A convolution and a rectifier of quantized tensors."""

from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import Tensor
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import quantized as nnq
from torchjit.ao.nn.quantized.modules.conv import _reverse_repeat_padding
from torchjit.nn.intrinsic import qat as nniqat
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class ConvReLU1d(nnq.Conv1d):
    """A convolution over one dimension on quantized tensors, rectified."""

    _FLOAT_MODULE = nni.ConvReLU1d
    _NNIQAT_CONV_BN_MODULE = nniqat.ConvBnReLU1d
    _NNI_CONV_RELU_MODULE = nni.ConvReLU1d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding[:1])  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv1d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU1d"

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: float, output_zero_point: int) -> Module:
        """The module for those that round their weight, with the scale and zero point of results."""
        if type(ref_qconv) is nni.ConvBnReLU1d:
            raise AssertionError("BatchNorm1d should be fused into Conv1d before converting to reference module")
        return super().from_reference(ref_qconv[0], output_scale, output_zero_point)


class ConvReLU2d(nnq.Conv2d):
    """A convolution over two dimensions on quantized tensors, rectified."""

    _FLOAT_MODULE = nni.ConvReLU2d
    _NNIQAT_CONV_BN_MODULE = nniqat.ConvBnReLU2d
    _NNI_CONV_RELU_MODULE = nni.ConvReLU2d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding)  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv2d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU2d"

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: float, output_zero_point: int) -> Module:
        """The module for those that round their weight, with the scale and zero point of results."""
        if type(ref_qconv) is nni.ConvBnReLU2d:
            raise AssertionError("BatchNorm2d should be fused into Conv2d before converting to reference module")
        return super().from_reference(ref_qconv[0], output_scale, output_zero_point)


class ConvReLU3d(nnq.Conv3d):
    """A convolution over three dimensions on quantized tensors, rectified."""

    _FLOAT_MODULE = nni.ConvReLU3d
    _NNIQAT_CONV_BN_MODULE = nniqat.ConvBnReLU3d
    _NNI_CONV_RELU_MODULE = nni.ConvReLU3d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding)  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv3d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedConvReLU3d"

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: float, output_zero_point: int) -> Module:
        """The module for those that round their weight, with the scale and zero point of results."""
        if type(ref_qconv) is nni.ConvBnReLU3d:
            raise AssertionError("BatchNorm3d should be fused into Conv3d before converting to reference module")
        return super().from_reference(ref_qconv[0], output_scale, output_zero_point)
