"""Elements at places: slices, gathers, scatters."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.onnx import _infer
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.creation import named
from torchjit.onnx._symbolics.rnn import first_batch_size


@symbolic("slice")
def slice_(g: Any, x: Any, *args: Any) -> Any:
    if helper._is_list(x):
        return _slice_of_list(g, x, *args)
    dim, start, end, step = args
    at = helper._get_const(dim, "i", "dim")
    first = 0 if helper._is_none(start) else helper._maybe_get_const(start, "i")
    last = INT64_MAX if helper._is_none(end) else helper._maybe_get_const(end, "i")
    stride = helper._get_const(step, "i", "step")
    if first == 0 and last == INT64_MAX and stride == 1:
        return x
    begin, stop = ([v] if isinstance(v, int) else v for v in (first, last))
    return helper._slice_helper(g, x, [at], begin, stop, [stride] if g.opset >= 10 else None)


def _slice_of_list(g: Any, x: Any, start: Any, end: Any, step: Any) -> Any:
    bounds = [None if helper._is_none(v) else helper._get_const(v, "i", "index") for v in (start, end, step)]
    return g.list(helper._unpack_list(x)[slice(*bounds)], x.type())


@symbolic("narrow")
def narrow(g: Any, x: Any, dim: Any, start: Any, length: Any) -> Any:
    at = helper._get_const(dim, "i", "dim")
    return helper._slice_helper(g, x, [at], start, g.op("Add", start, length))


@symbolic("select")
def select(g: Any, x: Any, dim: Any, index: Any) -> Any:
    sequences = first_batch_size(g, x, index)
    if sequences is not None:
        return sequences
    at = helper._get_const(dim, "i", "dim")
    if g.opset < 11 and (helper._scalar(index) or 0) < 0:
        size = helper._get_tensor_dim_size(x, at)
        if size is None:
            helper._onnx_opset_unsupported_detailed(
                "select", g.opset, 11, "the index is negative and the size not known", x
            )
        index = g.constant(int(helper._scalar(index)) + size)
    return helper._select_helper(g, x, at, index)


def _filled_slice(g: Any, x: Any, source: Any, dim: int, places: Any) -> Any:
    """x with slices along a dimension replaced: the dimension is the first for a while, where ScatterND takes one index for each slice."""
    if helper._dtype(source) != helper._dtype(x) and helper._dtype(x) is not None:
        source = g.cast(source, helper._dtype(x))
    rank = helper._rank(x, "scatter")
    dim %= rank
    perm = [dim, *(d for d in range(rank) if d != dim)]
    back = [perm.index(d) for d in range(rank)]
    turned, parts = (
        (x, source) if dim == 0 else (g.op("Transpose", x, perm_i=perm), g.op("Transpose", source, perm_i=perm))
    )
    made = g.op("ScatterND", turned, helper._unsqueeze_helper(g, places, [1]), parts)
    return made if dim == 0 else g.op("Transpose", made, perm_i=back)


@symbolic("select_scatter", since=11)
def select_scatter(g: Any, x: Any, source: Any, dim: Any, index: Any) -> Any:
    at = helper._get_const(dim, "i", "dim") % helper._rank(x, "select_scatter")
    place = helper._scalar(index)
    if place is not None and place < 0:
        size = helper._size_helper(g, x, at)
        index = g.op("Add", size, g.constant(int(place)))
    return _filled_slice(g, x, helper._unsqueeze_helper(g, source, [at]), at, helper._unsqueeze_helper(g, index, [0]))


@symbolic("slice_scatter", since=11)
def slice_scatter(g: Any, x: Any, source: Any, dim: Any, start: Any, end: Any, step: Any) -> Any:
    at = helper._get_const(dim, "i", "dim")
    first = 0 if helper._is_none(start) else helper._maybe_get_const(start, "i")
    last = INT64_MAX if helper._is_none(end) else helper._maybe_get_const(end, "i")
    stride = helper._get_const(step, "i", "step")
    size = helper._size_helper(g, x, at)
    if first == 0 and last == INT64_MAX and stride == 1:
        return source
    every = g.op("Range", g.constant(0), size, g.constant(1))
    begin, stop = ([v] if isinstance(v, int) else v for v in (first, last))
    return _filled_slice(g, x, source, at, helper._slice_helper(g, every, [0], begin, stop, [stride]))


# ---- gathers ----


@symbolic("index_select")
def index_select(g: Any, x: Any, dim: Any, index: Any) -> Any:
    at = helper._get_const(dim, "i", "dim")
    if helper._get_tensor_rank(index) == 0:
        index = helper._unsqueeze_helper(g, index, [0])
    if helper._get_tensor_rank(x) == 0:
        return helper._squeeze_helper(g, g.op("Gather", helper._unsqueeze_helper(g, x, [0]), index, axis_i=0), [0])
    return g.op("Gather", x, index, axis_i=at)


@symbolic("gather", since=11)
def gather(g: Any, x: Any, dim: Any, index: Any, sparse_grad: Any = None) -> Any:
    at = helper._get_const(dim, "i", "dim")
    return g.op("GatherElements", x, index, axis_i=at)


@symbolic("take")
def take(g: Any, x: Any, index: Any) -> Any:
    return g.op("Gather", helper._reshape_helper(g, x, [-1]), index, axis_i=0)


@symbolic("take_along_dim", since=11)
def take_along_dim(g: Any, x: Any, index: Any, dim: Any = None) -> Any:
    if dim is None or helper._is_none(dim):
        return g.op(
            "GatherElements", helper._reshape_helper(g, x, [-1]), helper._reshape_helper(g, index, [-1]), axis_i=0
        )
    return g.op("GatherElements", x, index, axis_i=helper._get_const(dim, "i", "dim"))


@symbolic("embedding")
def embedding(g: Any, weight: Any, indices: Any, *rest: Any) -> Any:
    return g.op("Gather", weight, indices)


@symbolic("embedding_bag", "_embedding_bag", since=11)
def embedding_bag(g: Any, weight: Any, indices: Any, offsets: Any, *rest: Any) -> Any:
    """Sums are products with the matrix that says which index is in which bag: a bag begins at its offset."""
    given = named(g, (weight, indices, offsets, *rest))
    mode = helper._get_const(given["mode"], "i", "mode")
    if helper._parse_arg(given["include_last_offset"], "b"):
        offsets = helper._slice_helper(g, offsets, [0], [0], [-1])
    if (helper._scalar(given.get("padding_idx")) if not helper._is_none(given.get("padding_idx")) else None) not in (
        None,
        -1,
    ):
        helper._onnx_unsupported("embedding_bag with padding_idx", indices)
    rows = g.op("Gather", weight, indices)
    factors = given.get("per_sample_weights")
    if factors is not None and not helper._is_none(factors):
        rows = g.op("Mul", rows, helper._unsqueeze_helper(g, factors, [1]))
    inside = _bags(g, indices, offsets)
    if mode == 2:
        least = g.constant(float("-inf"), helper._dtype(weight))
        spread = g.op("Where", helper._unsqueeze_helper(g, inside, [2]), helper._unsqueeze_helper(g, rows, [0]), least)
        made = g.op("ReduceMax", spread, axes_i=[1], keepdims_i=0)
    else:
        matrix = g.cast(inside, helper._dtype(weight) or torch.float32)
        made = g.op("MatMul", matrix, rows)
        if mode == 1:
            counts = helper._reducesum_helper(g, matrix, axes_i=[1], keepdims_i=1)
            made = g.op("Div", made, g.op("Max", counts, g.constant(1.0, helper._dtype(weight))))
    return made, g.none(), g.none(), g.none()


def _bags(g: Any, indices: Any, offsets: Any) -> Any:
    """For each bag and each index whether the index is in the bag."""
    zero, one = g.constant(0), g.constant(1)
    places = g.op("Range", zero, helper._size_helper(g, indices, 0), one)
    begun = g.cast(
        g.op("Not", g.op("Less", helper._unsqueeze_helper(g, places, [1]), g.cast(offsets, torch.int64))), torch.int64
    )
    bag = g.op("Sub", helper._reducesum_helper(g, begun, axes_i=[1], keepdims_i=0), one)
    bags = g.op("Range", zero, helper._size_helper(g, offsets, 0), one)
    return g.op("Equal", helper._unsqueeze_helper(g, bags, [1]), bag)


@symbolic("bucketize", "searchsorted")
def bucketize(g: Any, *args: Any) -> Any:
    """The number of boundaries that are less, or not greater with right."""
    given = named(g, args)
    x, bounds = given["self"], given.get("boundaries", given.get("sorted_sequence"))
    if helper._rank(bounds, "bucketize") != 1 or not helper._is_none(given.get("sorter")):
        helper._onnx_unsupported("searchsorted in several sequences or with a sorter", bounds)
    apart = helper._unsqueeze_helper(g, x, [-1]) if helper._get_tensor_rank(x) else x
    right = (
        helper._parse_arg(given["right"], "b")
        or not helper._is_none(given.get("side"))
        and helper._parse_arg(given["side"], "s") == "right"
    )
    less = g.op("Not", g.op("Greater", bounds, apart)) if right else g.op("Less", bounds, apart)
    dtype = torch.int32 if helper._parse_arg(given["out_int32"], "b") else torch.int64
    return helper._reducesum_helper(g, g.cast(less, dtype), axes_i=[-1], keepdims_i=0)


@symbolic("as_strided")
def as_strided(g: Any, x: Any, sizes: Any, strides: Any, offset: Any = None) -> Any:
    """A gather of the places in memory, which are known where all sizes are."""
    shape, steps = helper._get_const(sizes, "is", "size"), helper._get_const(strides, "is", "stride")
    start = 0 if offset is None or helper._is_none(offset) else helper._get_const(offset, "i", "storage_offset")
    if not all(shape):
        helper._onnx_unsupported("as_strided of no elements", x)
    places = torch.full(shape, start, dtype=torch.int64)
    for d, (n, step) in enumerate(zip(shape, steps)):
        places = places + (torch.arange(n) * step).reshape([-1] + [1] * (len(shape) - d - 1))
    return g.op("Gather", helper._reshape_helper(g, x, [-1]), g.constant(places), axis_i=0)


@symbolic("nonzero")
def nonzero(g: Any, x: Any) -> Any:
    return g.op("Transpose", g.op("NonZero", x), perm_i=[1, 0])


@symbolic("argwhere")
def argwhere(g: Any, x: Any) -> Any:
    return nonzero(g, x)


@symbolic("nonzero_numpy")
def nonzero_numpy(g: Any, x: Any, *rest: Any) -> Any:
    places, rank = g.op("NonZero", x), helper._rank(x, "nonzero")
    return g.list([g.op("Gather", places, g.constant(d), axis_i=0) for d in range(rank)])


@symbolic("masked_select", since=11)
def masked_select(g: Any, x: Any, mask: Any) -> Any:
    places = nonzero(g, g.op("Expand", mask, g.op("Shape", x)))
    rank, other = helper._get_tensor_rank(x), helper._get_tensor_rank(mask)
    if rank is not None and other is not None and other > rank:
        x = g.op("Expand", x, g.op("Shape", mask))
    return g.op("GatherND", x, places)


def positions(g: Any, x: Any, indices: list[Any]) -> list[Any]:
    """Indices with masks replaced by the places where they are true: None is a dimension as it is."""
    made: list[Any] = []
    for index in indices:
        if helper._is_none(index):
            made.append(None)
        elif helper._dtype(index) in (torch.bool, torch.uint8):
            made += helper._unpack_list(nonzero_numpy(g, index))
        else:
            made.append(index)
    return made + [None] * (helper._rank(x, "index") - len(made))


@symbolic("index")
def index_(g: Any, x: Any, indices: Any) -> Any:
    given = helper._unpack_list(indices)
    if len(given) == 1 and helper._dtype(given[0]) in (torch.bool, torch.uint8) and g.opset >= 11:
        places = nonzero(g, given[0])
        return g.op("GatherND", x, places)
    found = positions(g, x, given)
    dims = [d for d, v in enumerate(found) if v is not None]
    if not dims:
        return x
    if len(dims) == 1:
        return g.op("Gather", x, found[dims[0]], axis_i=dims[0])
    if g.opset < 11:
        helper._onnx_opset_unsupported("index with several tensors", g.opset, 11, x)
    return _gathered(g, x, found, dims)


def _gathered(g: Any, x: Any, found: list[Any], dims: list[int]) -> Any:
    """Several indices together: their dimensions are the first for a while."""
    rank = len(found)
    rest = [d for d in range(rank) if d not in dims]
    turned = x if dims == list(range(len(dims))) else g.op("Transpose", x, perm_i=dims + rest)
    together = [found[d] for d in dims]
    made = g.op("GatherND", turned, stacked(g, together))
    width = max(helper._rank(v, "index") for v in together)
    if dims != list(range(dims[0], dims[-1] + 1)) or dims[0] == 0:
        return made
    order = [*range(width, width + dims[0]), *range(width), *range(width + dims[0], width + len(rest))]
    return g.op("Transpose", made, perm_i=order)


def stacked(g: Any, indices: list[Any]) -> Any:
    """Indices of one shape as one tensor with a last dimension of them."""
    sizes = {tuple(helper._get_tensor_sizes(v) or (None,)) for v in indices}
    if len(sizes) > 1 or None in next(iter(sizes)):
        total = indices[0]
        for v in indices[1:]:
            total = g.op("Add", total, v)
        shape = g.op("Shape", total)
        indices = [g.op("Expand", v, shape) for v in indices]
    parts = [g.cast(v, torch.int64) if helper._dtype(v) not in (torch.int64, None) else v for v in indices]
    return g.op("Concat", *(helper._unsqueeze_helper(g, v, [-1]) for v in parts), axis_i=-1)


@symbolic("one_hot")
def one_hot(g: Any, x: Any, classes: Any) -> Any:
    if (helper._scalar(classes) or 0) < 0:
        helper._onnx_unsupported("one_hot of a number of classes that the elements say", x)
    return g.op("OneHot", x, classes, g.constant([0, 1]), axis_i=-1)


@symbolic("unique", "unique_dim", "_unique", "_unique2", since=11)
def unique(g: Any, x: Any, *args: Any) -> Any:
    kind = g.original_node.kind()
    if kind == "aten::unique_dim":
        dim, given = helper._get_const(args[0], "i", "dim"), [helper._parse_arg(a, "b") for a in args[1:]]
    else:
        dim, given = None, [helper._parse_arg(a, "b") for a in args]
    made = g.op("Unique", x, axis_i=dim, sorted_i=int(given[0]), outputs=4)
    for v in made[1:]:
        _infer.set_type(v, torch.int64, [None])
    return made[0], made[2], made[3]
