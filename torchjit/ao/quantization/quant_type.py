"""How models are quantized."""

from __future__ import annotations

import enum

__all__ = ["QuantType", "quant_type_to_str"]


class QuantType(enum.IntEnum):
    """What gets integers: activations by the range that each has, by one that was observed or trained, or the weights alone."""

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


def quant_type_to_str(quant_type: QuantType) -> str:
    """The name of a way to quantize, in small letters."""
    return quant_type.name.lower()
