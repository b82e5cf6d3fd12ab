"""Functions of dequantized tensors become quantized operators; weights that functions get are packed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit.ao.quantization.fx.graph_module import QuantizedGraphModule, new_attribute
from torchjit.fx import Graph, GraphModule, Node

if TYPE_CHECKING:
    from torchjit.ao.quantization.fx.lower import Lowering

KEPT_FUNCTIONS: set[Callable[..., Any] | str] = {
    F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.hardtanh, F.hardtanh_, F.interpolate, F.max_pool1d, F.max_pool2d,
    F.max_pool3d, F.relu, F.relu6, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d, F.hardsigmoid, torch.sigmoid, torch.tanh, torch.clamp,
    torch.flatten, torch.mean, torch.repeat_interleave, torch.transpose, torch.squeeze, torch.stack, torch.unsqueeze, torch.cat,
    "contiguous", "clamp", "detach", "detach_", "mean", "permute", "repeat", "repeat_interleave", "reshape", "resize_", "relu", "relu_",
    "squeeze",
    "squeeze_", "transpose", "unsqueeze", "unsqueeze_", "view", "hardsigmoid", "hardsigmoid_", "sigmoid", "sigmoid_", "tanh", "tanh_",
}  # fmt: skip
# Of the functions that become operators with a scale, those whose operators have `inplace` too.
TAKES_INPLACE = (F.leaky_relu,)


@functools.cache
def default_functions() -> dict[Any, Any]:
    """The operators with a scale for their results, by functions of floats."""
    from torchjit.ao.quantization.quantization_mappings import DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS

    return DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS


@functools.cache
def _weighted() -> dict[Any, tuple[Any, Any, Any]]:
    """What packs the weight, the operator and that with a rectifier, by functions of floats."""
    q = torch.ops.quantized
    return {
        F.linear: (q.linear_prepack, q.linear, q.linear_relu),
        F.conv1d: (q.conv1d_prepack, q.conv1d, q.conv1d_relu),
        F.conv2d: (q.conv2d_prepack, q.conv2d, q.conv2d_relu),
        F.conv3d: (q.conv3d_prepack, q.conv3d, q.conv3d_relu),
    }


@functools.cache
def _dynamic() -> dict[tuple[Any, Any], tuple[Any, Any, Any]]:
    """What packs the weight, the operator and that with a rectifier, by functions of floats and the type of inputs."""
    q = torch.ops.quantized
    return {
        (F.linear, torch.quint8): (q.linear_prepack, q.linear_dynamic, q.linear_relu_dynamic),
        (F.linear, torch.float16): (q.linear_prepack_fp16, q.linear_dynamic_fp16, q.linear_relu_dynamic_fp16),
    }


@functools.cache
def _binary() -> dict[Any, tuple[Any, Any]]:
    """The operator and that with a rectifier, by functions of two tensors or one and a number."""
    q = torch.ops.quantized
    add, mul = (q.add, q.add_relu), (q.mul, q.mul_relu)
    return {operator.add: add, torch.add: add, operator.mul: mul, torch.mul: mul, torch.matmul: (q.matmul, None)}


def _prepack_args(node: Node, weight: Any) -> tuple[Any, ...]:
    """The weight, its bias, and for convolutions stride, padding, dilation and groups as lists."""
    names = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
    given = {**dict(zip(names, node.args)), **node.kwargs}
    if node.target is F.linear:
        return weight, given.get("bias")
    dim = {F.conv1d: 1, F.conv2d: 2, F.conv3d: 3}[node.target]
    sizes = []
    for name, default in (("stride", 1), ("padding", 0), ("dilation", 1)):
        size = given.get(name, default)
        sizes.append(list(size) * (dim // len(size)) if isinstance(size, (list, tuple)) else [size] * dim)
    return (weight, given.get("bias"), *sizes, given.get("groups", 1))


def _quantized_weight(node: Node) -> Any:
    """What the weight of a function was quantized to; None where it is not dequantized."""
    from torchjit.ao.quantization.fx.lower import is_dequantize

    weight = node.args[1] if len(node.args) > 1 else node.kwargs.get("weight")
    return weight.args[0] if is_dequantize(weight) else None  # type: ignore[union-attr]


def static_functions(lowering: Lowering) -> None:
    """Lowers functions with weights."""
    from torchjit.ao.quantization.fx.lower import is_dequantize

    graph = lowering.graph
    for node in list(graph.nodes):
        found = lowering.before_quantize(node)
        if found is None or found[0].target not in _weighted():
            continue
        called, relu = found
        weight = _quantized_weight(called)
        if weight is None or not is_dequantize(called.args[0]):
            continue
        prepack, plain, rectified = _weighted()[called.target]
        scale, zero_point = node.args[1], node.args[2]
        with graph.inserting_before(scale):
            packed = graph.call_function(prepack, _prepack_args(called, weight))
        called.target = plain if relu is None else rectified
        called.args, called.kwargs = (called.args[0].args[0], packed, scale, zero_point), {}
        node.replace_all_uses_with(called)
        zero_point.append(called)
        graph.erase_node(node)
        if relu is not None:
            graph.erase_node(relu)


def dynamic_functions(lowering: Lowering) -> None:
    """Lowers functions with weights whose inputs are quantized by the range that each has."""
    from torchjit.ao.quantization.fx.lower import is_dequantize

    graph = lowering.graph
    for node in list(graph.nodes):
        called = node
        if node.op != "call_function" or not node.args or not is_dequantize(node.args[0]):
            continue
        quantize: Any = node.args[0].args[0]
        weight = _quantized_weight(node)
        if weight is None or quantize.target is not torch.quantize_per_tensor_dynamic or lowering.is_left(node):
            continue
        dtype, reduce_range = quantize.args[1:]
        if (node.target, dtype) not in _dynamic():
            continue
        prepack, plain, rectified = _dynamic()[node.target, dtype]
        users = list(node.users)
        relu = users[0] if len(users) == 1 and users[0].op == "call_function" and users[0].target in (F.relu, torch.relu) else None
        if dtype == torch.float16:
            weight = weight.args[0]  # it is packed as floats
        with graph.inserting_before(called):
            packed = graph.call_function(prepack, _prepack_args(node, weight))
        called.target = plain if relu is None else rectified
        called.args = (quantize.args[0], packed, *(() if dtype == torch.float16 else (reduce_range,)))
        called.kwargs = {}
        if relu is not None:
            relu.replace_all_uses_with(called)
            graph.erase_node(relu)


def binary_operators(lowering: Lowering) -> None:
    """Lowers sums and products: of two tensors with the scale of the result, of one and a number without."""
    from torchjit.ao.quantization.fx.lower import is_dequantize

    graph = lowering.graph
    for node in list(graph.nodes):
        found = lowering.before_quantize(node)
        if found is None or found[0].op != "call_function" or found[0].target not in _binary():
            continue
        called, relu = found
        tensors = [arg for arg in called.args[:2] if is_dequantize(arg)]
        others = [arg for arg in called.args[:2] if isinstance(arg, Node) and not is_dequantize(arg)]
        made = _binary()[called.target][relu is not None]
        if not tensors or others or made is None:
            continue
        args: list[Any] = [arg.args[0] if is_dequantize(arg) else arg for arg in called.args[:2]]
        if len(tensors) == 2:
            args += node.args[1:3]
        with graph.inserting_after(node):
            operator_node = graph.call_function(made, tuple(args))
        node.replace_all_uses_with(operator_node)
        lowering.erase_quantize(node) if len(tensors) == 1 else graph.erase_node(node)
        for part in (relu, called):
            if part is not None:
                graph.erase_node(part)


def fold_weights(model: QuantizedGraphModule, scopes: dict[str, tuple[str, Any]]) -> QuantizedGraphModule:
    """The model with weights packed once: numbered attributes in the place of the nodes that pack them."""
    prepacks = {prepack for prepack, _, _ in (*_weighted().values(), *_dynamic().values())}
    folded: dict[Node, Node] = {}
    for node in model.graph.nodes:
        producers = _producers(node) if node.op == "call_function" and node.target in prepacks else None
        if producers is not None:
            folded.update(dict.fromkeys(producers, node))
    packed = {node: _run(model, node) for node in set(folded.values())}
    copies: dict[Any, Any] = {}
    graph = Graph()
    for node in model.graph.nodes:
        if node in packed:
            user = next(iter(node.users)).name
            name = new_attribute(model, (scopes[user][0] if user in scopes else "") + "_packed_weight_")
            setattr(model, name, packed[node])
            copies[node] = graph.create_node("get_attr", name)
        elif node not in folded or any(user not in folded for user in node.users):
            copies[node] = graph.node_copy(node, copies.__getitem__)
    return QuantizedGraphModule(model, graph, model.preserved_attr_names)


def _producers(node: Node) -> list[Node] | None:
    """A node and those that it is computed from; None where arguments of the model are among them."""
    found, waiting = [], [node]
    while waiting:
        part = waiting.pop()
        if part.op == "placeholder":
            return None
        found.append(part)
        waiting.extend(part.all_input_nodes)
    return found


def _run(model: GraphModule, node: Node) -> Any:
    """What a node that is computed from attributes gives."""
    copies: dict[Any, Any] = {}
    graph = Graph()
    producers = set(_producers(node) or ())
    for part in model.graph.nodes:
        if part in producers:
            copies[part] = graph.node_copy(part, copies.__getitem__)
    graph.output(copies[node])
    return GraphModule(model, graph)()
