"""From an ONNX graph to the bytes of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import torchjit as torch
from torchjit._archive import ReplacedFile
from torchjit.onnx import _functional, _infer, _proto, _text, errors
from torchjit.onnx._type_utils import JitScalarType

# A message has at most 2 GiB: more than this many bytes of initializers lie in files of their own.
_MOST_BYTES = 2**31 - 2**20

# The version of the format that first has an opset version.
_IR_VERSIONS = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8}


def model_pieces(
    graph: Any, params: dict[str, Any], opset: int, axes: dict[str, dict[int, str]], custom_opsets: dict[str, int], keep_as_inputs: bool,
    export_params: bool, beside: str | None,
) -> list[bytes]:  # fmt: skip
    """The model of a graph, in pieces, whose initializers are the tensors by their names.

    axes names sizes of inputs and outputs that differ between runs. beside is the path of the model's file, beside which tensors lie that
    are too large for it. Raises OnnxExporterError where a node is of no operator of ONNX.
    """
    opsets = opsets_of(graph, opset, custom_opsets)
    inputs = [v for v in graph.inputs() if keep_as_inputs or not export_params or v.debugName() not in params]
    body = _proto.graph(
        _nodes(graph.block()),
        "torch_jit",
        _initializers(params, beside) if export_params else (),
        (_proto.value_info(v.debugName(), _type(v, axes.get(v.debugName(), {}), v.debugName())) for v in inputs),
        (_proto.value_info(v.debugName(), _type(v, axes.get(v.debugName(), {}), _made_by(v))) for v in graph.outputs()),
    )
    return _proto.model(body, _IR_VERSIONS[opset], ("pytorch", "1.13.1"), opsets)


def _made_by(value: Any) -> str:
    """How sizes that are not known are called: by the operator and the name."""
    return f"{value.node().kind().split('::')[-1]}{value.debugName()}"


def opsets_of(graph: Any, opset: int, custom_opsets: dict[str, int]) -> dict[str, int]:
    """The versions of the domains of a graph's nodes; that of ONNX has no name."""
    found = {"": opset}
    for node in _functional.nodes_of(graph.block()):
        domain = node.kind().split("::")[0]
        if domain not in ("onnx", "prim"):
            found[_domain(domain)] = custom_opsets.get(domain, 1)
    return found


def _domain(namespace: str) -> str:
    """The domain in a model of the operators of a namespace: that of ONNX has no name, PyTorch's own are in one that runtimes know."""
    return {"onnx": "", "aten": "org.pytorch.aten"}.get(namespace, namespace)


def _initializers(params: dict[str, Any], beside: str | None) -> Iterable[bytes]:
    size = sum(t.numel() * t.element_size() for t in params.values())
    if size <= _MOST_BYTES:
        return [_proto.tensor(t, name) for name, t in params.items()]
    if beside is None:
        raise RuntimeError(
            f"the initializers have {size} bytes, more than one message can have: export to a path, beside which they are written"
        )
    made = []
    for name, t in params.items():
        if t.numel() * t.element_size() < 1024:
            made.append(_proto.tensor(t, name))
            continue
        file = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
        with ReplacedFile(os.path.join(os.path.dirname(beside), file)) as out:
            length = out.write(_proto.elements(t))
        made.append(_proto.tensor(t, name, (file, 0, length)))
    return made


def _nodes(block: Any) -> list[bytes]:
    return [_node(n) for n in block.nodes() if n.kind() != "prim::Constant"]


def _node(node: Any) -> bytes:
    domain, kind = node.kind().split("::", 1)
    if domain == "prim":
        raise errors.OnnxExporterError(
            f"{node.kind()} is left in the graph, which ONNX has no form of. It is made at {str(node.sourceRange()).strip()}"
        )
    if node.kind() == "onnx::Constant" and not node.hasAttributes():
        raise errors.OnnxExporterError("a Constant has no value")
    attributes = [_attribute(node, name) for name in node.attributeNames() if name != "onnx_name"]
    for name, inner in zip(_text.BLOCKS.get(node.kind(), ()), node.blocks()):
        attributes.append(_proto.attribute(name, "g", _block(inner, node, name)))
    name = node.s("onnx_name") if node.hasAttribute("onnx_name") else ""
    inputs = ["" if v.node().mustBeNone() else v.debugName() for v in node.inputs()]
    while inputs and not inputs[-1]:
        inputs.pop()
    return _proto.node(
        kind, _domain(domain), name, inputs, [v.debugName() for v in node.outputs()], attributes
    )


def _attribute(node: Any, name: str) -> bytes:
    kind = node.kindOf(name)
    if kind == "g":
        raise errors.OnnxExporterError(
            f"the attribute '{name}' of {node.kind()} is a graph, which only If and Loop have here, as blocks"
        )
    return _proto.attribute(name, kind, node[name])


def _block(block: Any, node: Any, name: str) -> bytes:
    inputs = (_proto.value_info(v.debugName(), _type(v, {}, v.debugName())) for v in block.inputs())
    outputs = (_proto.value_info(v.debugName(), _type(v, {}, _made_by(v))) for v in block.outputs())
    return b"".join(_proto.graph(_nodes(block), f"{node.kind()[6:]}_{name}", (), inputs, outputs))


def _type(value: Any, names: dict[int, str], unknown: str) -> bytes:
    """The type of a value; sizes that are not known are called by the value."""
    kind = value.type()
    if kind.kind() == "ListType":
        element = kind.getElementType()
        dtype = element.dtype() if element.kind() == "TensorType" else None
        return _proto.sequence_type(_proto.tensor_type(_number(dtype if dtype is not None else torch.float32), None))
    dtype, sizes = _infer.info(value)
    if dtype is None:
        return b""
    if sizes is not None:
        dims = [names.get(d, f"{unknown}_dim_{d}" if n is None else n) for d, n in enumerate(sizes)]
        return _proto.tensor_type(_number(dtype), dims)
    return _proto.tensor_type(_number(dtype), None)


def _number(dtype: Any) -> int:
    return int(JitScalarType.from_dtype(dtype).onnx_type())
