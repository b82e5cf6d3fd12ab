"""Sizes of tensors, and the same elements in other shapes."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _infer
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.rnn import longest
from torchjit.onnx.symbolic_helper import parse_args


@symbolic("size", "sym_size")
def size(g: Any, x: Any, dim: Any = None) -> Any:
    if x in g.translator.lengths:
        return longest(g, x)
    if dim is not None:
        return helper._size_helper(g, x, dim)
    rank = helper._get_tensor_rank(x)
    if rank is None:
        return g.op("Shape", x)
    return g.list([helper._size_helper(g, x, d) for d in range(rank)], _C.ListType.ofInts())


@symbolic("numel")
def numel(g: Any, x: Any) -> Any:
    return g.op("Size", x)


@symbolic("dim")
def dim_(g: Any, x: Any) -> Any:
    rank = helper._get_tensor_rank(x)
    return g.op("Squeeze", g.op("Shape", g.op("Shape", x))) if rank is None else g.constant(rank)


@symbolic("_shape_as_tensor")
def shape_as_tensor(g: Any, x: Any) -> Any:
    return g.op("Shape", x)


@symbolic("_reshape_from_tensor")
def reshape_from_tensor(g: Any, x: Any, shape: Any) -> Any:
    return helper._reshape_helper(g, x, helper._list_as_tensor(g, shape) if helper._is_packed_list(shape) else shape)


@symbolic("view", "reshape", "_reshape_alias", "_unsafe_view")
def view(g: Any, x: Any, *args: Any) -> Any:
    if helper._is_list(args[0]) or helper._constant(args[0]) is NotImplemented:
        return helper._reshape_helper(g, x, args[0])
    helper._onnx_unsupported("view as another element type", x)


@symbolic("view_as", "reshape_as")
def view_as(g: Any, x: Any, other: Any) -> Any:
    return helper._reshape_helper(g, x, g.op("Shape", other))


@symbolic(
    "alias",
    "clone",
    "contiguous",
    "detach",
    "positive",
    "lift_fresh",
    "lift",
    "conj",
    "resolve_conj",
    "resolve_neg",
    "cpu",
    "cuda",
)
def same(g: Any, x: Any, *rest: Any) -> Any:
    return x


@symbolic("flatten")
@parse_args("v", "i", "i")
def flatten(g: Any, x: Any, start: int, end: int) -> Any:
    if helper._get_tensor_rank(x) is None and start == 1 and end == -1:
        return g.op("Flatten", x, axis_i=1)
    rank = helper._rank(x, "flatten")
    if rank == 0:
        return helper._unsqueeze_helper(g, x, [0])
    if rank == 1:
        return x
    start, end = start % rank, end % rank
    if start <= 1 and end == rank - 1 and (start == 1 or rank == 1):
        return g.op("Flatten", x, axis_i=start)
    return helper._flatten_helper(g, x, start, end, rank)


@symbolic("ravel")
def ravel(g: Any, x: Any) -> Any:
    return helper._reshape_helper(g, x, [-1])


@symbolic("unflatten")
def unflatten(g: Any, x: Any, dim: Any, sizes: Any, names: Any = None) -> Any:
    rank = helper._rank(x, "unflatten")
    at = helper._get_const(dim, "i", "dim") % rank
    shape = g.op("Shape", x)
    parts = [helper._slice_helper(g, shape, [0], [0], [at])] if at else []
    parts.append(helper._sizes_argument(g, sizes))
    if at + 1 < rank:
        parts.append(helper._slice_helper(g, shape, [0], [at + 1], [INT64_MAX]))
    return helper._reshape_helper(g, x, parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0))


@symbolic("squeeze")
@parse_args("v", "i")
def squeeze(g: Any, x: Any, dim: int | None = None) -> Any:
    sizes = helper._get_tensor_sizes(x)
    if dim is None:
        if sizes is not None and None not in sizes:
            gone = [d for d, n in enumerate(sizes) if n == 1]
            return helper._squeeze_helper(g, x, gone) if gone else x
        return g.op("Squeeze", x)
    known = helper._get_tensor_dim_size(x, dim)
    if known == 1:
        return helper._squeeze_helper(g, x, [dim])
    if known is not None or sizes == []:
        return x
    if g.opset < 11 or sizes is None:
        return helper._squeeze_helper(g, x, [dim])
    return _squeezed_where_one(g, x, dim % len(sizes))


def _squeezed_where_one(g: Any, x: Any, dim: int) -> Any:
    """Squeeze of a dimension whose size is known when the model runs."""
    condition = g.op("Equal", g.constant(1), g.op("Gather", g.op("Shape", x), g.constant(dim), axis_i=0))
    node = g.graph.insertNode(g.graph.create("onnx::If", [condition], 1))
    node.copyMetadata(g.original_node)
    for squeezes in (True, False):
        block = node.addBlock()
        with g.graph.insert_point_guard(block):
            made = helper._squeeze_helper(g, x, [dim]) if squeezes else g.op("Identity", x)
        block.registerOutput(made)
    _infer.set_type(node.output(), helper._dtype(x), None)
    return node.output()


@symbolic("unsqueeze")
@parse_args("v", "i")
def unsqueeze(g: Any, x: Any, dim: int) -> Any:
    rank = helper._get_tensor_rank(x)
    return helper._unsqueeze_helper(g, x, [dim % (rank + 1) if rank is not None else dim])


@symbolic("transpose", "swapaxes", "swapdims")
@parse_args("v", "i", "i")
def transpose(g: Any, x: Any, a: int, b: int) -> Any:
    rank = helper._rank(x, "transpose")
    if rank == 0 or a % rank == b % rank:
        return x
    perm = list(range(rank))
    perm[a], perm[b] = perm[b], perm[a]
    return g.op("Transpose", x, perm_i=perm)


@symbolic("t", "adjoint", "mT", "mH")
def t(g: Any, x: Any) -> Any:
    rank = helper._get_tensor_rank(x)
    if rank is not None and rank < 2:
        return x
    perm = [1, 0] if rank in (None, 2) else [*range(rank - 2), rank - 1, rank - 2]
    return g.op("Transpose", x, perm_i=perm)


@symbolic("numpy_T")
def numpy_t(g: Any, x: Any) -> Any:
    return g.op("Transpose", x, perm_i=list(range(helper._rank(x, "numpy_T")))[::-1])


@symbolic("permute")
@parse_args("v", "is")
def permute(g: Any, x: Any, dims: list[int]) -> Any:
    if dims == list(range(len(dims))):
        return x
    return g.op("Transpose", x, perm_i=[d % len(dims) for d in dims])


@symbolic("movedim", "moveaxis")
def movedim(g: Any, x: Any, source: Any, destination: Any) -> Any:
    rank = helper._rank(x, "movedim")
    moves = []
    for v in (source, destination):
        given = helper._get_const(v, "is" if helper._is_list(v) else "i", "dim")
        moves.append([d % rank for d in (given if isinstance(given, list) else [given])])
    perm = dict(zip(moves[1], moves[0]))
    rest = iter(d for d in range(rank) if d not in moves[0])
    return permute(g, x, [perm[d] if d in perm else next(rest) for d in range(rank)])


@symbolic("expand", "broadcast_to")
def expand(g: Any, x: Any, sizes: Any, implicit: Any = None) -> Any:
    """A size of -1 is one of the tensor: ONNX takes 1 for it."""
    known = helper._maybe_get_const(sizes, "is")
    if isinstance(known, list):
        return g.op("Expand", x, g.constant([1 if n == -1 else n for n in known], torch.int64))
    if helper._is_packed_list(sizes):
        items = [g.constant(1) if helper._scalar(v) == -1 else v for v in helper._unpack_list(sizes)]
        return g.op("Expand", x, helper._list_as_tensor(g, g.list(items, _C.ListType.ofInts())))
    minus = g.op("Equal", sizes, g.constant(-1))
    return g.op("Expand", x, g.op("Where", minus, g.constant(1), sizes))


@symbolic("expand_as")
def expand_as(g: Any, x: Any, other: Any) -> Any:
    return g.op("Expand", x, g.op("Shape", other))


@symbolic("broadcast_tensors")
def broadcast_tensors(g: Any, tensors: Any) -> Any:
    items = helper._unpack_list(tensors)
    total = items[0]
    for item in items[1:]:
        total = g.op("Add", total, item)
    return g.list([g.op("Expand", i, g.op("Shape", total)) for i in items])


@symbolic("repeat")
def repeat(g: Any, x: Any, repeats: Any) -> Any:
    times = helper._sizes_argument(g, repeats)
    count, rank = helper._get_tensor_dim_size(times, 0), helper._get_tensor_rank(x)
    if count is not None and rank is not None and count > rank:
        x = helper._reshape_helper(g, x, g.op("Concat", g.constant([1] * (count - rank)), g.op("Shape", x), axis_i=0))
    return g.op("Tile", x, times)


@symbolic("tile")
def tile(g: Any, x: Any, repeats: Any) -> Any:
    times = helper._sizes_argument(g, repeats)
    count, rank = helper._get_tensor_dim_size(times, 0), helper._rank(x, "tile")
    if count is not None and count < rank:
        times = g.op("Concat", g.constant([1] * (rank - count)), times, axis_i=0)
    return repeat(g, x, times)


@symbolic("repeat_interleave")
def repeat_interleave(g: Any, x: Any, repeats: Any, dim: Any = None, output_size: Any = None) -> Any:
    """Each element several times: a dimension of so many behind it, joined with it."""
    times = helper._maybe_get_const(repeats, "t")
    if helper._is_value(times) or times.numel() != 1:
        helper._onnx_unsupported("repeat_interleave with repeats that differ or are not constants", x)
    if dim is None or helper._is_none(dim):
        x, at = helper._reshape_helper(g, x, [-1]), 0
    else:
        at = helper._get_const(dim, "i", "dim")
    rank = helper._rank(x, "repeat_interleave")
    at %= rank
    each = helper._unsqueeze_helper(g, x, [at + 1])
    tiled = g.op("Tile", each, g.constant([1] * (at + 1) + [int(times)] + [1] * (rank - at - 1)))
    return helper._flatten_helper(g, tiled, at, at + 1, rank + 1)


# ---- other orders ----


@symbolic("flip", since=10)
@parse_args("v", "is")
def flip(g: Any, x: Any, dims: list[int]) -> Any:
    return helper._slice_helper(g, x, dims, [-1] * len(dims), [-INT64_MAX] * len(dims), [-1] * len(dims))


@symbolic("fliplr", since=10)
def fliplr(g: Any, x: Any) -> Any:
    return flip(g, x, [1])


@symbolic("flipud", since=10)
def flipud(g: Any, x: Any) -> Any:
    return flip(g, x, [0])


@symbolic("roll")
@parse_args("v", "is", "is")
def roll(g: Any, x: Any, shifts: list[int], dims: list[int]) -> Any:
    if not dims:
        return helper._reshape_helper(g, roll(g, helper._reshape_helper(g, x, [-1]), shifts, [0]), g.op("Shape", x))
    for shift, dim in zip(shifts, dims):
        size = helper._get_tensor_dim_size(x, dim)
        shift = shift % size if size else shift
        if shift:
            parts = [
                helper._slice_helper(g, x, [dim], [-shift], [INT64_MAX]),
                helper._slice_helper(g, x, [dim], [0], [-shift]),
            ]
            x = g.op("Concat", *parts, axis_i=dim)
    return x


@symbolic("rot90", since=10)
@parse_args("v", "i", "is")
def rot90(g: Any, x: Any, k: int, dims: list[int]) -> Any:
    a, b = dims
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return flip(g, x, dims)
    return transpose(g, flip(g, x, [b]), a, b) if k % 4 == 1 else flip(g, transpose(g, x, a, b), [b])


@symbolic("pixel_shuffle", since=11)
@parse_args("v", "i")
def pixel_shuffle(g: Any, x: Any, factor: int) -> Any:
    return g.op("DepthToSpace", x, blocksize_i=factor, mode_s="CRD")


@symbolic("pixel_unshuffle")
@parse_args("v", "i")
def pixel_unshuffle(g: Any, x: Any, factor: int) -> Any:
    *batch, c, h, w = helper._get_tensor_sizes(x) or (None, None, None)
    if len(batch) != 1 or None in (c, h, w):
        helper._onnx_unsupported("pixel_unshuffle of an image whose sizes are not known", x)
    made = helper._reshape_helper(g, x, [-1, c, h // factor, factor, w // factor, factor])  # type: ignore[operator]
    made = g.op("Transpose", made, perm_i=[0, 1, 3, 5, 2, 4])
    return helper._reshape_helper(g, made, [-1, c * factor * factor, h // factor, w // factor])  # type: ignore[operator]


@symbolic("channel_shuffle", "native_channel_shuffle")
@parse_args("v", "i")
def channel_shuffle(g: Any, x: Any, groups: int) -> Any:
    channels = helper._get_tensor_dim_size(x, 1)
    if channels is None:
        helper._onnx_unsupported("channel_shuffle of a number of channels that is not known", x)
    made = helper._reshape_helper(g, x, [0, groups, channels // groups, -1])
    made = g.op("Transpose", made, perm_i=[0, 2, 1, 3])
    return helper._reshape_helper(g, made, g.op("Shape", x))


@symbolic("tril", since=14)
def tril(g: Any, x: Any, diagonal: Any = None) -> Any:
    return g.op("Trilu", x, diagonal, upper_i=0)


@symbolic("triu", since=14)
def triu(g: Any, x: Any, diagonal: Any = None) -> Any:
    return g.op("Trilu", x, diagonal, upper_i=1)


@symbolic("diagonal")
@parse_args("v", "i", "i", "i")
def diagonal(g: Any, x: Any, offset: int, a: int, b: int) -> Any:
    """The elements of a diagonal lie in a row of the joined dimensions, at equal distances."""
    sizes = helper._get_tensor_sizes(x, False)
    if sizes is None:
        helper._onnx_unsupported("diagonal of a tensor whose sizes are not known", x)
    rank = len(sizes)
    a, b = a % rank, b % rank
    rest = [d for d in range(rank) if d not in (a, b)]
    rows, columns = sizes[a] or 0, sizes[b] or 0
    places = [i * columns + i + offset for i in range(max(0, -offset), rows) if i + offset < columns]
    flat = helper._reshape_helper(g, permute(g, x, [*rest, a, b]), [*(sizes[d] for d in rest), rows * columns])
    return g.op("Gather", flat, g.constant(places, torch.int64), axis_i=len(rest))


@symbolic("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(g: Any, x: Any) -> Any:
    wanted = int(g.original_node.kind()[-2])
    rank = helper._rank(x, "atleast")
    if wanted == 3 and rank == 2:
        return helper._unsqueeze_helper(g, x, [2])
    if wanted == 3 and rank == 1:
        return helper._unsqueeze_helper(g, x, [0, 2])
    return x if rank >= wanted else helper._unsqueeze_helper(g, x, list(range(wanted - rank)))
