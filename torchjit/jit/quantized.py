"""torch.jit.quantized: modules that PyTorch quantized before torch.ao.quantization. They need FBGEMM's operators, which are not here.

Models are quantized by torch.ao.quantization.quantize_dynamic, whose modules compile and are saved.
"""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
from torchjit.nn.modules.rnn import _apply_permutation


class _OfFBGEMM(torch.nn.Module):
    """A module that cannot be made: raises RuntimeError."""

    _instead = ""

    def __init__(self, other: Any = None, dtype: Any = None) -> None:
        warnings.warn(
            f"torch.jit.{type(self).__name__} is deprecated and will be removed in an upcoming PyTorch release. "
            f"Please use the torch.ao.nn.quantized.dynamic.{self._instead} instead.",
            stacklevel=2,
        )
        raise RuntimeError("This PyTorch installation was not built with FBGEMM operators")


class QuantizedLinear(_OfFBGEMM):
    """A linear layer with weights of eight bits. Raises RuntimeError."""

    _instead = "Linear"


class QuantizedLinearFP16(_OfFBGEMM):
    """A linear layer with weights of float16. Raises RuntimeError."""

    _instead = "Linear"


class QuantizedRNNCellBase(_OfFBGEMM):
    """A recurrent cell with weights of eight bits. Raises RuntimeError."""

    _instead = "RNNCell"


class QuantizedRNNCell(QuantizedRNNCellBase):
    """An Elman cell. Raises RuntimeError."""


class QuantizedLSTMCell(QuantizedRNNCellBase):
    """An LSTM cell. Raises RuntimeError."""

    _instead = "LSTMCell"


class QuantizedGRUCell(QuantizedRNNCellBase):
    """A GRU cell. Raises RuntimeError."""

    _instead = "GRUCell"


class QuantizedRNNBase(_OfFBGEMM):
    """Recurrent layers with weights of eight bits or float16. Raises RuntimeError."""

    _instead = "RNN"


class QuantizedLSTM(QuantizedRNNBase):
    """LSTM layers. Raises RuntimeError."""

    _instead = "LSTM"


class QuantizedGRU(QuantizedRNNBase):
    """GRU layers. Raises RuntimeError."""

    _instead = "GRU"


def apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    """The tensor with the parts along a dimension in another order."""
    return _apply_permutation(tensor, permutation, dim)


def _refused(module: Any, kinds: Any, dtype: Any = None) -> Any:
    """The module, which stays as it is where nothing in it is of the kinds that would be quantized."""
    nn = torch.nn
    made = {nn.Linear: QuantizedLinear, nn.LSTMCell: QuantizedLSTMCell, nn.GRUCell: QuantizedGRUCell, nn.RNNCell: QuantizedRNNCell, nn.LSTM: QuantizedLSTM, nn.GRU: QuantizedGRU}
    for found in module.modules():
        for kind in kinds:
            if isinstance(found, kind):
                made[kind](found, dtype)
    return module


def quantize_linear_modules(module: Any, dtype: Any = torch.int8) -> Any:
    """The module. Raises RuntimeError where it has linear layers."""
    return _refused(module, (torch.nn.Linear,), dtype)


def quantize_rnn_cell_modules(module: Any) -> Any:
    """The module. Raises RuntimeError where it has recurrent cells."""
    return _refused(module, (torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell))


def quantize_rnn_modules(module: Any, dtype: Any = torch.int8) -> Any:
    """The module. Raises RuntimeError where it has LSTM or GRU layers."""
    return _refused(module, (torch.nn.LSTM, torch.nn.GRU), dtype)
