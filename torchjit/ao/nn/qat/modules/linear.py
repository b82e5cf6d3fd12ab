"""Linear layers whose weights are rounded."""

from __future__ import annotations

from typing import Any

import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn.intrinsic import LinearReLU
from torchjit.nn.utils.parametrize import type_before_parametrizations

# ruff: noqa: A002


class Linear(nn.Linear):
    """A linear layer whose weight goes through `weight_fake_quant`, made by its configuration. Raises AssertionError without one."""

    _FLOAT_MODULE: Any = nn.Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant: nn.Module = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The layer with the parameters of one without rounding, by the configuration that is on it."""
        if type_before_parametrizations(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(" qat." + cls.__name__ + ".from_float only works for " + cls._FLOAT_MODULE.__name__)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.qconfig:
            raise AssertionError("Input float module must have a valid qconfig")
        qconfig = mod.qconfig
        if type_before_parametrizations(mod) is LinearReLU:
            mod = mod[0]
        made = cls(mod.in_features, mod.out_features, bias=mod.bias is not None, qconfig=qconfig)
        made.weight = mod.weight
        made.bias = mod.bias
        return made

    def to_float(self) -> Any:
        """The layer without rounding."""
        made = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        made.weight = nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = nn.Parameter(self.bias.detach())
        made.train(self.training)
        return made
