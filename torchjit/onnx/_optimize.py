"""Simplifications of a finished ONNX graph."""

from __future__ import annotations

import hashlib
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _proto


def optimize(graph: Any, params: dict[str, Any], training: bool) -> None:
    """Folds batch normalizations into convolutions where the export is not for training, and removes what nothing uses."""
    if not training:
        _fold_batch_norms(graph, params)
        _merge_transposes(graph.block())
    _C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)
    remove_unused(graph, params)


def remove_unused(graph: Any, params: dict[str, Any]) -> None:
    """Removes initializers without uses."""
    for value in reversed(list(graph.inputs())):
        if value.debugName() in params and not value.uses():
            del params[value.debugName()]
            graph.eraseInput(value.offset())


def _merge_transposes(block: Any) -> None:
    """A Transpose of a Transpose is one."""
    for node in list(block.nodes()):
        for inner in node.blocks():
            _merge_transposes(inner)
        if node.kind() != "onnx::Transpose" or not node.hasAttribute("perm"):
            continue
        former = node.inputsAt(0).node()
        if former.kind() == "onnx::Transpose" and former.hasAttribute("perm"):
            perm = list(former["perm"])
            node.is_("perm", [perm[d] for d in node["perm"]])
            node.replaceInput(0, former.inputsAt(0))


def _fold_batch_norms(graph: Any, params: dict[str, Any]) -> None:
    for node in list(graph.nodes()):
        if node.kind() == "onnx::BatchNormalization":
            _fold_batch_norm(graph, node, params)


def _fold_batch_norm(graph: Any, node: Any, params: dict[str, Any]) -> None:
    """Multiplies a convolution's weight by what the normalization of its result multiplies by."""
    conv = node.inputsAt(0).node()
    if conv.kind() != "onnx::Conv" or len(conv.output().uses()) != 1 or node.outputsSize() != 1:
        return
    given: list[Any] = [params.get(v.debugName()) for v in [*list(conv.inputs())[1:], *list(node.inputs())[1:]]]
    if any(t is None for t in given):
        return
    weight, *bias, gamma, beta, mean, var = given
    if not weight.is_floating_point() or any(t.dtype != weight.dtype for t in (gamma, beta, mean, var)):
        return
    eps = node.f("epsilon") if node.hasAttribute("epsilon") else 1e-5
    with torch.no_grad():
        factor = gamma / torch.sqrt(var + eps)
        made = [
            weight * factor.reshape([-1] + [1] * (weight.dim() - 1)),
            ((bias[0] if bias else torch.zeros_like(mean)) - mean) * factor + beta,
        ]
    inputs = []
    for tensor in made:
        value = graph.addInput()
        value.setType(_C.TensorType.create_from_tensor(tensor))
        params[value.debugName()] = tensor
        inputs.append(value)
    for value in inputs[: conv.inputsSize() - 1]:
        conv.replaceInput(1 + inputs.index(value), value)
    if conv.inputsSize() == 2:
        conv.addInput(inputs[1])
    conv.output().setType(node.outputsAt(0).type())
    node.outputsAt(0).replaceAllUsesWith(conv.output())
    node.destroy()


def share_initializers(graph: Any, params: dict[str, Any]) -> None:
    """Of equal initializers the first is kept; each other is an Identity of it with its name."""
    first: dict[Any, Any] = {}
    for value in list(graph.inputs()):
        tensor = params.get(value.debugName())
        if tensor is None or not value.uses():
            continue
        key = (tensor.dtype, tuple(tensor.shape), hashlib.sha256(_proto.elements(tensor)).digest())
        owner = first.setdefault(key, value)
        if owner == value:
            continue
        node = graph.create("onnx::Identity", [owner], 1)
        graph.prependNode(node)
        node.output().setType(value.type())
        name = value.debugName()
        value.replaceAllUsesWith(node.output())
        graph.eraseInput(value.offset())
        del params[name]
        if not name.isdigit():
            node.output().setDebugName(name)
