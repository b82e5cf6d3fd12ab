"""Dropout of quantized tensors."""

from torchjit import nn

# ruff: noqa: A002

__all__ = ["Dropout"]


class Dropout(nn.Dropout):
    """Gives what it is given: quantized models are not trained."""

    def forward(self, input):
        return input

    def _get_name(self):
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod):
        """The module for an nn.Dropout."""
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod, scale, zero_point):
        """The module for an nn.Dropout."""
        return cls(mod.p, mod.inplace)
