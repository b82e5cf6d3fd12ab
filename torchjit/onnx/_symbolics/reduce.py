"""Reductions, extremes, sorting and norms of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.compare import truth
from torchjit.onnx._symbolics.creation import dtype_of, named
from torchjit.onnx._symbolics.pointwise import as_float, maximum, minimum, number
from torchjit.onnx.symbolic_helper import parse_args


def axes_of(value: Any) -> list[int] | None:
    """The dimensions that an argument says: None where it says none."""
    if value is None or helper._is_none(value):
        return None
    found = helper._get_const(value, "is" if helper._is_list(value) else "i", "dim")
    return (found or None) if isinstance(found, list) else [found]


def reduced(g: Any, op: str, x: Any, dims: list[int] | None, keep: bool) -> Any:
    """A reduction of ONNX over dimensions, over all where there are none."""
    if helper._get_tensor_rank(x) == 0:
        return (
            g.op("Identity", x)
            if op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd")
            else g.op(op, x, keepdims_i=0)
        )
    if op == "ReduceSum":
        return helper._reducesum_helper(g, x, axes_i=dims, keepdims_i=int(keep))
    return g.op(op, x, axes_i=dims, keepdims_i=int(keep))


def _cast_first(g: Any, x: Any, given: dict[str, Any], default: Any) -> Any:
    dtype = dtype_of(g, given.get("dtype"), default)
    return x if dtype is None or dtype == helper._dtype(x) else g.cast(x, dtype)


def _reduction(op: str, of_integers: bool) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        given = named(g, (x, *args))
        dtype = helper._dtype(x)
        integral = dtype is not None and not dtype.is_floating_point and not dtype.is_complex
        x = _cast_first(g, x, given, torch.int64 if integral and of_integers else None)
        keep = "keepdim" in given and helper._parse_arg(given["keepdim"], "b")
        return reduced(g, op, x, axes_of(given.get("dim")), keep)

    return export


symbolic("sum")(_reduction("ReduceSum", True))
symbolic("prod")(_reduction("ReduceProd", True))
symbolic("mean")(_reduction("ReduceMean", False))


@symbolic("nansum")
def nansum(g: Any, x: Any, *args: Any) -> Any:
    given = named(g, (x, *args))
    keep = "keepdim" in given and helper._parse_arg(given["keepdim"], "b")
    plain = g.op("Where", g.op("IsNaN", x), number(g, 0.0, x), x)
    return reduced(g, "ReduceSum", plain, axes_of(given.get("dim")), keep)


@symbolic("count_nonzero")
def count_nonzero(g: Any, x: Any, dim: Any = None) -> Any:
    return reduced(g, "ReduceSum", g.cast(truth(g, x), torch.int64), axes_of(dim), False)


@symbolic("logsumexp", "special_logsumexp")
@parse_args("v", "is", "b")
def logsumexp(g: Any, x: Any, dims: list[int], keep: bool) -> Any:
    return reduced(g, "ReduceLogSumExp", as_float(g, x), dims or None, keep)


# ---- extremes ----


def _extreme(op: str, arg: str, pairwise: Callable[..., Any]) -> Callable[..., Any]:
    def export(g: Any, x: Any, dim_or_other: Any = None, keepdim: Any = None) -> Any:
        if dim_or_other is None:
            return reduced(g, op, x, None, False)
        if keepdim is None:
            return pairwise(g, x, dim_or_other)
        dim, keep = helper._get_const(dim_or_other, "i", "dim"), helper._parse_arg(keepdim, "b")
        if helper._get_tensor_rank(x) == 0:
            return x, g.constant(0)
        return reduced(g, op, x, [dim], keep), g.op(arg, x, axis_i=dim, keepdims_i=int(keep))

    return export


symbolic("max")(_extreme("ReduceMax", "ArgMax", maximum))
symbolic("min")(_extreme("ReduceMin", "ArgMin", minimum))


def _along(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, dims: Any, keepdim: Any) -> Any:
        return reduced(g, op, x, axes_of(dims), helper._parse_arg(keepdim, "b"))

    return export


symbolic("amax")(_along("ReduceMax"))
symbolic("amin")(_along("ReduceMin"))


@symbolic("aminmax")
def aminmax(g: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    dims, keep = axes_of(dim), helper._parse_arg(keepdim, "b")
    return reduced(g, "ReduceMin", x, dims, keep), reduced(g, "ReduceMax", x, dims, keep)


def _place(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, dim: Any = None, keepdim: Any = None) -> Any:
        if dim is None or helper._is_none(dim):
            return g.op(op, helper._reshape_helper(g, x, [-1]), keepdims_i=0, axis_i=0)
        keep = keepdim is not None and helper._parse_arg(keepdim, "b")
        first = 0 if g.opset >= 12 else None
        return g.op(op, x, axis_i=helper._get_const(dim, "i", "dim"), keepdims_i=int(keep), select_last_index_i=first)

    return export


symbolic("argmax")(_place("ArgMax"))
symbolic("argmin")(_place("ArgMin"))


def _every(name: str, op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        if helper._is_packed_list(x):
            values = [helper._constant(v) for v in helper._unpack_list(x)]
            return g.constant({"all": all, "any": any}[name](bool(v) for v in values))
        given = named(g, (x, *args))
        keep = "keepdim" in given and helper._parse_arg(given["keepdim"], "b")
        counted = reduced(g, op, g.cast(truth(g, x), torch.int32), axes_of(given.get("dim")), keep)
        return g.cast(counted, torch.bool)

    return export


symbolic("all")(_every("all", "ReduceMin"))
symbolic("any")(_every("any", "ReduceMax"))


# ---- variances and norms ----


def _variance(g: Any, x: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The variance and the mean: the overloads say by names what is corrected."""
    given = named(g, (x, *args))
    dims = axes_of(given.get("dim"))
    keep = "keepdim" in given and helper._parse_arg(given["keepdim"], "b")
    correction = 1
    if "unbiased" in given:
        correction = int(helper._parse_arg(given["unbiased"], "b"))
    elif "correction" in given and not helper._is_none(given["correction"]):
        correction = helper._parse_arg(given["correction"], "i")
    around = reduced(g, "ReduceMean", x, dims, True)
    difference = g.op("Sub", x, around)
    squares = g.op("Mul", difference, difference)
    variance = reduced(g, "ReduceMean", squares, dims, keep)
    if correction:
        shape = g.op("Shape", x)
        if dims is not None:
            shape = g.op("Gather", shape, g.constant([d % helper._rank(x, "var") for d in dims]), axis_i=0)
        count = g.cast(g.op("ReduceProd", shape, keepdims_i=0), helper._dtype(x) or torch.float32)
        variance = g.op("Div", g.op("Mul", variance, count), g.op("Sub", count, number(g, correction, x)))
    return variance, around if keep else reduced(g, "ReduceMean", x, dims, keep)


@symbolic("var")
def var(g: Any, x: Any, *args: Any) -> Any:
    return _variance(g, x, args)[0]


@symbolic("std")
def std(g: Any, x: Any, *args: Any) -> Any:
    return g.op("Sqrt", _variance(g, x, args)[0])


@symbolic("var_mean")
def var_mean(g: Any, x: Any, *args: Any) -> Any:
    return _variance(g, x, args)


@symbolic("std_mean")
def std_mean(g: Any, x: Any, *args: Any) -> Any:
    variance, mean = _variance(g, x, args)
    return g.op("Sqrt", variance), mean


def vector_norm(g: Any, x: Any, order: float, dims: list[int] | None, keep: bool) -> Any:
    """The norm of vectors along dimensions."""
    if order in (float("inf"), float("-inf")):
        return reduced(g, "ReduceMax" if order > 0 else "ReduceMin", g.op("Abs", x), dims, keep)
    if order == 0:
        return reduced(g, "ReduceSum", g.cast(truth(g, x), helper._dtype(x) or torch.float32), dims, keep)
    if order in (1, 2):
        return reduced(g, f"ReduceL{int(order)}", x, dims, keep)
    powers = g.op("Pow", g.op("Abs", x), number(g, float(order), x))
    return g.op("Pow", reduced(g, "ReduceSum", powers, dims, keep), number(g, 1.0 / order, x))


@symbolic("norm", "linalg_vector_norm", "frobenius_norm", "linalg_norm")
def norm(g: Any, x: Any, *args: Any) -> Any:
    given = named(g, (x, *args))
    kind = g.original_node.kind()
    order = given.get("p", given.get("ord"))
    if order is not None and helper._constant(order) == "fro" or order is None or helper._is_none(order):
        power = 2.0
    elif isinstance(helper._constant(order), str):
        helper._onnx_unsupported(f"{kind} of order {helper._constant(order)}", x)
    else:
        power = float(helper._parse_arg(order, "f"))
    dims = axes_of(given.get("dim"))
    if kind == "aten::linalg_norm" and power != 2.0 and len(dims or range(helper._rank(x, "norm"))) > 1:
        helper._onnx_unsupported(f"linalg_norm of matrices of order {power}", x)
    keep = "keepdim" in given and helper._parse_arg(given["keepdim"], "b")
    x = _cast_first(g, x, given, None)
    return vector_norm(g, x, power, dims, keep)


@symbolic("linalg_matrix_norm")
@parse_args("v", "v", "is", "b", "none")
def linalg_matrix_norm(g: Any, x: Any, order: Any, dims: list[int], keep: bool, dtype: Any = None) -> Any:
    """The Frobenius norm, and the greatest or least sum of a column (1) or a row (inf)."""
    kind = helper._number(helper._constant(order))
    if kind == "fro":
        return reduced(g, "ReduceL2", x, dims, keep)
    if kind not in (1, -1, float("inf"), float("-inf")):
        helper._onnx_unsupported(f"linalg_matrix_norm of order {kind}", x)
    inner, outer = (dims[0], dims[1]) if abs(kind) == 1 else (dims[1], dims[0])
    sums = reduced(g, "ReduceSum", g.op("Abs", x), [inner], True)
    made = reduced(g, "ReduceMax" if kind > 0 else "ReduceMin", sums, [outer], True)
    rank = helper._rank(x, "linalg_matrix_norm")
    return made if keep else helper._squeeze_helper(g, made, [d % rank for d in dims])


@symbolic("pairwise_distance")
@parse_args("v", "v", "f", "f", "b")
def pairwise_distance(g: Any, x: Any, other: Any, p: float, eps: float, keep: bool) -> Any:
    difference = g.op("Add", g.op("Sub", x, other), number(g, eps, x))
    return vector_norm(g, difference, p, [-1], keep)


@symbolic("cdist", "_cdist_forward")
@parse_args("v", "v", "f", "v")
def cdist(g: Any, x: Any, other: Any, p: float, mode: Any = None) -> Any:
    difference = g.op("Sub", helper._unsqueeze_helper(g, x, [-2]), helper._unsqueeze_helper(g, other, [-3]))
    return vector_norm(g, difference, p, [-1], False)


@symbolic("cosine_similarity")
@parse_args("v", "v", "i", "f")
def cosine_similarity(g: Any, x: Any, other: Any, dim: int, eps: float) -> Any:
    product = reduced(g, "ReduceSum", g.op("Mul", x, other), [dim], False)
    lengths = [reduced(g, "ReduceSum", g.op("Mul", v, v), [dim], False) for v in (x, other)]
    floor = number(g, eps * eps, x)
    return g.op("Div", product, g.op("Sqrt", g.op("Max", g.op("Mul", *lengths), floor)))


# ---- sums along the way, sorting ----


@symbolic("cumsum", since=11)
def cumsum(g: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    kind = helper._dtype(x)
    wanted = dtype_of(g, dtype, torch.int64 if kind is not None and not kind.is_floating_point else None)
    if wanted is not None and wanted != kind:
        x = g.cast(x, wanted)
    return g.op("CumSum", x, dim)


@symbolic("sort")
def sort(g: Any, x: Any, *args: Any) -> Any:
    given = named(g, (x, *args))
    dim = helper._get_const(given["dim"], "i", "dim") if "dim" in given else -1
    return helper._sort_helper(g, x, dim, helper._parse_arg(given["descending"], "b"))


@symbolic("argsort")
def argsort(g: Any, x: Any, *args: Any) -> Any:
    return sort(g, x, *args)[1]


@symbolic("msort")
def msort(g: Any, x: Any) -> Any:
    return helper._sort_helper(g, x, 0, False)[0]


@symbolic("kthvalue", since=11)
@parse_args("v", "i", "i", "b")
def kthvalue(g: Any, x: Any, k: int, dim: int, keep: bool) -> Any:
    found = helper._topk_helper(g, x, g.constant(k), dim, False, True)
    index = g.constant([k - 1] if keep else k - 1)
    return tuple(g.op("Gather", v, index, axis_i=dim) for v in found)


@symbolic("diff", since=10)
@parse_args("v", "i", "i", "v", "v")
def diff(g: Any, x: Any, n: int, dim: int, prepend: Any = None, append: Any = None) -> Any:
    ends = [v for v in (prepend, x, append) if v is not None and not helper._is_none(v)]
    x = g.op("Concat", *ends, axis_i=dim) if len(ends) > 1 else x
    for _ in range(n):
        x = g.op(
            "Sub", helper._slice_helper(g, x, [dim], [1], [INT64_MAX]), helper._slice_helper(g, x, [dim], [0], [-1])
        )
    return x


@symbolic("topk")
@parse_args("v", "v", "i", "b", "b")
def topk(g: Any, x: Any, k: Any, dim: int, largest: bool, sorted: bool) -> Any:
    return helper._topk_helper(g, x, k, dim, largest, sorted)
