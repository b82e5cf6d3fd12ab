"""A linear layer and a rectifier of quantized tensors."""

from typing import Any

import torchjit as torch
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import quantized as nnq
from torchjit.nn.modules.module import Module


class LinearReLU(nnq.Linear):
    """A linear layer on quantized tensors, rectified."""

    _FLOAT_MODULE = nni.LinearReLU

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.quantized.linear_relu(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedLinearReLU"

    @classmethod
    def from_reference(cls, ref_linear_relu: Any, output_scale: float, output_zero_point: int) -> Module:
        """The module for those that round their weight, with the scale and zero point of results."""
        return super().from_reference(ref_linear_relu[0], output_scale, output_zero_point)
