"""Batch normalization of quantized tensors."""

from typing import Any

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: A002


class _BatchNorm(nn.modules.batchnorm._BatchNorm):
    """What normalizations of planes and volumes share."""

    _NNI_BN_RELU_MODULE: object = None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, True, True)
        self.register_buffer("scale", torch.tensor(1.0))
        self.register_buffer("zero_point", torch.tensor(0))

    @classmethod
    def from_float(cls, mod: Any) -> Module:
        """The normalization for one of floats that has been observed."""
        activation = mod.activation_post_process
        if type(mod) is cls._NNI_BN_RELU_MODULE:
            mod = mod[0]
        return cls.from_reference(mod, *activation.calculate_qparams())

    @classmethod
    def from_reference(cls, bn: Module, output_scale: float, output_zero_point: int) -> Module:
        """The normalization for one of floats, with the scale and zero point of results."""
        made = cls(bn.num_features, bn.eps)
        made.weight = bn.weight
        made.bias = bn.bias
        made.running_mean = bn.running_mean
        made.running_var = bn.running_var
        made.scale = torch.as_tensor(output_scale)
        made.zero_point = torch.as_tensor(output_zero_point)
        return made


class BatchNorm2d(_BatchNorm):
    """Batch normalization of quantized planes."""

    def _get_name(self):
        return "QuantizedBatchNorm2d"

    def _check_input_dim(self, input):
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.batch_norm2d(
            input, self.weight, self.bias, self.running_mean, self.running_var, self.eps, float(self.scale), int(self.zero_point)
        )


class BatchNorm3d(_BatchNorm):
    """Batch normalization of quantized volumes."""

    def _get_name(self):
        return "QuantizedBatchNorm3d"

    def _check_input_dim(self, input):
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, H, W)`!")

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.batch_norm3d(
            input, self.weight, self.bias, self.running_mean, self.running_var, self.eps, float(self.scale), int(self.zero_point)
        )
