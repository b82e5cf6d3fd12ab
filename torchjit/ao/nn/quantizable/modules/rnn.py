"""Long short-term memory of linear modules and functions that can be observed."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import torchjit as torch
from torchjit import nn


def _biases(wi: Any, wh: Any, bi: Any, bh: Any) -> tuple[Any, Any]:
    assert (bi is None) == (bh is None), "both biases or none"
    return bi, bh


class LSTMCell(nn.Module):
    """One step: x (batch, input) and a state of two tensors (batch, hidden) give the next state.

    The gates are computed by two linear modules, sums and products by FloatFunctional, so that each result can be observed.
    """

    _FLOAT_MODULE = nn.LSTMCell

    def __init__(self, input_dim: int, hidden_dim: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size: int = input_dim
        self.hidden_size: int = hidden_dim
        self.bias: bool = bias
        self.igates: nn.Linear = nn.Linear(input_dim, 4 * hidden_dim, bias=bias, device=device, dtype=dtype)
        self.hgates: nn.Linear = nn.Linear(hidden_dim, 4 * hidden_dim, bias=bias, device=device, dtype=dtype)
        functional = torch.ao.nn.quantized.FloatFunctional
        self.gates: nn.Module = functional()
        self.fgate_cx: nn.Module = functional()
        self.igate_cgate: nn.Module = functional()
        self.fgate_cx_igate_cgate: nn.Module = functional()
        self.ogate_cy: nn.Module = functional()

    def forward(self, x: Any, hidden: Any = None) -> tuple[Any, Any]:
        if hidden is None or hidden[0] is None or hidden[1] is None:
            hidden = self.initialize_hidden(x.shape[0], x.is_quantized)
        hx, cx = hidden
        gates = self.gates.add(self.igates(x), self.hgates(hx))
        input, forget, cell, out = gates.chunk(4, 1)
        input, forget, cell, out = torch.sigmoid(input), torch.sigmoid(forget), torch.tanh(cell), torch.sigmoid(out)
        cy = self.fgate_cx_igate_cgate.add(self.fgate_cx.mul(forget, cx), self.igate_cgate.mul(input, cell))
        return self.ogate_cy.mul(out, torch.tanh(cy)), cy

    def initialize_hidden(self, batch_size: int, is_quantized: bool = False) -> tuple[Any, Any]:
        """Two tensors of zeros (batch, hidden)."""
        h, c = torch.zeros((batch_size, self.hidden_size)), torch.zeros((batch_size, self.hidden_size))
        if is_quantized:
            h, c = (torch.quantize_per_tensor(t, scale=1.0, zero_point=0, dtype=torch.quint8) for t in (h, c))
        return h, c

    def _get_name(self) -> str:
        return "QuantizableLSTMCell"

    @classmethod
    def from_params(cls, wi: Any, wh: Any, bi: Any = None, bh: Any = None) -> LSTMCell:
        """A cell with the weights (4 * hidden, input) and (4 * hidden, hidden) and biases of a cell of nn."""
        bi, bh = _biases(wi, wh, bi, bh)
        cell = cls(input_dim=wi.shape[1], hidden_dim=wh.shape[1], bias=bi is not None)
        cell.igates.weight, cell.hgates.weight = nn.Parameter(wi), nn.Parameter(wh)
        if bi is not None:
            cell.igates.bias, cell.hgates.bias = nn.Parameter(bi), nn.Parameter(bh)
        return cell

    @classmethod
    def from_float(cls, other: Any) -> LSTMCell:
        """The cell of an nn.LSTMCell that has a qconfig."""
        assert type(other) is cls._FLOAT_MODULE
        assert hasattr(other, "qconfig"), "The float module must have 'qconfig'"
        observed = cls.from_params(other.weight_ih, other.weight_hh, other.bias_ih, other.bias_hh)
        observed.qconfig = other.qconfig
        observed.igates.qconfig = observed.hgates.qconfig = other.qconfig
        return observed


class _LSTMSingleLayer(nn.Module):
    """All steps of one direction: x (steps, batch, input)."""

    def __init__(self, input_dim: int, hidden_dim: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.cell = LSTMCell(input_dim, hidden_dim, bias=bias, device=device, dtype=dtype)

    def forward(self, x: Any, hidden: Any = None) -> tuple[Any, Any]:
        result = []
        for step in x:
            hidden = self.cell(step, hidden)
            result.append(hidden[0])
        return torch.stack(result, 0), hidden

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> _LSTMSingleLayer:
        cell = LSTMCell.from_params(*args, **kwargs)
        layer = cls(cell.input_size, cell.hidden_size, cell.bias)
        layer.cell = cell
        return layer


class _LSTMLayer(nn.Module):
    """One layer, in both directions where it is bidirectional."""

    def __init__(
        self, input_dim: int, hidden_dim: int, bias: bool = True, batch_first: bool = False, bidirectional: bool = False, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.batch_first, self.bidirectional = batch_first, bidirectional
        self.layer_fw = _LSTMSingleLayer(input_dim, hidden_dim, bias=bias, device=device, dtype=dtype)
        if bidirectional:
            self.layer_bw = _LSTMSingleLayer(input_dim, hidden_dim, bias=bias, device=device, dtype=dtype)

    def forward(self, x: Any, hidden: Any = None) -> tuple[Any, Any]:
        if self.batch_first:
            x = x.transpose(0, 1)
        hx, cx = (None, None) if hidden is None else hidden
        forward = None if hx is None or cx is None else (hx[0], cx[0]) if self.bidirectional else (hx, cx)
        result, state = self.layer_fw(x, forward)
        if self.bidirectional:
            backward = None if hx is None or cx is None else (hx[1], cx[1])
            behind, state_behind = self.layer_bw(x.flip(0), backward)
            result = torch.cat([result, behind.flip(0)], result.dim() - 1)
            state = tuple(torch.stack([a, b], 0) for a, b in zip(state, state_behind))
        if self.batch_first:
            result = result.transpose(0, 1)
        return result, state

    @classmethod
    def from_float(cls, other: Any, layer_idx: int = 0, qconfig: Any = None, **kwargs: Any) -> _LSTMLayer:
        """A layer of an nn.LSTM, which has a qconfig unless one is given."""
        assert hasattr(other, "qconfig") or qconfig is not None
        input_size = kwargs.get("input_size", other.input_size)
        layer = cls(
            input_size,
            kwargs.get("hidden_size", other.hidden_size),
            kwargs.get("bias", other.bias),
            kwargs.get("batch_first", other.batch_first),
            kwargs.get("bidirectional", other.bidirectional),
        )
        layer.qconfig = getattr(other, "qconfig", qconfig)
        for name, suffix in (("layer_fw", ""), ("layer_bw", "_reverse"))[: 1 + layer.bidirectional]:
            weights = [getattr(other, f"{kind}_l{layer_idx}{suffix}", None) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            setattr(layer, name, _LSTMSingleLayer.from_params(*weights))
        return layer


class LSTM(nn.Module):
    """nn.LSTM of modules that can be observed: x (steps, batch, input), with batch_first (batch, steps, input).

    Gives the outputs (steps, batch, hidden * directions) and the state, two tensors (layers * directions, batch, hidden).
    """

    _FLOAT_MODULE: Any = nn.LSTM

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size: int = input_size
        self.hidden_size: int = hidden_size
        self.num_layers: int = num_layers
        self.bias: bool = bias
        self.batch_first: bool = batch_first
        self.dropout: float = float(dropout)
        self.bidirectional: bool = bidirectional
        self.training = False  # models are observed as they are used
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0:
            warnings.warn("dropout option for quantizable LSTM is ignored. If you are training, please, use nn.LSTM version followed by `prepare` step.")
            if num_layers == 1:
                warnings.warn(
                    "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but got "
                    f"dropout={dropout} and num_layers={num_layers}"
                )
        sizes = [input_size] + [hidden_size * (2 if bidirectional else 1)] * (num_layers - 1)
        self.layers: nn.ModuleList = nn.ModuleList(
            _LSTMLayer(size, hidden_size, bias, batch_first=False, bidirectional=bidirectional, device=device, dtype=dtype) for size in sizes
        )

    def forward(self, x: Any, hidden: Any = None) -> tuple[Any, Any]:
        if self.batch_first:
            x = x.transpose(0, 1)
        states = self._states(x, hidden)
        ends = []
        for layer, state in zip(self.layers, states):
            x, state = layer(x, state)
            ends.append(state)
        h, c = (torch.stack([end[i] for end in ends], 0) for i in range(2))
        h, c = (t.reshape(-1, t.shape[-2], t.shape[-1]) for t in (h, c))
        if self.batch_first:
            x = x.transpose(0, 1)
        return x, (h, c)

    def _states(self, x: Any, hidden: Any) -> list[Any]:
        directions = 2 if self.bidirectional else 1
        if hidden is None:
            zeros = torch.zeros(directions, x.size(1), self.hidden_size)
            zeros = zeros if self.bidirectional else zeros.squeeze(0)
            if x.is_quantized:
                zeros = torch.quantize_per_tensor(zeros, scale=1.0, zero_point=0, dtype=x.dtype)
            return [(zeros, zeros)] * self.num_layers
        if not torch.is_tensor(hidden[0]):
            return list(zip(*hidden))
        h, c = (t.reshape(self.num_layers, directions, -1, self.hidden_size) for t in hidden)
        return [(h[i], c[i]) if self.bidirectional else (h[i].squeeze(0), c[i].squeeze(0)) for i in range(self.num_layers)]

    def _get_name(self) -> str:
        return "QuantizableLSTM"

    @classmethod
    def from_float(cls, other: Any, qconfig: Any = None) -> LSTM:
        """The module of an nn.LSTM that has a qconfig, unless one is given, with its weights and observers."""
        assert isinstance(other, cls._FLOAT_MODULE)
        assert hasattr(other, "qconfig") or qconfig
        observed = cls(other.input_size, other.hidden_size, other.num_layers, other.bias, other.batch_first, other.dropout, other.bidirectional)
        observed.qconfig = getattr(other, "qconfig", qconfig)
        for i in range(other.num_layers):
            observed.layers[i] = _LSTMLayer.from_float(other, i, qconfig, batch_first=False)
        prepare = torch.ao.quantization.prepare_qat if other.training else torch.ao.quantization.prepare
        observed.train() if other.training else observed.eval()
        return prepare(observed, inplace=True)

    @classmethod
    def from_observed(cls, other: Any) -> LSTM:
        """Raises NotImplementedError: what is observed stays what it is."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-quantizable LSTM module. Please, see the examples on quantizable LSTMs."
        )
