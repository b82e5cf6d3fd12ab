"""What exports print: the graph, and descriptions of models."""

from __future__ import annotations

import sys
from typing import Any

from torchjit.onnx import _infer

verbose = [False]
_stream: list[Any] = [None]


def log(*args: Any) -> None:
    """Prints where exports are to print."""
    if verbose[0]:
        print(*args, sep="", file=_stream[0] or sys.stdout)


def set_stream(stream: Any) -> None:
    """Has exports print to a file."""
    _stream[0] = stream


def describe(graph: Any, params: dict[str, Any], opset: int, axes: dict[str, dict[int, str]], keep_as_inputs: bool) -> str:
    """A model as text: inputs, outputs, the shapes of initializers, and the nodes."""
    inputs = [v for v in graph.inputs() if keep_as_inputs or v.debugName() not in params]
    lines = [
        "ModelProto {", '  producer_name: "pytorch"', '  domain: ""', '  doc_string: ""', "  graph:", "    GraphProto {", '      name: "torch_jit"',
        f"      inputs: [{', '.join(_value(v, axes) for v in inputs)}]",
        f"      outputs: [{', '.join(_value(v, axes) for v in graph.outputs())}]",
        "      value_infos: []",
        f"      initializers: [{', '.join(f'TensorProto shape: [{_spaced(t.shape)}]' for t in params.values())}]",
        "      nodes: [", ",\n".join("        " + _node(n, 8) for n in graph.nodes() if n.kind() != "prim::Constant"), "      ]", "    }",
        f"  opset_import: [OperatorSetIdProto {{ domain: , version: {opset}}}],", "}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _spaced(items: Any) -> str:
    return " ".join(str(n) for n in items)


def _value(v: Any, axes: dict[str, dict[int, str]]) -> str:
    from torchjit.onnx._type_utils import JitScalarType

    dtype, sizes = _infer.info(v)
    names = axes.get(v.debugName(), {})
    dims = _spaced("?" if n is None and d not in names else names.get(d, n) for d, n in enumerate(sizes or ()))
    number = int(JitScalarType.from_dtype(dtype).onnx_type()) if dtype is not None else 0
    return f'{{name: "{v.debugName()}", type:Tensor dtype: {number}, Tensor dims: {dims}}}'


def _node(node: Any, indent: int) -> str:
    inputs = ",".join("" if v.node().mustBeNone() else v.debugName() for v in node.inputs())
    outputs = ",".join(v.debugName() for v in node.outputs())
    attributes = [_attribute(node, name) for name in node.attributeNames() if name != "onnx_name"]
    for block in node.blocks():
        inner = "".join(f"\n{' ' * (indent + 4)}{_node(n, indent + 4)}" for n in block.nodes() if n.kind() != "prim::Constant")
        attributes.append(f"{{ graph: {{{inner} -> {','.join(v.debugName() for v in block.outputs())} }}}}")
    kind = node.kind().removeprefix("onnx::")
    return f'Node {{type: "{kind}", inputs: [{inputs}], outputs: [{outputs}], attributes: [{",".join(attributes)}]}}'


_KINDS = {"f": "float", "i": "int", "s": "string", "t": "tensor", "fs": "floats", "is": "ints", "ss": "strings", "ts": "tensors"}


def _attribute(node: Any, name: str) -> str:
    kind, value = node.kindOf(name), node[name]
    if kind == "t":
        shown = f"TensorProto shape: [{_spaced(value.shape)}]"
    elif kind in ("is", "fs"):
        shown = f"[{_spaced(value)}]"
    else:
        shown = f"'{value}'" if kind == "s" else f"{value:g}" if kind == "f" else str(value)
    return f"{{ name: '{name}', type: {_KINDS.get(kind, kind)}, value: {shown}}}"
