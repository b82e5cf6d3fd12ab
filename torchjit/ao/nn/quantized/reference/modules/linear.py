"""Linear layers that round their weights."""

from typing import Any, Dict, Optional

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from torchjit.nn.modules.module import Module

# ruff: noqa: UP006, UP035, UP045


class Linear(nn.Linear, ReferenceQuantizedModule):
    """nn.Linear with a weight that is rounded in each call."""

    _IS_REFERENCE = True

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, device: Optional[torch.device] = None,
        dtype: Optional[torch.dtype] = None,
        weight_qparams: Optional[Dict[str, Any]] = None,
    ):  # fmt: skip
        super().__init__(in_features, out_features, bias_, device, dtype)
        self._init_weight_qparams(weight_qparams, device)

    def _get_name(self):
        return "QuantizedLinear(Reference)"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.get_weight(), self.bias)

    @classmethod
    def from_float(cls, float_linear: Module, weight_qparams: dict[str, object]) -> Module:
        """The layer for one of floats."""
        made = cls(
            float_linear.in_features, float_linear.out_features, float_linear.bias is not None, device=float_linear.weight.device,
            dtype=float_linear.weight.dtype, weight_qparams=weight_qparams,
        )  # fmt: skip
        made.weight = nn.Parameter(float_linear.weight.detach())
        if float_linear.bias is not None:
            made.bias = nn.Parameter(float_linear.bias.detach())
        return made
