"""Recurrent layers whose weights are quantized."""

from typing import TYPE_CHECKING, Any, Optional, Tuple

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _quantize_weight
from torchjit.nn.modules.module import Module
from torchjit.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from typing import overload as _overload_method  # what it is to a type checker
else:
    from torchjit._jit_internal import _overload_method

# ruff: noqa: UP006, UP035, UP045, A002, F811


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The tensor with its parts along a dimension in another order."""
    return tensor.index_select(dim, permutation)


class PackedParameter(nn.Module):
    """The packed parameters of one cell."""

    def __init__(self, param: object) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.param

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        if prefix + "param" not in state_dict:
            missing_keys.append(prefix + "param")
            return
        self.param = state_dict.pop(prefix + "param")


def _quantized(weight, make):
    """A weight as its observer, which make gives, has it."""
    observer = make()
    observer(weight)
    return _quantize_weight(weight.detach().float(), observer)


def _packed_cell(weight_ih, weight_hh, bias_ih, bias_hh, dtype, make=None):
    """The packed parameters of a cell with float weights; without what makes their observers, with weights that are quantized."""
    if dtype is torch.qint8:
        ih = torch.ops.quantized.linear_prepack(weight_ih if make is None else _quantized(weight_ih, make), bias_ih)
        hh = torch.ops.quantized.linear_prepack(weight_hh if make is None else _quantized(weight_hh, make), bias_hh)
        return torch.ops.quantized.make_quantized_cell_params_dynamic(ih, hh, bias_ih, bias_hh, True)
    ih = torch.ops.quantized.linear_prepack_fp16(weight_ih.detach(), bias_ih)
    return torch.ops.quantized.make_quantized_cell_params_fp16(
        ih, torch.ops.quantized.linear_prepack_fp16(weight_hh.detach(), bias_hh)
    )


class RNNBase(nn.Module):
    _version = 2

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: torch.dtype = torch.qint8,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout: float = float(dropout)
        self.bidirectional = bidirectional
        self.dtype = dtype
        self.version = 2
        self.training = False
        if dtype is not torch.qint8 and dtype is not torch.float16:
            raise ValueError(f"Only torch.qint8 and torch.float16 are supported, but got {dtype}")
        gates = {"LSTM": 4, "GRU": 3}[mode] * hidden_size
        from torchjit.ao.quantization.observer import default_weight_observer

        cells = []
        for layer in range(num_layers):
            for _ in range(2 if bidirectional else 1):
                width = input_size if layer == 0 else hidden_size * (2 if bidirectional else 1)
                parts = [
                    torch.randn(gates, width),
                    torch.randn(gates, hidden_size),
                    torch.randn(gates),
                    torch.randn(gates),
                ]
                cells.append(PackedParameter(_packed_cell(*parts, dtype, default_weight_observer)))  # type: ignore[call-arg]
        self._all_weight_values = nn.ModuleList(cells)

    def _get_name(self):
        return "DynamicQuantizedRNN"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    @torch.jit.unused
    def _cells(self, which: int) -> dict:
        """The weights (0) or biases (1) of the cells, by the names that layers of floats give them."""
        found, name = {}, ("weight", "bias")[which]
        count = 2 if self.bidirectional else 1
        for i, cell in enumerate(self._all_weight_values):
            layer, end = i // count, "_reverse" if i % count else ""
            for kind, packed in zip(("ih", "hh"), cell.param.__getstate__()[0][4]):
                found[f"{name}_{kind}_l{layer}{end}"] = packed.__getstate__()[0][which]
        return found

    @torch.jit.unused
    def get_weight(self) -> dict:
        """The quantized weights: weight_ih_l0, weight_hh_l0, ..."""
        return self._cells(0)

    @torch.jit.unused
    def get_bias(self) -> dict:
        """The biases: bias_ih_l0, bias_hh_l0, ..."""
        return self._cells(1)

    def check_input(self, input: Tensor, batch_sizes: Optional[Tensor]) -> None:
        expected_input_dim = 2 if batch_sizes is not None else 3
        if input.dim() != expected_input_dim:
            raise RuntimeError(f"input must have {expected_input_dim} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _zeros(self, input: Tensor, max_batch_size: int) -> Tensor:
        num_directions = 2 if self.bidirectional else 1
        return torch.zeros(
            self.num_layers * num_directions, max_batch_size, self.hidden_size, dtype=input.dtype, device=input.device
        )

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The layers with the weights of an nn.LSTM or nn.GRU. Raises NotImplementedError for projections."""
        from torchjit.ao.quantization.qconfig import default_dynamic_qconfig

        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        make = (default_dynamic_qconfig if mod.qconfig is None or mod.qconfig.weight is None else mod.qconfig).weight
        dtype = make().dtype
        if dtype not in (torch.qint8, torch.float16):
            raise RuntimeError(f"Unsupported dtype for Dynamic RNN quantization: {dtype}")
        if getattr(mod, "proj_size", 0):
            raise NotImplementedError("layers with projections cannot be quantized")
        made = cls(
            mod.input_size,
            mod.hidden_size,
            mod.num_layers,
            mod.bias,
            mod.batch_first,
            mod.dropout,
            mod.bidirectional,
            dtype,
        )
        cells = []
        for layer in range(mod.num_layers):
            for suffix in ("", "_reverse") if mod.bidirectional else ("",):
                weights = [getattr(mod, f"weight_{part}_l{layer}{suffix}").detach() for part in ("ih", "hh")]
                if mod.bias:
                    biases = [getattr(mod, f"bias_{part}_l{layer}{suffix}").detach() for part in ("ih", "hh")]
                else:
                    biases = [torch.zeros(w.size(0)) for w in weights]
                cells.append(PackedParameter(_packed_cell(*weights, *biases, dtype, make)))  # type: ignore[call-arg]
        made._all_weight_values = nn.ModuleList(cells)
        return made

    @classmethod
    def from_reference(cls, ref_mod: Module) -> Module:
        """The layers for those that round their weights. Raises NotImplementedError for projections."""
        if ref_mod.proj_size:
            raise NotImplementedError("layers with projections cannot be quantized")
        dtype = ref_mod.weight_ih_l0_dtype
        made = cls(
            ref_mod.input_size,
            ref_mod.hidden_size,
            ref_mod.num_layers,
            ref_mod.bias,
            ref_mod.batch_first,
            ref_mod.dropout,
            ref_mod.bidirectional,
            dtype,
        )
        parameters = dict(ref_mod.named_parameters())
        if dtype == torch.qint8:
            parameters = ref_mod.get_quantized_weight_bias_dict()
        cells = []
        for layer in range(ref_mod.num_layers):
            for suffix in ("", "_reverse") if ref_mod.bidirectional else ("",):
                weights = [parameters[f"weight_{part}_l{layer}{suffix}"].detach() for part in ("ih", "hh")]
                if ref_mod.bias:
                    biases = [parameters[f"bias_{part}_l{layer}{suffix}"].detach() for part in ("ih", "hh")]
                else:
                    biases = [torch.zeros(w.size(0)) for w in weights]
                cells.append(PackedParameter(_packed_cell(*weights, *biases, dtype)))  # type: ignore[call-arg]
        made._all_weight_values = nn.ModuleList(cells)
        return made


class LSTM(RNNBase):
    """Layers of long short-term memory cells with quantized weights."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _get_name(self):
        return "DynamicQuantizedLSTM"

    def permute_hidden(self, hx: Tuple[Tensor, Tensor], permutation: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        if permutation is None:
            return hx
        return apply_permutation(hx[0], permutation), apply_permutation(hx[1], permutation)

    def forward_impl(
        self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]], batch_sizes: Optional[Tensor], max_batch_size: int,
        sorted_indices: Optional[Tensor],
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:  # fmt: skip
        if hx is None:
            zeros = self._zeros(input, max_batch_size)
            hx = (zeros, zeros)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_input(input, batch_sizes)
        _all_params = [m.param for m in self._all_weight_values]
        if batch_sizes is None:
            result = torch.quantized_lstm(
                input, hx, _all_params, self.bias, self.num_layers, float(self.dropout), self.training, self.bidirectional,
                self.batch_first, dtype=self.dtype, use_dynamic=True,
            )  # fmt: skip
        else:
            result = torch.quantized_lstm(
                input, batch_sizes, hx, _all_params, self.bias, self.num_layers, float(self.dropout), self.training, self.bidirectional,
                dtype=self.dtype, use_dynamic=True,
            )  # fmt: skip
        return result[0], (result[1], result[2])

    @torch.jit.export
    def forward_tensor(
        self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        max_batch_size = input.size(0) if self.batch_first else input.size(1)
        return self.forward_impl(input, hx, None, max_batch_size, None)

    @torch.jit.export
    def forward_packed(
        self, input: PackedSequence, hx: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[PackedSequence, Tuple[Tensor, Tensor]]:
        input_, batch_sizes, sorted_indices, unsorted_indices = input
        max_batch_size = int(batch_sizes[0])
        output_, hidden = self.forward_impl(input_, hx, batch_sizes, max_batch_size, sorted_indices)
        output = PackedSequence(output_, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(hidden, unsorted_indices)

    @_overload_method
    def forward(
        self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        pass

    @_overload_method
    def forward(
        self, input: PackedSequence, hx: Optional[Tuple[Tensor, Tensor]] = None
    ) -> Tuple[PackedSequence, Tuple[Tensor, Tensor]]:
        pass

    def forward(self, input: Tensor, hx=None):  # type: ignore[misc]
        if isinstance(input, PackedSequence):
            return self.forward_packed(input, hx)
        else:
            return self.forward_tensor(input, hx)


class GRU(RNNBase):
    """Layers of gated recurrent cells with quantized weights."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def _get_name(self):
        return "DynamicQuantizedGRU"

    def permute_hidden(self, hx: Tensor, permutation: Optional[Tensor]) -> Tensor:
        if permutation is None:
            return hx
        return apply_permutation(hx, permutation)

    def forward_impl(
        self,
        input: Tensor,
        hx: Optional[Tensor],
        batch_sizes: Optional[Tensor],
        max_batch_size: int,
        sorted_indices: Optional[Tensor],
    ) -> Tuple[Tensor, Tensor]:
        if hx is None:
            hx = self._zeros(input, max_batch_size)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_input(input, batch_sizes)
        _all_params = [m.param for m in self._all_weight_values]
        if batch_sizes is None:
            result = torch.quantized_gru(
                input,
                hx,
                _all_params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
            )
        else:
            result = torch.quantized_gru(
                input,
                batch_sizes,
                hx,
                _all_params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
            )
        return result[0], result[1]

    @torch.jit.export
    def forward_tensor(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        max_batch_size = input.size(0) if self.batch_first else input.size(1)
        return self.forward_impl(input, hx, None, max_batch_size, None)

    @torch.jit.export
    def forward_packed(self, input: PackedSequence, hx: Optional[Tensor] = None) -> Tuple[PackedSequence, Tensor]:
        input_, batch_sizes, sorted_indices, unsorted_indices = input
        max_batch_size = int(batch_sizes[0])
        output_, hidden = self.forward_impl(input_, hx, batch_sizes, max_batch_size, sorted_indices)
        output = PackedSequence(output_, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(hidden, unsorted_indices)

    @_overload_method
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        pass

    @_overload_method
    def forward(self, input: PackedSequence, hx: Optional[Tensor] = None) -> Tuple[PackedSequence, Tensor]:
        pass

    def forward(self, input: Tensor, hx=None):  # type: ignore[misc]
        if isinstance(input, PackedSequence):
            return self.forward_packed(input, hx)
        else:
            return self.forward_tensor(input, hx)
