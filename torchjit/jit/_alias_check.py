"""Operators against what their schemas say of memory: torch._C._jit_check_alias_annotation."""

from __future__ import annotations

from typing import Any

import torchjit
from torchjit import _native


def check_alias_annotation(graph: Any, args: tuple[Any, ...], unqualified_op_name: str) -> None:
    """Runs the first node of an operator, of aten where the name has no namespace, on what it has in the graph for args, the graph's inputs.

    Raises RuntimeError where it writes a tensor, or gives one that shares memory with an input, and its schema does not say so.
    """
    kind = unqualified_op_name if "::" in unqualified_op_name else "aten::" + unqualified_op_name
    for node in graph.findAllNodes(kind):
        _check_aliases(node, dict(zip((v.unique() for v in graph.inputs()), args, strict=True)))
        return


def _value_of(v: Any, known: dict[int, Any]) -> Any:
    if v.unique() in known:
        return known[v.unique()]
    node = v.node()
    if node.kind() == "prim::ListConstruct":
        return [_value_of(x, known) for x in node.inputs()]
    if node.kind() != "prim::Constant":
        raise RuntimeError(f"the value of %{v.debugName()}, which {node.kind()} gives, does not follow from the graph's inputs")
    return v.toIValue()


def _tensors_in(x: Any) -> list[Any]:
    if isinstance(x, _native.TensorBase):
        return [x]
    return [t for item in x for t in _tensors_in(item)] if isinstance(x, (list, tuple)) else []


def _check_aliases(node: Any, known: dict[int, Any]) -> None:
    schema = torchjit._C.parse_schema(node.schema())
    inputs = [_value_of(v, known) for v in node.inputs()]
    versions = [[t._version for t in _tensors_in(x)] for x in inputs]
    plain = [x for a, x in zip(schema.arguments, inputs, strict=True) if not a.kwarg_only]
    named = {a.name: x for a, x in zip(schema.arguments, inputs, strict=True) if a.kwarg_only}
    space, _, name = node.kind().partition("::")
    result = getattr(getattr(torchjit.ops, space), name)(*plain, **named)
    results = result if len(schema.returns) > 1 else (result,)
    for a, x, before in zip(schema.arguments, inputs, versions, strict=True):
        writes = a.alias_info is not None and a.alias_info.is_write
        if not writes and [t._version for t in _tensors_in(x)] != before:
            raise RuntimeError(f"{schema.name} writes its argument {a.name}, but its schema does not say so: {schema}")
        for r, out in zip(schema.returns, results, strict=True):
            if _shares(x, out) and (a.alias_info is None or r.alias_info is None):
                raise RuntimeError(f"a result of {schema.name} shares memory with {a.name}, but its schema does not say so: {schema}")


def _shares(x: Any, y: Any) -> bool:
    return any(_native.tensor_shares_storage(a, b) for a in _tensors_in(x) for b in _tensors_in(y))
