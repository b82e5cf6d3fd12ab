"""The passes over the graph of aten operators before it becomes one of ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchjit import _C
from torchjit.onnx import _functional, _infer

# Operators whose results' sizes follow from elements.
_OF_ELEMENTS = {
    "aten::nonzero", "aten::nonzero_numpy", "aten::masked_select", "aten::unique", "aten::_unique", "aten::_unique2", "aten::unique_dim",
    "aten::unique_consecutive", "aten::repeat_interleave", "aten::argwhere", "aten::bincount", "aten::index", "torchvision::nms",
    "aten::_pad_packed_sequence",
}  # fmt: skip


def prepare(graph: Any, inputs: list[Any], dynamic: dict[int, set[int]]) -> None:
    """Inlines calls, removes writes, and finds out the sizes that tensors have whatever those in dynamic are: dimensions by the positions
    of inputs.
    """
    _C._jit_pass_inline(graph)
    _C._jit_pass_inline_fork_wait(graph)
    _C._jit_pass_lower_all_tuples(graph)
    _split_outputs(graph)
    _C._jit_pass_dce(graph)
    fixed = not dynamic and not any(n.kind() in _OF_ELEMENTS for n in _functional.nodes_of(graph.block()))
    if not all(v.isCompleteTensor() for n in graph.nodes() for v in n.outputs() if v.type().kind() == "TensorType"):
        _find_sizes(graph, dynamic, fixed)
    elif not fixed:
        _compare_sizes(graph, dynamic)
    _functional.remove_writes(graph)
    _C._jit_pass_cse(graph)
    _C._jit_pass_dce(graph)


def _set_inputs(graph: Any, kinds: list[Any], dynamic: dict[int, set[int]], factor: int | None) -> None:
    """Erases all types and gives inputs theirs: dynamic sizes are so many times as large, not known for None."""
    _C._jit_pass_erase_shape_information(graph)
    for position, (value, kind) in enumerate(zip(graph.inputs(), kinds)):
        sizes = kind.varyingSizes() if kind.kind() == "TensorType" else None
        if sizes is not None and position in dynamic:
            changed = [(n * factor if factor else None) if d in dynamic[position] else n for d, n in enumerate(sizes)]
            kind = _infer.tensor_type(kind.dtype(), changed)
        value.setType(kind)


def _compare_sizes(graph: Any, dynamic: dict[int, set[int]]) -> None:
    """Sizes of a trace that are others where dynamic ones are twice as large, or cannot be told without elements, are not known."""
    other = graph.copy()
    _set_inputs(other, [v.type() for v in graph.inputs()], dynamic, 2)
    _C._infer_tensor_types(other)
    for value, twin in zip(values(graph.block()), values(other.block()), strict=True):
        dtype, sizes = _infer.info(value)
        if value.type().kind() != "TensorType" or sizes is None or value.node().kind() == "prim::Constant":
            continue
        found = _infer.info(twin)[1]
        kept: list[int | None] = [None] * len(sizes)
        if found is not None and len(found) == len(sizes):
            kept = [a if a == b else None for a, b in zip(sizes, found)]
        if kept != sizes:
            _infer.set_type(value, dtype, kept)


def _find_sizes(graph: Any, dynamic: dict[int, set[int]], fixed: bool) -> None:
    """Finds the types of a compiled program's tensors, and the branches and loops that follow from them."""
    known = {v: _infer.info(v) for v in values(graph.block())}
    _set_inputs(graph, [v.type() for v in graph.inputs()], dynamic, None)
    _C._infer_tensor_types(graph)
    for _ in range(3):
        _C._jit_pass_peephole(graph)
        _C._propagate_constants(graph)
        _C._jit_pass_constant_loop_unrolling(graph)
        _C._jit_pass_dce(graph)
        _C._infer_tensor_types(graph)
    for value in values(graph.block()):
        dtype, sizes = known.get(value, (None, None))
        if value.type().kind() == "TensorType":
            # A constant of a trace stands for a number: only the trace knows the type of what is computed with it.
            found, sizes_found = _infer.info(value)
            _infer.set_type(value, dtype if dtype is not None else found, sizes_found)
            _infer.refine(value, dtype, sizes if sizes is None or fixed else [None] * len(sizes))


def values(block: Any) -> Iterator[Any]:
    """The values that a block and those in it define."""
    yield from block.inputs()
    for node in block.nodes():
        yield from node.outputs()
        for inner in node.blocks():
            yield from values(inner)


def _split_outputs(graph: Any) -> None:
    """A tuple that is returned becomes as many results."""
    for position in reversed(range(len(list(graph.outputs())))):
        made = list(graph.outputs())[position].node()
        if made.kind() == "prim::TupleConstruct":
            later = list(graph.outputs())[position + 1 :]
            for _ in range(len(later) + 1):
                graph.eraseOutput(position)
            for value in [*made.inputs(), *later]:
                graph.registerOutput(value)
