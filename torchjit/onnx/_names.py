"""The names of an ONNX graph's nodes and values."""

from __future__ import annotations

from typing import Any

from torchjit.onnx import _functional, _prepare


def name_values(graph: Any, params: dict[str, Any], input_names: Any, output_names: Any) -> dict[str, Any]:
    """Gives inputs and outputs their names, and other values one by an operator that takes them. Returns the initializers by name."""
    outputs = list(graph.outputs())
    inputs = [v for v in graph.inputs() if v.debugName() not in params]
    _check_count("input", input_names, [*inputs, *(v for v in graph.inputs() if v.debugName() in params)])
    _check_count("output", output_names, outputs)
    tensors = {v: params[v.debugName()] for v in graph.inputs() if v.debugName() in params}
    for value in [*graph.inputs(), *_prepare.values(graph.block())]:
        if value.debugName().isdigit() and value not in outputs and value.uses():
            user = value.uses()[0].user
            if not user.kind().startswith("prim::"):
                value.setDebugName(f"{user.kind()}_{value.debugName()}")
    for value, name in zip([*inputs, *tensors], input_names or ()):
        value.setDebugName(name)
    for value, name in zip(outputs, output_names or ()):
        value.setDebugName(name)
    return {v.debugName(): t for v, t in tensors.items()}


def _check_count(what: str, names: Any, values: list[Any]) -> None:
    if names is not None and len(names) > len(values):
        raise RuntimeError(f"number of {what} names provided ({len(names)}) exceeded number of {what}s ({len(values)})")


def name_nodes(graph: Any) -> None:
    """Gives nodes without one a name by their module and operator, and what they make one by the node: not what the graph returns.

    The scopes of modules say their class and name: "a.B::body". Other nodes stay as they are.
    """
    outputs = set(graph.outputs())
    counts: dict[str, int] = {}
    for node in _functional.nodes_of(graph.block()):
        kind = node.kind()
        if "::" not in node.scopeName() or node.hasAttribute("onnx_name"):
            continue
        name = f"{_path(node.scopeName())}/{kind.split('::')[1]}"
        count = counts[name] = counts.get(name, -1) + 1
        if count:
            name = f"{name}_{count}"
        node.s_("onnx_name", name)
        for i, value in enumerate(node.outputs()):
            if value not in outputs and value.uses():
                value.setDebugName(f"{name}_output_{i}")


def _path(scope: str) -> str:
    """The names of modules in a scope: "a.B::/c.D::body/e.F::0" is "/body/0"."""
    names = [part.split("::")[-1] for part in scope.split("/")]
    return "".join("/" + name for name in names if name)
