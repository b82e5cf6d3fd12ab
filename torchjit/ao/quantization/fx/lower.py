"""Reference modules and functions between dequantize and quantize become quantized ones.

dequantize -> (module that rounds its weight) -> relu? -> quantize         a quantized module, which has the scale of the result
dequantize -> (function of a rounded weight) -> relu? -> quantize          a quantized operator of a packed weight
dequantize -> (sum or product) -> relu? -> quantize                        a quantized operator
dequantize -> (what takes quantized tensors too) -> quantize               the same without both
"""

from __future__ import annotations

from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import quantized as nnq
from torchjit.ao.nn.quantized import dynamic as nnqd
from torchjit.ao.nn.quantized import reference as nnqr
from torchjit.ao.quantization.fx import lower_functions
from torchjit.ao.quantization.fx.graph_module import QuantizedGraphModule
from torchjit.fx import Node, map_arg
from torchjit.nn.intrinsic import quantized as nniq

# The quantized class, and its fused ones with the class of the first of their modules.
STATIC_MODULES: dict[Any, Any] = {
    nnqr.Linear: nnq.Linear, nnqr.Conv1d: nnq.Conv1d, nnqr.Conv2d: nnq.Conv2d, nnqr.Conv3d: nnq.Conv3d,
    nnqr.ConvTranspose1d: nnq.ConvTranspose1d, nnqr.ConvTranspose2d: nnq.ConvTranspose2d, nnqr.ConvTranspose3d: nnq.ConvTranspose3d,
}  # fmt: skip
STATIC_FUSED_MODULES: dict[Any, tuple[Any, Any]] = {
    nni.LinearReLU: (nnqr.Linear, nniq.LinearReLU), nni.ConvReLU1d: (nnqr.Conv1d, nniq.ConvReLU1d),
    nni.ConvReLU2d: (nnqr.Conv2d, nniq.ConvReLU2d), nni.ConvReLU3d: (nnqr.Conv3d, nniq.ConvReLU3d),
}  # fmt: skip
DYNAMIC_MODULES: dict[Any, Any] = {
    nnqr.Linear: nnqd.Linear, nnqr.GRUCell: nnqd.GRUCell, nnqr.LSTMCell: nnqd.LSTMCell, nnqr.RNNCell: nnqd.RNNCell, nnqr.LSTM: nnqd.LSTM,
}  # fmt: skip
DYNAMIC_FUSED_MODULES: dict[Any, tuple[Any, Any]] = {nni.LinearReLU: (nnqr.Linear, nniq.dynamic.LinearReLU)}
WEIGHT_ONLY_MODULES: dict[Any, Any] = {nnqr.Embedding: nnq.Embedding, nnqr.EmbeddingBag: nnq.EmbeddingBag}
# Modules of floats that stand between dequantize and quantize, whose results get a scale.
DEFAULT_MODULES: dict[Any, Any] = {
    nn.ELU: nnq.ELU, nn.LeakyReLU: nnq.LeakyReLU, nn.Hardswish: nnq.Hardswish, nn.InstanceNorm1d: nnq.InstanceNorm1d,
    nn.InstanceNorm2d: nnq.InstanceNorm2d, nn.InstanceNorm3d: nnq.InstanceNorm3d, nn.LayerNorm: nnq.LayerNorm, nn.Dropout: nnq.Dropout,
    nn.PReLU: nnq.PReLU, nn.Softmax: nnq.Softmax, nn.BatchNorm2d: nnq.BatchNorm2d, nn.BatchNorm3d: nnq.BatchNorm3d,
    nni.BNReLU2d: nniq.BNReLU2d, nni.BNReLU3d: nniq.BNReLU3d,
}  # fmt: skip

# What computes on quantized tensors as on others, and gives results with the scale of what it gets, or in the range that they always have.
KEPT_MODULES: set[type[nn.Module]] = {
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.Hardtanh, nn.Identity,
    nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.ReLU, nn.ReLU6, nn.Hardsigmoid, nn.Sigmoid, nn.Tanh,
}  # fmt: skip


def _is_call(node: Any, op: str, *targets: Any) -> bool:
    return isinstance(node, Node) and node.op == op and node.target in targets


def is_dequantize(node: Any) -> bool:
    """Whether a value is that of a call of dequantize."""
    return _is_call(node, "call_method", "dequantize")


def is_static_quantize(node: Any) -> bool:
    """Whether a node quantizes with a scale for all elements."""
    return _is_call(node, "call_function", torch.quantize_per_tensor)


class Lowering:
    """Lowers one graph, which is changed."""

    def __init__(self, model: QuantizedGraphModule, qconfigs: dict[str, Any]) -> None:
        self.model: QuantizedGraphModule = model
        self.graph = model.graph
        self.qconfigs = qconfigs
        self.modules: dict[str, Any] = dict(model.named_modules(remove_duplicate=False))

    def module(self, node: Any) -> Any:
        """The module that a node calls, or None."""
        return self.modules.get(str(node.target)) if isinstance(node, Node) and node.op == "call_module" else None

    def put(self, node: Node, module: Any) -> None:
        """Has a node call another module."""
        parent, _, name = str(node.target).rpartition(".")
        setattr(self.model.get_submodule(parent), name, module)
        self.modules[str(node.target)] = module

    def range_of(self, quantize: Node) -> tuple[Any, Any]:
        """Scale and zero point that a node quantizes with."""
        return tuple(getattr(self.model, str(arg.target)) for arg in quantize.args[1:3])

    def is_left(self, node: Node) -> bool:
        """Whether a node's configuration says that it stays as it is."""
        return node.name in self.qconfigs and self.qconfigs[node.name] is None

    def before_quantize(self, node: Node) -> tuple[Node, Node | None] | None:
        """What gives the tensor that a node quantizes, without a rectifier in between, and that rectifier."""
        if not is_static_quantize(node) or not isinstance(node.args[0], Node):
            return None
        found, relu = node.args[0], None
        if _is_call(found, "call_function", F.relu, torch.relu) or type(self.module(found)) is nn.ReLU:
            relu, inner = found, found.args[0]
            if not isinstance(inner, Node):
                return None
            found = inner
        return None if self.is_left(found) else (found, relu)

    def erase_quantize(self, node: Node) -> None:
        """Takes out a node that quantizes, with those that read its scale and zero point."""
        scale, zero_point = node.args[1], node.args[2]
        self.graph.erase_node(node)
        for part in (scale, zero_point):
            if not part.users:
                self.graph.erase_node(part)

    def static_modules(self) -> None:
        """Lowers modules with weights. One that is called several times gets the scale of the last call."""
        given = dict(self.modules)
        for node in list(self.graph.nodes):
            found = self.before_quantize(node)
            if found is None:
                continue
            called, relu = found
            module = given.get(str(called.target)) if called.op == "call_module" else None
            made = _quantized_class(module, STATIC_MODULES, STATIC_FUSED_MODULES)
            if made is None or relu is not None or not is_dequantize(called.args[0]):
                continue
            self.put(called, made.from_reference(module, *self.range_of(node)))
            called.replace_input_with(called.args[0], called.args[0].args[0])
            node.replace_all_uses_with(called)
            self.erase_quantize(node)

    def dynamic_modules(self) -> None:
        """Lowers modules with weights whose inputs are quantized by the range that each has."""
        given = dict(self.modules)
        for node in list(self.graph.nodes):
            module = given.get(str(node.target)) if node.op == "call_module" else None
            made = _quantized_class(module, DYNAMIC_MODULES, DYNAMIC_FUSED_MODULES)
            if made is None or not node.args or not is_dequantize(node.args[0]):
                continue
            quantize: Any = node.args[0].args[0]
            if _is_call(quantize, "call_function", torch.quantize_per_tensor_dynamic):
                self.put(node, made.from_reference(module))
                node.replace_input_with(node.args[0], quantize.args[0])

    def weight_only_modules(self) -> None:
        """Lowers modules whose inputs and results stay as they are."""
        for node in self.graph.nodes:
            made = WEIGHT_ONLY_MODULES.get(type(self.module(node)))
            if made is not None:
                self.put(node, made.from_reference(self.module(node)))

    def sizes(self) -> None:
        """Sizes of what is dequantized are those of what is quantized."""
        for node in self.graph.nodes:
            of_shape = _is_call(node, "call_function", getattr) and node.args[1] in ("shape", "ndim")
            if (of_shape or _is_call(node, "call_method", "size")) and is_dequantize(node.args[0]):
                node.replace_input_with(node.args[0], node.args[0].args[0])

    def kept(self) -> None:
        """Lowers what computes on quantized tensors as on others, and what becomes a quantized module or operator by itself."""
        for node in list(self.graph.nodes):
            if not is_static_quantize(node) or not isinstance(node.args[0], Node):
                continue
            called = node.args[0]
            if called.op not in ("call_function", "call_method", "call_module") or self.is_left(called):
                continue
            if not self._is_kept(called) or not _all_dequantized(called):
                continue
            made = self._with_scale(called, node)
            called = called if made is None else made
            node.replace_all_uses_with(called)
            self.graph.erase_node(node)

    def _is_kept(self, node: Node) -> bool:
        module = self.module(node)
        if module is not None:
            return type(module) in KEPT_MODULES or type(module) in DEFAULT_MODULES
        return node.target in lower_functions.KEPT_FUNCTIONS or node.target in lower_functions.default_functions()

    def _with_scale(self, node: Node, quantize: Node) -> Node | None:
        """Gives a node what it takes, quantized, and what has a scale for its results that: a new node for functions."""
        node.args = _first_quantized(node.args)
        module = self.module(node)
        if type(module) in DEFAULT_MODULES:
            self.put(node, DEFAULT_MODULES[type(module)].from_reference(module, *self.range_of(quantize)))
        operator = lower_functions.default_functions().get(node.target) if node.op == "call_function" else None
        if operator is None:
            return None
        kwargs = {name: value for name, value in node.kwargs.items() if name != "inplace" or node.target in lower_functions.TAKES_INPLACE}
        kwargs.update(output_scale=quantize.args[1], output_zero_point=quantize.args[2])
        with self.graph.inserting_after(quantize.args[2]):
            made = self.graph.call_function(operator, node.args, kwargs)
        node.replace_all_uses_with(made)
        self.graph.erase_node(node)
        return made


def _quantized_class(module: Any, plain: dict[Any, Any], fused: dict[Any, tuple[Any, Any]]) -> Any:
    """The quantized class for a module that rounds its weight, or has one that does; None where there is none."""
    if type(module) in fused:
        inner, made = fused[type(module)]
        return made if type(module[0]) is inner else None
    return plain.get(type(module))


def _first_tensors(node: Node) -> list[Any]:
    """The first argument, or what is in it where it is a list."""
    first = node.args[0] if node.args else None
    return list(first) if isinstance(first, (list, tuple)) else [first]


def _all_dequantized(node: Node) -> bool:
    tensors = _first_tensors(node)
    return bool(tensors) and all(is_dequantize(tensor) for tensor in tensors)


def _first_quantized(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of which the first is what it was dequantized from."""
    return (map_arg(args[0], lambda node: node.args[0] if is_dequantize(node) else node), *args[1:])


def lower(model: QuantizedGraphModule, qconfigs: dict[str, Any], scopes: dict[str, tuple[str, Any]]) -> QuantizedGraphModule:
    """The model with quantized modules and operators, and packed weights in its attributes."""
    lowering = Lowering(model, qconfigs)
    lowering.static_modules()
    lowering.dynamic_modules()
    lowering.weight_only_modules()
    lower_functions.static_functions(lowering)
    lower_functions.dynamic_functions(lowering)
    lower_functions.binary_operators(lowering)
    lowering.sizes()
    lowering.kept()
    model.graph.eliminate_dead_code()
    made = lower_functions.fold_weights(model, scopes)
    made.graph.eliminate_dead_code()
    made.recompile()
    made.graph.lint()
    return made
