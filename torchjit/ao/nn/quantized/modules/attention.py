"""Attention on quantized tensors."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.nn.quantizable.modules.activation import MultiheadAttention as _MultiheadAttention
from torchjit.ao.nn.quantized.modules.rnn import converted

__all__ = ["MultiheadAttention"]


class MultiheadAttention(_MultiheadAttention):
    """The quantizable attention with quantized linear modules; made of one that has been observed."""

    _FLOAT_MODULE = _MultiheadAttention

    def _get_name(self) -> str:
        return "QuantizedMultiheadAttention"

    @classmethod
    def from_float(cls, other: Any) -> Any:
        """Raises NotImplementedError: what is of floats is observed first."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-observed MHA module. Please, see the examples on quantizable MHAs."
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """The module for one that has been observed. Raises AssertionError for other classes."""
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(
                f"nnq.MultiheadAttention.from_observed only works for quantizable.MultiheadAttention, but got: {type(other)}"
            )
        made = converted(cls, other)
        # The rows that are added to keys and values have the steps of theirs.
        for bias, linear in ((other.bias_k, made.linear_K), (other.bias_v, made.linear_V)):
            if bias is not None:
                name = "bias_k" if bias is other.bias_k else "bias_v"
                made._parameters.pop(name, None)
                setattr(made, name, torch.quantize_per_tensor(bias.detach(), linear.scale, linear.zero_point, torch.quint8))
        return made
