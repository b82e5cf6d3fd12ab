"""Operators against what their schemas say of memory: torch._C._jit_check_alias_annotation."""

from __future__ import annotations

from typing import Any

from torchjit import _C, _native


def check_alias_annotation(graph: Any, args: tuple[Any, ...], unqualified_op_name: str) -> None:
    """Runs the first node of an operator, of aten where the name has no namespace, on what it has in the graph for args, the graph's inputs.

    An optional value is what a constant or an input gives, and None where something else gives it. Raises RuntimeError where the operator
    writes a tensor, or gives one that shares memory with an input, and its schema does not say so.
    """
    kind = unqualified_op_name if "::" in unqualified_op_name else "aten::" + unqualified_op_name
    kind = _native.normalized_name(kind)
    for i, node in enumerate(graph.nodes()):
        if node.kind() == kind:
            _check_aliases(node, _inputs_of(graph, i, args))
            return


def _inputs_of(graph: Any, index: int, args: tuple[Any, ...]) -> list[Any]:
    """What the node of an index is given when the graph runs on args."""
    before = graph.copy()
    for _ in range(len(list(before.outputs()))):
        before.eraseOutput(0)
    wanted = list(list(before.nodes())[index].inputs())
    computed = [v for v in wanted if not _is_unknown(v)]
    for v in computed:
        before.registerOutput(v)
    run = _C._create_function_from_graph("inputs", before)(*args)
    values = iter(run if len(computed) > 1 else (run,))
    return [None if _is_unknown(v) else next(values) for v in wanted]


def _is_unknown(v: Any) -> bool:
    return v.type().kind() == "OptionalType" and v.node().kind() not in ("prim::Constant", "prim::Param")


def _operator_alone(node: Any) -> Any:
    """A function of the operator of a node, whose parameters are the inputs."""
    graph = _C.Graph()
    alone = graph.create(node.kind(), [graph.addInput().setType(v.type()) for v in node.inputs()], node.outputsSize())
    graph.insertNode(alone)
    for made, v in zip(alone.outputs(), node.outputs(), strict=True):
        graph.registerOutput(made.setType(v.type()))
    return _C._create_function_from_graph("operator", graph)


def _tensors_in(x: Any) -> list[Any]:
    if isinstance(x, _native.TensorBase):
        return [x]
    return [t for item in x for t in _tensors_in(item)] if isinstance(x, (list, tuple)) else []


def _check_aliases(node: Any, inputs: list[Any]) -> None:
    schema = _C.parse_schema(node.schema())
    versions = [[t._version for t in _tensors_in(x)] for x in inputs]
    result = _operator_alone(node)(*inputs)
    results = result if len(schema.returns) > 1 else (result,)
    for a, x, before in zip(schema.arguments, inputs, versions, strict=True):
        writes = a.alias_info is not None and a.alias_info.is_write
        if not writes and [t._version for t in _tensors_in(x)] != before:
            raise RuntimeError(f"{schema.name} writes its argument {a.name}, but its schema does not say so: {schema}")
        for r, out in zip(schema.returns, results, strict=True):
            if _shares(x, out) and (a.alias_info is None or r.alias_info is None):
                raise RuntimeError(f"a result of {schema.name} shares memory with {a.name}, but its schema does not say so: {schema}")


def _shares(x: Any, y: Any) -> bool:
    """Whether two tensors share memory. What is in lists is not looked at."""
    return isinstance(x, _native.TensorBase) and isinstance(y, _native.TensorBase) and _native.tensor_shares_storage(x, y)
