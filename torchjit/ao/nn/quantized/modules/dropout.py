"""Dropout of quantized tensors."""

from torchjit import Tensor, nn
from torchjit.nn.modules.module import Module

# ruff: noqa: A002

__all__ = ["Dropout"]


class Dropout(nn.Dropout):
    """Gives what it is given: quantized models are not trained."""

    def forward(self, input: Tensor) -> Tensor:
        return input

    def _get_name(self):
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for an nn.Dropout."""
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for an nn.Dropout."""
        return cls(mod.p, mod.inplace)
