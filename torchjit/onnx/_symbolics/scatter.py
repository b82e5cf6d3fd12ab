"""Elements written at places."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.index import nonzero, positions, stacked
from torchjit.onnx.symbolic_helper import parse_args


@symbolic("index_put", "_index_put_impl", "_unsafe_index_put", since=11)
def index_put(g: Any, x: Any, indices: Any, values: Any, accumulate: Any = None, unsafe: Any = None) -> Any:
    adds = accumulate is not None and helper._parse_arg(accumulate, "b")
    found = positions(g, x, helper._unpack_list(indices))
    dims = [d for d, v in enumerate(found) if v is not None]
    if helper._dtype(x) is not None and helper._dtype(values) != helper._dtype(x):
        values = g.cast(values, helper._dtype(x))
    if adds and g.opset < 16:
        helper._onnx_opset_unsupported("index_put with accumulate=True", g.opset, 16, x)
    rank = len(found)
    rest = [d for d in range(rank) if d not in dims]
    perm = dims + rest
    turned = x if perm == list(range(rank)) else g.op("Transpose", x, perm_i=perm)
    places = stacked(g, [found[d] for d in dims])
    values = _updates(g, turned, values, places, found, dims)
    made = g.op("ScatterND", turned, places, values, reduction_s="add" if adds else None)
    return made if turned == x else g.op("Transpose", made, perm_i=[perm.index(d) for d in range(rank)])


def _updates(g: Any, turned: Any, values: Any, places: Any, found: list[Any], dims: list[int]) -> Any:
    """Values with the sizes that ScatterND takes: those of the places, then those of the dimensions that are not indexed."""
    width = helper._rank(places, "index_put") - 1
    count, rest = len(dims), len(found) - len(dims)
    heads = helper._slice_helper(g, g.op("Shape", places), [0], [0], [width])
    tails = helper._slice_helper(g, g.op("Shape", turned), [0], [count], [INT64_MAX])
    inside = count and dims == list(range(dims[0], dims[-1] + 1)) and dims[0] != 0
    if inside and (helper._get_tensor_rank(values) or 0) > width + rest - dims[0]:
        # The values have the dimensions in front of the indexed ones first.
        missing = width + rest - helper._rank(values, "index_put")
        if missing:
            values = helper._unsqueeze_helper(g, values, list(range(missing)))
        front = dims[0]
        values = g.op(
            "Transpose",
            values,
            perm_i=[*range(front, front + width), *range(front), *range(front + width, width + rest)],
        )
    shape = g.op("Concat", heads, tails, axis_i=0) if rest else heads
    return g.op("Expand", values, shape)


@symbolic("masked_scatter", since=11)
def masked_scatter(g: Any, x: Any, mask: Any, source: Any) -> Any:
    places = nonzero(g, g.op("Expand", mask, g.op("Shape", x)))
    count = g.op("Gather", g.op("Shape", places), g.constant([0]), axis_i=0)
    taken = helper._slice_helper(g, helper._reshape_helper(g, source, [-1]), [0], [0], count)
    return g.op("ScatterND", x, places, taken)


def _source(g: Any, x: Any, index: Any, source: Any) -> Any:
    """What is scattered: as many elements as places, of the tensor's type."""
    dtype = helper._dtype(x)
    if dtype is not None and helper._dtype(source) != dtype:
        source = g.cast(source, dtype)
    if helper._get_tensor_rank(source) == 0:
        return g.op("Expand", source, g.op("Shape", index))
    sizes, wanted = helper._get_tensor_sizes(source), helper._get_tensor_sizes(index)
    if sizes is not None and sizes == wanted and None not in sizes:
        return source
    rank = helper._rank(index, "scatter")
    return helper._slice_helper(g, source, list(range(rank)), [0] * rank, g.op("Shape", index))


@symbolic("scatter", since=11)
def scatter(g: Any, x: Any, dim: Any, index: Any, source: Any, reduce: Any = None) -> Any:
    kind = None if reduce is None or helper._is_none(reduce) else helper._parse_arg(reduce, "s")
    if kind is not None and g.opset < 16:
        helper._onnx_opset_unsupported("scatter with reduce", g.opset, 16, x)
    mode = {None: None, "add": "add", "multiply": "mul"}[kind]
    at = helper._get_const(dim, "i", "dim")
    return g.op("ScatterElements", x, index, _source(g, x, index, source), axis_i=at, reduction_s=mode)


@symbolic("scatter_add", since=11)
def scatter_add(g: Any, x: Any, dim: Any, index: Any, source: Any) -> Any:
    """Sums of what goes to one place need opset version 16; into zeros before it, where no place occurs twice."""
    at = helper._get_const(dim, "i", "dim")
    source = _source(g, x, index, source)
    if g.opset >= 16:
        return g.op("ScatterElements", x, index, source, axis_i=at, reduction_s="add")
    zeros = g.op("ConstantOfShape", g.op("Shape", x), value_t=torch.tensor([0], dtype=helper._dtype(x)))
    return g.op("Add", x, g.op("ScatterElements", zeros, index, source, axis_i=at))


@symbolic("scatter_reduce", since=16)
def scatter_reduce(g: Any, x: Any, dim: Any, index: Any, source: Any, reduce: Any, include_self: Any) -> Any:
    kind, includes = helper._parse_arg(reduce, "s"), helper._parse_arg(include_self, "b")
    modes = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    if kind not in modes or not includes or modes[kind] in ("max", "min") and g.opset < 18:
        helper._onnx_unsupported(f"scatter_reduce with reduce={kind} and include_self={includes}", x)
    at = helper._get_const(dim, "i", "dim")
    return g.op("ScatterElements", x, index, _source(g, x, index, source), axis_i=at, reduction_s=modes[kind])


def _along(g: Any, x: Any, dim: int, index: Any) -> Any:
    """An index of slices as one of elements."""
    rank = helper._rank(x, "index")
    if helper._get_tensor_rank(index) == 0:
        index = helper._unsqueeze_helper(g, index, [0])
    shape = [1] * rank
    shape[dim] = -1
    sizes = list(sizes_of(g, x))
    sizes[dim] = g.op("Shape", index)
    return g.op("Expand", helper._reshape_helper(g, index, shape), g.op("Concat", *sizes, axis_i=0))


def sizes_of(g: Any, x: Any) -> list[Any]:
    """The sizes of a tensor as tensors of one element."""
    shape = g.op("Shape", x)
    return [g.op("Gather", shape, g.constant([d]), axis_i=0) for d in range(helper._rank(x, "index"))]


@symbolic("index_copy", since=11)
def index_copy(g: Any, x: Any, dim: Any, index: Any, source: Any) -> Any:
    at = helper._get_const(dim, "i", "dim") % helper._rank(x, "index_copy")
    return g.op("ScatterElements", x, _along(g, x, at, index), source, axis_i=at)


@symbolic("index_fill", since=11)
def index_fill(g: Any, x: Any, dim: Any, index: Any, value: Any) -> Any:
    at = helper._get_const(dim, "i", "dim") % helper._rank(x, "index_fill")
    places = _along(g, x, at, index)
    return g.op("ScatterElements", x, places, _source(g, x, places, value), axis_i=at)


@symbolic("index_add", since=11)
@parse_args("v", "i", "v", "v", "v")
def index_add(g: Any, x: Any, dim: int, index: Any, source: Any, alpha: Any = None) -> Any:
    at = dim % helper._rank(x, "index_add")
    if alpha is not None and helper._scalar(alpha) != 1:
        source = g.op("Mul", source, alpha)
    if g.opset >= 16:
        return g.op("ScatterElements", x, _along(g, x, at, index), source, axis_i=at, reduction_s="add")
    zeros = g.op("ConstantOfShape", g.op("Shape", x), value_t=torch.tensor([0], dtype=helper._dtype(x)))
    return g.op("Add", x, g.op("ScatterElements", zeros, _along(g, x, at, index), source, axis_i=at))
