"""Recurrent networks. A packed sequence is exported as what was packed, with the times first, and the lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.pointwise import number

# The order of the gates in ONNX, as positions among those of PyTorch.
_GATES = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2], "RNN": [0]}


class _Network:
    """A recurrent operator with its arguments."""

    def __init__(
        self,
        g: Any,
        kind: str,
        activation: str | None,
        params: list[Any],
        has_biases: bool,
        layers: int,
        bidirectional: bool,
    ) -> None:
        self.g, self.kind, self.activation = g, kind, activation
        self.directions = 2 if bidirectional else 1
        per_cell = (len(params) // (layers * self.directions)) if layers else 0
        self.cells = [params[i * per_cell : (i + 1) * per_cell] for i in range(layers * self.directions)]
        self.has_biases, self.layers, self.per_cell = has_biases, layers, per_cell
        if per_cell != (4 if has_biases else 2):
            helper._onnx_unsupported(f"{kind} with projections of its results", params[0])

    def hidden_size(self) -> int:
        """The number of elements of a state."""
        size = helper._get_tensor_dim_size(self.cells[0][1], 1)
        if size is None:
            helper._onnx_unsupported(f"{self.kind} with weights whose sizes are not known", self.cells[0][1])
        return size

    def _in_order(self, weight: Any) -> Any:
        """A weight with the gates in the order of ONNX."""
        order, hidden = _GATES[self.kind], self.hidden_size()
        if len(order) == 1:
            return weight
        parts = [helper._slice_helper(self.g, weight, [0], [i * hidden], [(i + 1) * hidden]) for i in order]
        return self.g.op("Concat", *parts, axis_i=0)

    def _cell(self, i: int) -> list[Any]:
        w, r, *biases = self.cells[i]
        made = [self._in_order(v) for v in (w, r)]
        if biases:
            made.append(self.g.op("Concat", *(self._in_order(b) for b in biases), axis_i=0))
        return [helper._unsqueeze_helper(self.g, v, [0]) for v in made]

    def weights(self, layer: int) -> list[Any]:
        """The weights of a layer: those of the directions in one."""
        cells = [self._cell(layer * self.directions + d) for d in range(self.directions)]
        made = [c[0] if len(c) == 1 else self.g.op("Concat", *c, axis_i=0) for c in zip(*cells)]
        return made if self.has_biases else [*made, self.g.none()]

    def state(self, value: Any, layer: int) -> Any:
        """The part of a state that is a layer's."""
        if self.layers == 1:
            return value
        return helper._slice_helper(self.g, value, [0], [layer * self.directions], [(layer + 1) * self.directions])

    def run(self, x: Any, lengths: Any, states: list[Any]) -> list[Any]:
        """The result, with times first, and the last states."""
        g = self.g
        attributes: dict[str, Any] = {"hidden_size_i": self.hidden_size()}
        if self.directions == 2:
            attributes["direction_s"] = "bidirectional"
        if self.activation is not None:
            attributes["activations_s"] = [self.activation] * self.directions
        if self.kind == "GRU":
            attributes["linear_before_reset_i"] = 1
        outs: list[list[Any]] = [[] for _ in states]
        for layer in range(self.layers):
            first = [self.state(s, layer) for s in states]
            y, *last = g.op(self.kind, x, *self.weights(layer), lengths, *first, outputs=1 + len(states), **attributes)
            _infer_states(g, x, y, last, self.directions, attributes["hidden_size_i"])
            if self.directions == 2:
                x = helper._reshape_helper(g, g.op("Transpose", y, perm_i=[0, 2, 1, 3]), [0, 0, -1])
            else:
                x = helper._squeeze_helper(g, y, [1])
            for collected, value in zip(outs, last):
                collected.append(value)
        return [x, *(o[0] if len(o) == 1 else g.op("Concat", *o, axis_i=0) for o in outs)]


def _infer_states(g: Any, x: Any, y: Any, last: list[Any], directions: int, hidden: int) -> None:
    from torchjit.onnx import _infer

    dtype, sizes = _infer.info(x)
    times, batch = (sizes or [None, None])[:2]
    _infer.set_type(y, dtype, [times, directions, batch, hidden])
    for value in last:
        _infer.set_type(value, dtype, [directions, batch, hidden])


def _recurrent(kind: str, activation: str | None) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        packed = not helper._is_list(args[0 if kind == "LSTM" else 1])
        if packed:
            lengths, states, params, has_biases, layers, dropout, train, bidirectional = args
            lengths, batch_first = g.cast(lengths, torch.int32), False
        else:
            states, params, has_biases, layers, dropout, train, bidirectional, first = args
            lengths, batch_first = g.none(), helper._parse_arg(first, "b")
        if helper._parse_arg(train, "b") and helper._parse_arg(dropout, "f"):
            helper._onnx_unsupported(f"{kind} with dropout in training", x)
        given = helper._unpack_list(states) if kind == "LSTM" else [states]
        network = _Network(
            g, kind, activation, helper._unpack_list(params), helper._parse_arg(has_biases, "b"), helper._parse_arg(layers, "i"),
            helper._parse_arg(bidirectional, "b"),
        )  # fmt: skip
        if batch_first:
            x = g.op("Transpose", x, perm_i=[1, 0, 2])
        result, *last = network.run(x, lengths, given)
        if batch_first:
            result = g.op("Transpose", result, perm_i=[1, 0, 2])
        return (result, *last)

    return export


symbolic("lstm")(_recurrent("LSTM", None))
symbolic("gru")(_recurrent("GRU", None))
symbolic("rnn_tanh")(_recurrent("RNN", "Tanh"))
symbolic("rnn_relu")(_recurrent("RNN", "Relu"))


# ---- packed sequences ----


@symbolic("_pack_padded_sequence")
def pack_padded_sequence(g: Any, x: Any, lengths: Any, batch_first: Any) -> Any:
    if helper._parse_arg(batch_first, "b"):
        x = g.op("Transpose", x, perm_i=[1, 0, 2])
    # The lengths stand for the sizes of batches: see first_batch_size.
    lengths = (
        g.op("Identity", lengths)
        if helper._constant(lengths) is NotImplemented
        else g.constant(helper._constant(lengths))
    )
    g.translator.lengths.add(lengths)
    return x, lengths


@symbolic("_pad_packed_sequence")
def pad_packed_sequence(
    g: Any, data: Any, lengths: Any, batch_first: Any, padding_value: Any, total_length: Any
) -> Any:
    if helper._scalar(padding_value) != 0:
        helper._onnx_unsupported("pad_packed_sequence with a padding_value other than 0", data)
    total = helper._scalar(total_length)
    if total is not None and total > 0 and helper._get_tensor_dim_size(data, 0) != total:
        helper._onnx_unsupported("pad_packed_sequence with a total_length other than that of what was packed", data)
    if total is None or total <= 0:
        data = helper._slice_helper(g, data, [0], [0], longest(g, lengths))
    return g.op("Transpose", data, perm_i=[1, 0, 2]) if helper._parse_arg(batch_first, "b") else data, lengths


def longest(g: Any, lengths: Any) -> Any:
    """The greatest of lengths."""
    return g.op("ReduceMax", lengths, keepdims_i=0)


def first_batch_size(g: Any, x: Any, index: Any) -> Any:
    """The first size of a packed sequence's batches, which is how many sequences there are: None where x is something else."""
    if x not in g.translator.lengths:
        return None
    if helper._scalar(index) != 0:
        helper._onnx_unsupported("sizes of a packed sequence's batches but the first", x)
    return helper._size_helper(g, x, 0)


# ---- single steps ----


def _gates(g: Any, x: Any, w: Any, b: Any) -> Any:
    product = g.op("MatMul", x, g.op("Transpose", w, perm_i=[1, 0]))
    return product if b is None or helper._is_none(b) else g.op("Add", product, b)


def _parts(g: Any, gates: Any, weight: Any, count: int) -> list[Any]:
    hidden = helper._get_tensor_dim_size(weight, 1)
    if hidden is None:
        helper._onnx_unsupported("a recurrent cell with weights whose sizes are not known", weight)
    return [helper._slice_helper(g, gates, [-1], [i * hidden], [(i + 1) * hidden]) for i in range(count)]


@symbolic("lstm_cell")
def lstm_cell(g: Any, x: Any, states: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    h, c = helper._unpack_list(states)
    gates = g.op("Add", _gates(g, x, w_ih, b_ih), _gates(g, h, w_hh, b_hh))
    i, f, candidate, o = _parts(g, gates, w_hh, 4)
    new = g.op("Add", g.op("Mul", g.op("Sigmoid", f), c), g.op("Mul", g.op("Sigmoid", i), g.op("Tanh", candidate)))
    return g.op("Mul", g.op("Sigmoid", o), g.op("Tanh", new)), new


@symbolic("gru_cell")
def gru_cell(g: Any, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    inputs, hiddens = (_parts(g, v, w_hh, 3) for v in (_gates(g, x, w_ih, b_ih), _gates(g, h, w_hh, b_hh)))
    reset, update = (g.op("Sigmoid", g.op("Add", inputs[k], hiddens[k])) for k in range(2))
    candidate = g.op("Tanh", g.op("Add", inputs[2], g.op("Mul", reset, hiddens[2])))
    return g.op("Add", g.op("Mul", g.op("Sub", number(g, 1.0, update), update), candidate), g.op("Mul", update, h))


def _simple_cell(activation: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        return g.op(activation, g.op("Add", _gates(g, x, w_ih, b_ih), _gates(g, h, w_hh, b_hh)))

    return export


symbolic("rnn_tanh_cell")(_simple_cell("Tanh"))
symbolic("rnn_relu_cell")(_simple_cell("Relu"))
