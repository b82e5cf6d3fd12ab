"""Long short-term memory on quantized tensors."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.nn.quantizable.modules.rnn import LSTM as _LSTM

__all__ = ["LSTM"]


def converted(cls: Any, other: Any) -> Any:
    """A module that has been observed with its parts quantized, as one of the class."""
    made = torch.ao.quantization.convert(other, inplace=False, remove_qconfig=True)
    made.__class__ = cls
    return made


class LSTM(_LSTM):
    """The quantizable LSTM with quantized linear modules and functions; made of one that has been observed."""

    _FLOAT_MODULE = _LSTM

    def _get_name(self) -> str:
        return "QuantizedLSTM"

    @classmethod
    def from_float(cls, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: what is of floats is observed first."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-observed LSTM module. Please, see the examples on quantizable LSTMs."
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """The module for one that has been observed. Raises AssertionError for other classes."""
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"nnq.LSTM.from_observed only works for quantizable.LSTM, but got: {type(other)}")
        return converted(cls, other)
