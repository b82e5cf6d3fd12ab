"""torch.sparse: functions of sparse tensors, and the types of sparse tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import Tensor, _native
from torchjit._tensor import _TENSOR_CLASSES
from torchjit._types import dtype, dtypes, layout


@functools.cache
def _operator(name: str) -> Any:
    return _native.operator("aten::" + name)


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of two matrices (n, m) and (m, p), of which the first may be sparse; with a sparse second one it is sparse.

    The gradient of a sparse matrix has values at its places alone.
    """
    return _operator("_sparse_mm")(mat1, mat2)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * mat + alpha * (mat1 @ mat2), where mat1 may be sparse."""
    return _operator("_sparse_addmm")(mat, mat1, mat2, beta=beta, alpha=alpha)


class _SparseType(type):
    _dtype: dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        kwargs["dtype"] = cls._dtype
        if args and all(isinstance(n, int) for n in args):
            args = (args,)
        return torch.sparse_coo_tensor(*args or ((0,),), **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.is_sparse and value.dtype is cls._dtype

    def __str__(cls) -> str:
        return f"torch.sparse.{cls.__name__}"


# The types of sparse tensors by their elements: isinstance(x, torch.sparse.FloatTensor).
for _name in ("bfloat16", "uint8", "int8", "float64", "float32", "float16", "int32", "int64", "int16"):
    _class = _TENSOR_CLASSES[_name]
    globals()[_class] = _SparseType(_class, (), {"__module__": "torch.sparse", "_dtype": dtypes[_name]})


def sum(input: Tensor, dim: tuple[int] | None = None, dtype: int | None = None) -> Tensor:
    """The sum of a sparse tensor over dimensions, an int or a tuple of ints; over all of them where dim is None.

    What is left is sparse, unless no sparse dimension is. The gradient has values at the places of the input alone.
    """
    if dtype is None:
        if dim is not None:
            return torch._sparse_sum(input, dim)
        return torch._sparse_sum(input)
    if dim is not None:
        return torch._sparse_sum(input, dim, dtype=dtype)  # type: ignore[call-overload]
    return torch._sparse_sum(input, dtype=dtype)  # type: ignore[call-overload]


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """softmax of a sparse tensor along a dimension. Places without a value count as minus infinity and stay without one."""
    return _operator("_sparse_softmax")(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of softmax of a sparse tensor. Places without a value count as minus infinity and stay without one."""
    return _operator("_sparse_log_softmax")(input, dim, dtype=dtype)


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2) at the places of input, a matrix in the layout torch.sparse_csr."""
    options = {} if out is None else {"out": out}
    return _operator("sparse_sampled_addmm")(input, mat1, mat2, beta=beta, alpha=alpha, **options)


# What the functions are in a program that is compiled.
OPERATORS: dict[Callable[..., Any], str] = {
    mm: "_sparse_mm", addmm: "_sparse_addmm", softmax: "_sparse_softmax", log_softmax: "_sparse_log_softmax", sampled_addmm: "sparse_sampled_addmm",
}  # fmt: skip


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: layout | None = None) -> Any:
    """A sparse matrix of a shape whose diagonals are rows of a matrix: row i is that at offsets[i], above the main one where that is positive.

    An element stands in the column that it has in diagonals. The layout is torch.sparse_coo, sparse_csr or sparse_csc.
    """
    diagonals = torch.atleast_2d(diagonals)
    offsets = torch.atleast_1d(offsets)
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dim() != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]})")
    if layout not in (None, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {torch._tensor._LAYOUT_NAMES[layout.name]}")
    numbers = offsets.tolist()
    if len(set(numbers)) != len(numbers):
        raise RuntimeError("Offset tensor contains duplicate values")
    rows, columns, values = [], [], []
    for row, k in zip(diagonals, numbers, strict=True):
        place = torch.arange(max(k, 0), max(min(shape[1], shape[0] + k, diagonals.shape[1]), max(k, 0)))
        rows.append(place - k)
        columns.append(place)
        values.append(row[place])
    made = torch.sparse_coo_tensor(torch.stack([torch.cat(rows), torch.cat(columns)]), torch.cat(values), tuple(shape))
    if layout is torch.sparse_csr:
        return made.to_sparse_csr()
    return made.to_sparse_csc() if layout is torch.sparse_csc else made
