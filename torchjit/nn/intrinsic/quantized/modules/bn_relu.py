"""A batch normalization and a rectifier of quantized tensors."""

import torchjit as torch
from torchjit import Tensor
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import quantized as nnq
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class BNReLU2d(nnq.BatchNorm2d):
    """Batch normalization of quantized planes, rectified."""

    _FLOAT_MODULE = nni.BNReLU2d
    _NNI_BN_RELU_MODULE = nni.BNReLU2d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return torch.ops.quantized.batch_norm2d_relu(
            input, self.weight, self.bias, self.running_mean, self.running_var, self.eps, float(self.scale), int(self.zero_point)
        )

    def _get_name(self):
        return "QuantizedBNReLU2d"

    @classmethod
    def from_reference(cls, bn_relu: Module, output_scale: float, output_zero_point: int) -> Module:
        """The module for those of floats, with the scale and zero point of results."""
        return super().from_reference(
            bn_relu[0] if isinstance(bn_relu, nni.BNReLU2d) else bn_relu, output_scale, output_zero_point
        )


class BNReLU3d(nnq.BatchNorm3d):
    """Batch normalization of quantized volumes, rectified."""

    _FLOAT_MODULE = nni.BNReLU3d
    _NNI_BN_RELU_MODULE = nni.BNReLU3d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        return torch.ops.quantized.batch_norm3d_relu(
            input, self.weight, self.bias, self.running_mean, self.running_var, self.eps, float(self.scale), int(self.zero_point)
        )

    def _get_name(self):
        return "QuantizedBNReLU3d"

    @classmethod
    def from_reference(cls, bn_relu: Module, output_scale: float, output_zero_point: int) -> Module:
        """The module for those of floats, with the scale and zero point of results."""
        return super().from_reference(
            bn_relu[0] if isinstance(bn_relu, nni.BNReLU3d) else bn_relu, output_scale, output_zero_point
        )
