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
    compiled = any(
        not v.isCompleteTensor() for n in graph.nodes() for v in n.outputs() if v.type().kind() == "TensorType"
    )
    _C._jit_pass_dce(graph)
    known = {v: (*_infer.info(v), v.type()) for v in values(graph.block())}
    given = [v.type() for v in graph.inputs()]
    _C._jit_pass_erase_shape_information(graph)
    for position, (value, kind) in enumerate(zip(graph.inputs(), given)):
        sizes = kind.varyingSizes() if kind.kind() == "TensorType" else None
        if sizes is not None and position in dynamic:
            kind = _infer.tensor_type(
                kind.dtype(), [None if d in dynamic[position] else n for d, n in enumerate(sizes)]
            )
        value.setType(kind)
    _C._jit_pass_propagate_shapes_on_graph(graph)
    if compiled:
        for _ in range(3):
            _C._jit_pass_peephole(graph)
            _C._jit_pass_constant_propagation(graph)
            _C._jit_pass_constant_loop_unrolling(graph)
            _C._jit_pass_dce(graph)
            _C._jit_pass_propagate_shapes_on_graph(graph)
    reliable = not dynamic and not any(n.kind() in _OF_ELEMENTS for n in _functional.nodes_of(graph.block()))
    present = set(values(graph.block()))
    for value, (dtype, sizes, kind) in known.items():
        if value not in present or value.type().kind() != "TensorType":
            continue
        if reliable and not compiled:
            value.setType(kind)
        else:
            found, sizes_found = _infer.info(value)
            _infer.set_type(
                value, dtype if dtype is not None else found, sizes_found
            )  # a constant stands for a number: only the trace knows
            _infer.refine(value, dtype, sizes if sizes is None or reliable else [None] * len(sizes))
    _functional.remove_writes(graph)
    _C._jit_pass_cse(graph)
    _C._jit_pass_dce(graph)


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
