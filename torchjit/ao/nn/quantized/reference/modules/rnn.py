"""Recurrent layers and cells that round their weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.reference.modules.utils import (
    _quantize_and_dequantize_weight,
    _quantize_weight,
    register_weight_qparams,
)

# ruff: noqa: A002


class _RoundedWeights:
    """What modules share whose weights, several, are rounded in each call."""

    def _init_weight_qparams_dict(self, weight_qparams_dict: Any, device: Any) -> None:
        given = weight_qparams_dict or {}
        self._rounded_names = [name for name in self._parameters if name.startswith("weight")]  # type: ignore[attr-defined]
        for name in self._rounded_names:
            register_weight_qparams(self, name, given.get(name), device, integral=True)

    def _qparams_of(self, name: str) -> tuple[Any, ...]:
        return tuple(getattr(self, f"{name}_{part}", None) for part in ("qscheme", "dtype", "scale", "zero_point", "axis"))

    def _get_weight(self, name: str) -> Tensor:
        return _quantize_and_dequantize_weight(getattr(self, name), *self._qparams_of(name))

    def _get_quantized_weight(self, name: str) -> Tensor:
        return _quantize_weight(getattr(self, name), *self._qparams_of(name))

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}(Reference)"

    @contextlib.contextmanager
    def _rounded(self) -> Iterator[None]:
        """While the block runs the weights are the rounded ones."""
        parameters: Any = self._parameters  # type: ignore[attr-defined]
        kept = {name: parameters[name] for name in self._rounded_names}
        parameters.update({name: self._get_weight(name) for name in kept})
        try:
            yield
        finally:
            parameters.update(kept)


class _Cell(_RoundedWeights):
    """What cells share."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        with self._rounded():
            return super().forward(input, hx)  # type: ignore[misc]

    def get_weight_ih(self) -> Tensor:
        """The weight of inputs with the numbers that its quantized form stands for."""
        return self._get_weight("weight_ih")

    def get_weight_hh(self) -> Tensor:
        """The weight of the state with the numbers that its quantized form stands for."""
        return self._get_weight("weight_hh")

    def get_quantized_weight_ih(self) -> Tensor:
        """The weight of inputs in its quantized type."""
        return self._get_quantized_weight("weight_ih")

    def get_quantized_weight_hh(self) -> Tensor:
        """The weight of the state in its quantized type."""
        return self._get_quantized_weight("weight_hh")

    @classmethod
    def from_float(cls, mod: Any, weight_qparams_dict: Any) -> Any:
        """The cell for one of floats, with qparams by the name of the weight."""
        given = {"nonlinearity": mod.nonlinearity} if hasattr(mod, "nonlinearity") else {}
        made: Any = cls(  # type: ignore[call-arg]
            mod.input_size, mod.hidden_size, mod.bias, device=mod.weight_ih.device, dtype=mod.weight_ih.dtype,
            weight_qparams_dict=weight_qparams_dict, **given,
        )  # fmt: skip
        for name, parameter in mod._parameters.items():
            made._parameters[name] = parameter
        return made


class RNNCell(_Cell, nn.RNNCell):
    """nn.RNNCell with weights that are rounded in each call."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None, dtype: Any = None,
        weight_qparams_dict: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, nonlinearity, device, dtype)
        self._init_weight_qparams_dict(weight_qparams_dict, device)


class LSTMCell(_Cell, nn.LSTMCell):
    """nn.LSTMCell with weights that are rounded in each call."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None, weight_qparams_dict: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self._init_weight_qparams_dict(weight_qparams_dict, device)


class GRUCell(_Cell, nn.GRUCell):
    """nn.GRUCell with weights that are rounded in each call."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None, weight_qparams_dict: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self._init_weight_qparams_dict(weight_qparams_dict, device)


class LSTM(_RoundedWeights, nn.LSTM):
    """nn.LSTM with weights that are rounded in each call."""

    def __init__(self, *args: Any, weight_qparams_dict: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._init_weight_qparams_dict(weight_qparams_dict, kwargs.get("device"))

    def forward(self, input: Any, hx: Any = None) -> Any:
        kept = self._flat_weights
        self._flat_weights = self.get_flat_weights()
        try:
            return super().forward(input, hx)
        finally:
            self._flat_weights = kept

    def get_flat_weights(self) -> list[Tensor]:
        """The parameters in the order that the operator takes them, weights rounded."""
        return [self._get_weight(name) if name in self._rounded_names else getattr(self, name) for name in self._flat_weights_names]

    def get_quantized_weight_bias_dict(self) -> dict[str, Any]:
        """The parameters by name, weights in their quantized types."""
        return {
            name: self._get_quantized_weight(name) if name in self._rounded_names else getattr(self, name)
            for name in self._flat_weights_names
        }

    @classmethod
    def from_float(cls, mod: Any, weight_qparams_dict: Any) -> Any:
        """The layers for those of floats, with qparams by the name of the weight."""
        made = cls(
            mod.input_size, mod.hidden_size, mod.num_layers, mod.bias, mod.batch_first, mod.dropout, mod.bidirectional, mod.proj_size,
            weight_qparams_dict=weight_qparams_dict,
        )  # fmt: skip
        for name in made._flat_weights_names:
            setattr(made, name, getattr(mod, name))
        return made
