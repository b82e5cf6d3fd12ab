"""A linear layer with a rounded weight and a rectifier."""

from __future__ import annotations

from typing import Any

import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import qat as nnqat
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule

# ruff: noqa: A002


class LinearReLU(nnqat.Linear, _FusedModule):
    """A linear layer whose weight goes through `weight_fake_quant`, rectified."""

    _FLOAT_MODULE = nni.LinearReLU

    def __init__(self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None) -> None:
        super().__init__(in_features, out_features, bias, qconfig)

    def forward(self, input: Any) -> Any:
        return F.relu(F.linear(input, self.weight_fake_quant(self.weight), self.bias))

    def to_float(self) -> Any:
        """The modules without rounding."""
        return nni.LinearReLU(super().to_float(), nn.ReLU())
