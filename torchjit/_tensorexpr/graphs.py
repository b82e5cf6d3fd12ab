"""What is done to graphs before they become kernels of tensor expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def trim_graph(graph: Any, iters: int) -> Any:
    """Moves the outputs of a graph so many operators towards its inputs: each is replaced by what the operator reads."""
    from torchjit import _C

    made = graph.copy()
    for _ in range(max(iters, 0)):
        inputs = {v.debugName() for v in made.inputs()}
        moved = [v for v in made.outputs() if v.debugName() not in inputs]
        if not moved:
            break
        for value in moved:
            made.eraseOutput(next(i for i, v in enumerate(made.outputs()) if v.debugName() == value.debugName()))
            taken = {v.debugName() for v in made.outputs()}
            for v in value.node().inputs():
                if v.type().kind() == "TensorType" and v.debugName() not in taken:
                    taken.add(v.debugName())
                    made.registerOutput(v)
        _C._jit_pass_dce(made)
    return made


def remove_unused_self_argument(graph: Any) -> Any:
    """Removes the first input of a graph where that is a module that nothing reads."""
    first = next(iter(graph.inputs()), None)
    if first is not None and first.type().kind() in ("ClassType", "InterfaceType") and not first.uses():
        graph.eraseInput(0)
    return graph


def remove_graph_output(graph: Any, index: int) -> Any:
    """Removes an output of a graph."""
    count = len(list(graph.outputs()))
    if not 0 <= index < count:
        raise RuntimeError(f"remove_graph_output(): the graph has {count} outputs, none of number {index}")
    graph.eraseOutput(index)
    return graph


def replace_list_output_with_tuple(graph: Any) -> Any:
    """Has a graph that returns one list which it makes return a tuple."""
    outputs = list(graph.outputs())
    if len(outputs) == 1 and outputs[0].node().kind() == "prim::ListConstruct":
        from torchjit import _C

        items = list(outputs[0].node().inputs())
        node = graph.create("prim::TupleConstruct", items, 1)
        node.output().setType(_C.TupleType([v.type() for v in items]))
        graph.appendNode(node)
        graph.eraseOutput(0)
        graph.registerOutput(node.output())
    return graph


def _values(graph: Any) -> list[Any]:
    return [*graph.inputs(), *[v for n in graph.nodes() for v in n.outputs()]]


def make_shapes_symbolic(graph: Any, sizes: Sequence[int]) -> list[int]:
    """Has dimensions of some sizes any size: each gets an input of the graph, and a symbol, which is returned."""
    from torchjit import _C

    symbols = [_C._new_symbolic_shape_symbol() for _ in sizes]
    changed = dict(zip(sizes, symbols))
    for v in _values(graph):
        if v.type().kind() == "TensorType":
            known = v.type().sizes()
            if known is not None and any(s in changed for s in known):
                v.setType(_with_symbols(v.type(), [changed.get(s, s) for s in known]))
    for _ in sizes:
        added = graph.addInput()
        added.setDebugName("sym_shape")
        added.setType(_C.IntType.get())
    return symbols


def _with_symbols(t: Any, sizes: Sequence[int]) -> Any:
    """The type of a tensor with other sizes, of which symbols are negative."""
    from torchjit import _C

    parts = [str(s) if s >= 0 else f"SS({s})" for s in sizes]
    if t.strides() is not None:
        parts.append(f"strides={list(t.strides())}")
    if t.requires_grad() is not None:
        parts.append(f"requires_grad={int(t.requires_grad())}")
    if t.device() is not None:
        parts.append(f"device={t.device()}")
    graph = _C.parse_ir(f"graph(%x : {t.scalarType() or 'Tensor'}({', '.join(parts)})):\n  return (%x)")
    return next(graph.inputs()).type()


def annotate_input_shapes(graph: Any, inputs: Sequence[Any]) -> None:
    """Gives inputs of a graph the types of tensors; None leaves an input."""
    for v, x in zip(graph.inputs(), inputs):
        if x is not None:
            v.inferTypeFrom(x)


def fixup_missing_shape_info(graph: Any) -> None:
    """Gives tensors of the graph whose types are not known those that follow from its inputs."""
    from torchjit import _C

    if all(v.type().kind() != "TensorType" or v.type().sizes() is not None for v in graph.inputs()):
        _C._jit_pass_propagate_shapes_on_graph(graph)


def is_graph_compilable(graph: Any) -> bool:
    """Whether the types of all inputs are known, and every operator is one that kernels have."""
    from torchjit._tensorexpr.kernels import has_lowering

    for v in graph.inputs():
        t = v.type()
        if t.kind() == "TensorType":
            if t.dim() is None or t.scalarType() is None:
                return False
        elif t.kind() not in ("IntType", "FloatType", "BoolType"):
            return False
    return all(n.kind() == "prim::Constant" or has_lowering(n.kind()) for n in graph.nodes())
