"""Tensors joined and taken apart along a dimension."""

from __future__ import annotations

from typing import Any

from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx.symbolic_helper import parse_args


@symbolic("cat", "concat", "concatenate")
@parse_args("v", "i")
def cat(g: Any, tensors: Any, dim: int) -> Any:
    if not helper._is_packed_list(tensors):
        return g.op("ConcatFromSequence", tensors, axis_i=dim, new_axis_i=0)
    items = [v for v in helper._unpack_list(tensors) if helper._get_tensor_sizes(v) != [0]]
    return g.op("Concat", *items, axis_i=dim)


@symbolic("stack")
@parse_args("v", "i")
def stack(g: Any, tensors: Any, dim: int) -> Any:
    if not helper._is_packed_list(tensors):
        return g.op("ConcatFromSequence", tensors, axis_i=dim, new_axis_i=1)
    return g.op("Concat", *(helper._unsqueeze_helper(g, v, [dim]) for v in helper._unpack_list(tensors)), axis_i=dim)


@symbolic("hstack")
def hstack(g: Any, tensors: Any) -> Any:
    items = helper._unpack_list(tensors)
    return g.op("Concat", *items, axis_i=0 if helper._rank(items[0], "hstack") == 1 else 1)


@symbolic("vstack", "row_stack")
def vstack(g: Any, tensors: Any) -> Any:
    items = helper._unpack_list(tensors)
    if helper._rank(items[0], "vstack") == 1:
        items = [helper._unsqueeze_helper(g, v, [0]) for v in items]
    return g.op("Concat", *items, axis_i=0)


def _uses(g: Any) -> int | None:
    """In how many values the list that is made is unpacked."""
    users = [u.user for u in g.original_node.output().uses()]
    return next((len(list(u.outputs())) for u in users if u.kind() == "prim::ListUnpack"), None)


@symbolic("split", "unsafe_split")
def split(g: Any, x: Any, sizes: Any, dim: Any = None) -> Any:
    at = 0 if dim is None else helper._get_const(dim, "i", "dim")
    if helper._is_list(sizes):
        return split_with_sizes(g, x, sizes, dim)
    whole = helper._get_tensor_dim_size(x, at)
    part = helper._scalar(sizes)
    if whole is not None and part is not None:
        return _split_at(g, x, [part] * (whole // part) + ([whole % part] if whole % part else []), at)
    if part is not None and _uses(g):
        bounds = [i * part for i in range(_uses(g))] + [INT64_MAX]  # type: ignore[arg-type]
        return g.list([helper._slice_helper(g, x, [at], [a], [b]) for a, b in zip(bounds, bounds[1:])])
    if g.opset < 11:
        helper._onnx_opset_unsupported_detailed("split", g.opset, 11, "the number of parts is not known", x)
    return g.op("SplitToSequence", x, sizes, axis_i=at, keepdims_i=1)


def _split_at(g: Any, x: Any, parts: list[int], dim: int) -> Any:
    if len(parts) == 1:
        return g.list([x])
    if g.opset >= 13:
        made = g.op("Split", x, g.constant(parts), axis_i=dim, outputs=len(parts))
    else:
        made = g.op("Split", x, split_i=parts, axis_i=dim, outputs=len(parts))
    return g.list(made)


@symbolic("split_with_sizes", "unsafe_split_with_sizes")
def split_with_sizes(g: Any, x: Any, sizes: Any, dim: Any = None) -> Any:
    at = 0 if dim is None else helper._get_const(dim, "i", "dim")
    known = helper._maybe_get_const(sizes, "is")
    if isinstance(known, list):
        return _split_at(g, x, known, at)
    if g.opset < 13:
        helper._onnx_opset_unsupported_detailed("split", g.opset, 13, "the sizes are not constants", x)
    count = len(helper._unpack_list(sizes))
    return g.list(g.op("Split", x, helper._sizes_argument(g, sizes), axis_i=at, outputs=count))


@symbolic("chunk", "unsafe_chunk")
@parse_args("v", "i", "i")
def chunk(g: Any, x: Any, chunks: int, dim: int) -> Any:
    whole = helper._get_tensor_dim_size(x, dim)
    if whole is None:
        count = g.op("Gather", g.op("Shape", x), g.constant(dim % helper._rank(x, "chunk")), axis_i=0)
        part = g.op("Div", g.op("Add", count, g.constant(chunks - 1)), g.constant(chunks))
        bounds = [g.op("Mul", part, g.constant(i)) for i in range(chunks + 1)]
        return g.list([helper._slice_helper(g, x, [dim], a, b) for a, b in zip(bounds, bounds[1:])])
    part = -(-whole // chunks)
    return _split_at(g, x, [min(part, whole - i) for i in range(0, whole, part)], dim)


@symbolic("prim::ConstantChunk")
def constant_chunk(g: Any, x: Any) -> Any:
    made = chunk(g, x, g.original_node.i("chunks"), g.original_node.i("dim"))
    return helper._unpack_list(made)


@symbolic("tensor_split")
def tensor_split(g: Any, x: Any, parts: Any, dim: Any = None) -> Any:
    at = 0 if dim is None else helper._get_const(dim, "i", "dim")
    whole = helper._get_tensor_dim_size(x, at)
    known = helper._maybe_get_const(parts, "is" if helper._is_list(parts) else "t")
    if helper._is_value(known) or whole is None:
        helper._onnx_unsupported("tensor_split with sizes or parts that are not known", x)
    if isinstance(known, list) or known.dim():
        cuts = [0, *(known if isinstance(known, list) else known.tolist()), whole]
        return g.list([helper._slice_helper(g, x, [at], [a], [b]) for a, b in zip(cuts, cuts[1:])])
    n = int(known)
    return _split_at(g, x, [whole // n + (i < whole % n) for i in range(n)], at)


@symbolic("unbind")
@parse_args("v", "i")
def unbind(g: Any, x: Any, dim: int) -> Any:
    count = helper._get_tensor_dim_size(x, dim)
    if count is None:
        count = _uses(g)
    if count is None:
        if g.opset < 11:
            helper._onnx_opset_unsupported_detailed("unbind", g.opset, 11, "the number of parts is not known", x)
        return g.op("SplitToSequence", x, g.constant(1), axis_i=dim, keepdims_i=0)
    if count == 1:
        return g.list([helper._squeeze_helper(g, x, [dim])])
    parts = helper._unpack_list(_split_at(g, x, [1] * count, dim))
    return g.list([helper._squeeze_helper(g, p, [dim]) for p in parts])


@symbolic("meshgrid")
def meshgrid(g: Any, tensors: Any, indexing: Any = None) -> Any:
    items = [helper._reshape_helper(g, v, [-1]) for v in helper._unpack_list(tensors)]
    turned = indexing is not None and helper._parse_arg(indexing, "s") == "xy" and len(items) > 1
    if turned:
        items[:2] = items[1::-1]
    shape = g.op("Concat", *(g.op("Shape", v) for v in items), axis_i=0)
    made = []
    for i, v in enumerate(items):
        form = [1] * len(items)
        form[i] = -1
        made.append(g.op("Expand", helper._reshape_helper(g, v, form), shape))
    if turned:
        made[:2] = made[1::-1]
    return g.list(made)
