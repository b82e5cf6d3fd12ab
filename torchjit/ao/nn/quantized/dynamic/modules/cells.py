"""Recurrent cells whose weights are quantized."""

from typing import Any, Optional, Tuple

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _quantize_weight
from torchjit.nn.modules.module import Module

# ruff: noqa: UP006, UP035, UP045, A002

_PACKED = ("_packed_weight_ih", "_packed_weight_hh")


def _pack(weight, bias, dtype):
    """A weight and bias in the form that products use. Raises RuntimeError for types other than qint8 and float16."""
    if dtype == torch.qint8:
        return torch.ops.quantized.linear_prepack(weight, bias)
    if dtype == torch.float16:
        return torch.ops.quantized.linear_prepack_fp16(weight, bias)
    raise RuntimeError(f"Unsupported dtype specified for dynamic quantized cells: {dtype}")


def _unpack(packed, dtype):
    if dtype == torch.qint8:
        return torch.ops.quantized.linear_unpack(packed)
    return torch.ops.quantized.linear_unpack_fp16(packed)


class RNNCellBase(nn.Module):
    """What the cells share: weights of inputs and of the state, packed with their biases."""

    __constants__ = ["input_size", "hidden_size", "bias"]  # type: list[str]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, num_chunks: int = 4,
        dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_dtype = dtype
        rows = num_chunks * hidden_size
        self.bias_ih: Optional[Tensor] = torch.randn(rows).to(dtype=torch.float) if bias else None
        self.bias_hh: Optional[Tensor] = torch.randn(rows).to(dtype=torch.float) if bias else None
        weights = [torch.randn(rows, width).to(torch.float) for width in (input_size, hidden_size)]
        if dtype == torch.qint8:
            weights = [torch.quantize_per_tensor(weight, scale=1, zero_point=0, dtype=torch.qint8) for weight in weights]
        self._packed_weight_ih = _pack(weights[0], self.bias_ih, dtype)
        self._packed_weight_hh = _pack(weights[1], self.bias_hh, dtype)

    def _get_name(self):
        return "DynamicQuantizedRNNBase"

    def extra_repr(self) -> str:
        s = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            s += f", nonlinearity={self.nonlinearity}"
        return s

    def check_forward_input(self, input: Tensor) -> None:
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)}, expected {self.input_size}")

    def check_forward_hidden(self, input: Tensor, hx: Tensor, hidden_label: str = "") -> None:
        if input.size(0) != hx.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{hidden_label} batch size {hx.size(0)}")
        if hx.size(1) != self.hidden_size:
            raise RuntimeError(f"hidden{hidden_label} has inconsistent hidden_size: got {hx.size(1)}, expected {self.hidden_size}")

    @classmethod
    def _like(cls, mod, dtype):
        given = {"nonlinearity": mod.nonlinearity} if isinstance(mod, nn.RNNCell) else {}
        return cls(mod.input_size, mod.hidden_size, bias=mod.bias, dtype=dtype, **given)

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The cell for one of floats, whose `qconfig` says how weights are quantized. Raises AssertionError for other classes and types."""
        from torchjit.ao.quantization.qconfig import default_dynamic_qconfig

        if type(mod) not in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
            raise AssertionError("nn.quantized.dynamic.RNNCellBase.from_float only works for nn.LSTMCell, nn.GRUCell and nn.RNNCell")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        make = (default_dynamic_qconfig if mod.qconfig is None or mod.qconfig.weight is None else mod.qconfig).weight
        dtype = make().dtype
        if dtype not in (torch.qint8, torch.float16):
            raise AssertionError(f"The only supported dtypes for dynamic quantized cells are qint8 and float16 got: {dtype}")
        weights = [mod.weight_ih, mod.weight_hh]
        if dtype == torch.qint8:
            weights = [_observed(weight, make()) for weight in weights]
        else:
            weights = [weight.float() for weight in weights]
        made = cls._like(mod, dtype)
        made._take(*weights, mod.bias_ih, mod.bias_hh)
        return made

    @classmethod
    def from_reference(cls, ref_mod: Module) -> Module:
        """The cell for one that rounds its weights."""
        if not hasattr(ref_mod, "weight_ih_dtype"):
            raise AssertionError(
                "We are assuming weight_ih exists in reference module, may need to relax the assumption to support the use case"
            )
        dtype = ref_mod.weight_ih_dtype
        made = cls._like(ref_mod, dtype)
        if dtype == torch.qint8:
            weights = ref_mod.get_quantized_weight_ih(), ref_mod.get_quantized_weight_hh()
        else:
            weights = ref_mod.weight_ih, ref_mod.weight_hh
        made._take(*weights, ref_mod.bias_ih, ref_mod.bias_hh)
        return made

    def _take(self, weight_ih, weight_hh, bias_ih, bias_hh):
        self.bias_ih = None if bias_ih is None else bias_ih.detach()
        self.bias_hh = None if bias_hh is None else bias_hh.detach()
        self._packed_weight_ih = _pack(weight_ih.detach(), self.bias_ih, self.weight_dtype)
        self._packed_weight_hh = _pack(weight_hh.detach(), self.bias_hh, self.weight_dtype)

    def _weight_bias(self):
        (w1, b1), (w2, b2) = (_unpack(getattr(self, name), self.weight_dtype) for name in _PACKED)
        return {"weight": {"weight_ih": w1, "weight_hh": w2}, "bias": {"bias_ih": b1, "bias_hh": b2}}

    def get_weight(self) -> dict[str, Tensor]:
        """The weights by name."""
        return self._weight_bias()["weight"]

    def get_bias(self) -> dict[str, Tensor]:
        """The biases by name."""
        return self._weight_bias()["bias"]

    def set_weight_bias(self, weight_bias_dict: dict[str, dict[str, Tensor]]) -> None:
        """Takes weights and biases as `_weight_bias` gives them."""
        weight, bias = weight_bias_dict["weight"], weight_bias_dict["bias"]
        self._take(weight["weight_ih"], weight["weight_hh"], bias["bias_ih"], bias["bias_hh"])

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name in _PACKED:
            destination[prefix + name] = getattr(self, name)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name in _PACKED:
            setattr(self, name, state_dict.pop(prefix + name))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs)


def _observed(weight, observer):
    observer(weight)
    return _quantize_weight(weight.detach().float(), observer)


class RNNCell(RNNCellBase):
    """One step of an RNN with quantized weights."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]  # type: list[str]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _get_name(self):
        return "DynamicQuantizedRNNCell"

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        self.check_forward_input(input)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        self.check_forward_hidden(input, hx, "")
        if self.nonlinearity == "tanh":
            ret = torch.ops.quantized.quantized_rnn_tanh_cell_dynamic(
                input, hx, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
            )
        elif self.nonlinearity == "relu":
            ret = torch.ops.quantized.quantized_rnn_relu_cell_dynamic(
                input, hx, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
            )
        else:
            ret = input
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return ret


class LSTMCell(RNNCellBase):
    """One step of an LSTM with quantized weights."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, num_chunks=4, **kwargs)  # type: ignore[misc]

    def _get_name(self):
        return "DynamicQuantizedLSTMCell"

    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
        self.check_forward_input(input)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        self.check_forward_hidden(input, hx[0], "[0]")
        self.check_forward_hidden(input, hx[1], "[1]")
        return torch.ops.quantized.quantized_lstm_cell_dynamic(
            input, hx, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
        )


class GRUCell(RNNCellBase):
    """One step of a GRU with quantized weights."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: torch.dtype = torch.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def _get_name(self):
        return "DynamicQuantizedGRUCell"

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        self.check_forward_input(input)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        self.check_forward_hidden(input, hx, "")
        return torch.ops.quantized.quantized_gru_cell_dynamic(
            input, hx, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
        )
