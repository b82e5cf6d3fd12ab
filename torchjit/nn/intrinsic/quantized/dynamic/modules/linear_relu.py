"""A linear layer with a quantized weight and a rectifier."""

from typing import Any

import torchjit as torch
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn.quantized import dynamic as nnqd
from torchjit.nn.modules.module import Module


class LinearReLU(nnqd.Linear):
    """A linear layer with a weight of qint8 or float16, rectified."""

    _FLOAT_MODULE = nni.LinearReLU

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._packed_params.dtype == torch.qint8:
            y = torch.ops.quantized.linear_relu_dynamic(x, self._packed_params._packed_params, reduce_range=True)
        elif self._packed_params.dtype == torch.float16:
            y = torch.ops.quantized.linear_relu_dynamic_fp16(x, self._packed_params._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear relu!")
        return y.to(x.dtype)

    def _get_name(self):
        return "DynamicQuantizedLinearReLU"

    @classmethod
    def from_reference(cls, ref_qlinear_relu: Any) -> Module:  # type: ignore[override]
        """The layer for one that rounds its weight, with a rectifier."""
        return super().from_reference(ref_qlinear_relu[0])
