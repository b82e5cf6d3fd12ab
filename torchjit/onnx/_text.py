"""What exports print: the graph, and descriptions of models."""

from __future__ import annotations

import sys
from typing import Any

from torchjit.onnx import _infer
from torchjit.onnx._type_utils import JitScalarType

# The attributes that the blocks of nodes are.
BLOCKS = {"onnx::If": ("then_branch", "else_branch"), "onnx::Loop": ("body",)}

verbose = [False]
_stream: list[Any] = [None]


def log(*args: Any) -> None:
    """Prints where exports are to print."""
    if verbose[0]:
        print(*args, sep="", file=_stream[0] or sys.stdout)


def set_stream(stream: Any) -> None:
    """Has exports print to a file."""
    _stream[0] = stream


def describe(graph: Any, params: dict[str, Any], opsets: dict[str, int], keep_as_inputs: bool) -> str:
    """A model as text: inputs, outputs, the shapes of initializers, and the nodes."""
    inputs = [v for v in graph.inputs() if keep_as_inputs or v.debugName() not in params]
    shapes = ",".join(f"TensorProto shape: [{_spaced(t.shape)}]" for t in params.values())
    body = _graph("torch_jit", inputs, graph.outputs(), shapes, graph.nodes(), 4)
    lines = ["ModelProto {", '  producer_name: "pytorch"', '  domain: ""', '  doc_string: ""', "  graph:", *body]
    imports = "".join(f"OperatorSetIdProto {{ domain: {domain}, version: {version}}}" for domain, version in opsets.items())
    return "\n".join([*lines, f"  opset_import: [{imports}],", "}", ""])


def _graph(name: str, inputs: Any, outputs: Any, initializers: str, nodes: Any, indent: int) -> list[str]:
    """The lines of a graph, indented."""
    nodes = [_node(n, indent + 4) for n in nodes if n.kind() != "prim::Constant"]
    lines = [
        "GraphProto {", f'  name: "{name}"',
        f"  inputs: [{','.join(map(_value, inputs))}]", f"  outputs: [{','.join(map(_value, outputs))}]",
        "  value_infos: []", f"  initializers: [{initializers}]", "  nodes: [",
    ]  # fmt: skip
    lines += [f"    {text}," for text in nodes[:-1]] + [f"    {text}" for text in nodes[-1:]] + ["  ]", "}"]
    return [" " * indent + line for line in lines]


def _spaced(items: Any) -> str:
    return " ".join(str(n) for n in items)


def _value(v: Any) -> str:
    """A value's name and type: a size that is not known is a question mark."""
    dtype, sizes = _infer.info(v)
    dims = _spaced("?" if n is None else n for n in sizes or ())
    number = int(JitScalarType.from_dtype(dtype).onnx_type()) if dtype is not None else 0
    return f'{{name: "{v.debugName()}", type:Tensor dtype: {number}, Tensor dims: {dims}}}'


def _node(node: Any, indent: int) -> str:
    inputs = ",".join("" if v.node().mustBeNone() else v.debugName() for v in node.inputs())
    outputs = ",".join(v.debugName() for v in node.outputs())
    attributes = [_attribute(node, name) for name in node.attributeNames() if name != "onnx_name"]
    for name, block in zip(BLOCKS.get(node.kind(), ()), node.blocks()):
        inner = "\n".join(
            _graph(f"{node.kind()[6:]}_{name}", block.inputs(), block.outputs(), "", block.nodes(), indent + 4)
        )
        attributes.append(f"{{ name: '{name}', type: graph, value:\n{inner}\n{' ' * indent}}}")
    kind = node.kind().split("::", 1)[1]
    return f'Node {{type: "{kind}", inputs: [{inputs}], outputs: [{outputs}], attributes: [{",".join(attributes)}]}}'


_KINDS = {
    "f": "float",
    "i": "int",
    "s": "string",
    "t": "tensor",
    "fs": "floats",
    "is": "ints",
    "ss": "strings",
    "ts": "tensors",
}


def _attribute(node: Any, name: str) -> str:
    kind, value = node.kindOf(name), node[name]
    if kind == "t":
        shown = f"value:TensorProto shape: [{_spaced(value.shape)}]"
    elif kind == "s":
        shown = f"value: '{value}'"
    elif kind in ("f", "i"):
        shown = f"value: {value:g}" if kind == "f" else f"value: {value}"
    else:
        shown = f"values: [{_spaced(f'{v!r}' if kind == 'ss' else f'{v:g}' if kind == 'fs' else v for v in value)}]"
    return f"{{ name: '{name}', type: {_KINDS.get(kind, kind)}, {shown}}}"
