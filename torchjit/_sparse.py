"""The constructors of sparse tensors as Python calls them, and how sparse tensors are pickled.

In a program that is compiled each of the constructors is its operator.
"""

from __future__ import annotations

import functools
from typing import Any

from torchjit import _native
from torchjit._creation import _from, _require_grad
from torchjit._tensor import Tensor
from torchjit._types import _LAYOUTS, dtype, dtypes, layout, sparse_coo, sparse_csr


@functools.cache
def _operator(name: str) -> Any:
    return _native.operator("aten::" + name)


def _is_size(size: Any) -> bool:
    return isinstance(size, (tuple, list)) and all(isinstance(n, int) and not isinstance(n, bool) for n in size)


def _indices(data: Any) -> Tensor:
    return data if isinstance(data, Tensor) else _from(data, dtypes["int64"])


def _made(t: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        _require_grad(t)
    return t


def sparse_coo_tensor(
    *args: Any, indices: Any = None, values: Any = None, size: Any = None, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A sparse tensor in the layout torch.sparse_coo: sparse_coo_tensor(indices, values, size=None), or sparse_coo_tensor(size).

    indices has a row for each sparse dimension and a column for each value, values is a tensor of shape (nnz, *dense sizes). Without a size
    the smallest one is taken. A place that occurs twice has the sum of its values; see Tensor.coalesce. Raises RuntimeError where the indices do
    not fit the size, or the values.

    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if len(args) == 1 and indices is None and values is None and size is None and not isinstance(args[0], Tensor) and _is_size(args[0]):
        size, args = args[0], ()
    if not args and indices is None and values is None and size is not None:
        return _made(_operator("sparse_coo_tensor")(list(size), dtype=dtype, device=device), requires_grad)
    given = dict(zip(("indices", "values", "size"), args, strict=False))
    indices, values, size = given.get("indices", indices), given.get("values", values), given.get("size", size)
    if len(args) == 1 and values is None:
        raise TypeError(f"sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not {type(args[0]).__name__}")
    if len(args) > 3 or indices is None or values is None:
        raise TypeError(
            f"sparse_coo_tensor() received an invalid combination of arguments - got ({', '.join(type(a).__name__ for a in args)}), but expected one of:\n"
            " * (object indices, object values, *, torch.dtype dtype, torch.device device, bool requires_grad)\n"
            " * (object indices, object values, tuple of ints size, *, torch.dtype dtype, torch.device device, bool requires_grad)\n"
            " * (tuple of ints size, *, torch.dtype dtype, torch.device device, bool requires_grad)\n"
        )
    parts = (_indices(indices), values if isinstance(values, Tensor) else _from(values, dtype))
    made = _operator("sparse_coo_tensor")(*parts, *(() if size is None else (list(size),)), dtype=dtype, device=device)
    return _made(made, requires_grad)


def _compressed(
    name: str, compressed: Any, plain: Any, values: Any, size: Any, dtype: dtype | None, kind: layout | None, device: Any, requires_grad: bool
) -> Tensor:
    parts = (_indices(compressed), _indices(plain), values if isinstance(values, Tensor) else _from(values, dtype))
    options = {} if kind is None else {"layout": kind}
    made = _operator(name)(*parts, *(() if size is None else (list(size),)), dtype=dtype, device=device, **options)
    return _made(made, requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: dtype | None = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A sparse tensor in a compressed layout: torch.sparse_csr, sparse_csc, sparse_bsr or sparse_bsc.

    compressed_indices says where the values of each row (column) begin, plain_indices has the column (row) of each value; see
    sparse_csr_tensor. Raises RuntimeError where they do not fit each other or the size.
    """
    if layout is None:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got none")
    return _compressed("sparse_compressed_tensor", compressed_indices, plain_indices, values, size, dtype, layout, device, requires_grad)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: dtype | None = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A matrix in compressed rows: the values of row i are those from crow_indices[i] to crow_indices[i + 1], in the columns col_indices.

    crow_indices (rows + 1) and col_indices (nnz) are int32 or int64. Leading dimensions of all parts are those of a stack of matrices. Raises
    RuntimeError where the indices do not fit each other or the size.

    >>> torch.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return _compressed("sparse_csr_tensor", crow_indices, col_indices, values, size, dtype, None, device, requires_grad)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: dtype | None = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A matrix in compressed columns. See sparse_csr_tensor."""
    return _compressed("sparse_csc_tensor", ccol_indices, row_indices, values, size, dtype, None, device, requires_grad)


def sparse_bsr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: dtype | None = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A matrix of blocks, values (nnz, block rows, block columns), in compressed rows. See sparse_csr_tensor."""
    return _compressed("sparse_bsr_tensor", crow_indices, col_indices, values, size, dtype, None, device, requires_grad)


def sparse_bsc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: dtype | None = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, check_invariants: Any = None,
) -> Tensor:  # fmt: skip
    """A matrix of blocks in compressed columns. See sparse_csr_tensor."""
    return _compressed("sparse_bsc_tensor", ccol_indices, row_indices, values, size, dtype, None, device, requires_grad)


CONSTRUCTORS = (sparse_coo_tensor, sparse_compressed_tensor, sparse_csr_tensor, sparse_csc_tensor, sparse_bsr_tensor, sparse_bsc_tensor)


# ---- pickling ----


def parts_of(t: Tensor) -> tuple[layout, tuple[Any, ...]]:
    """What a sparse tensor is made of, as it is pickled: the layout, then its parts and its size."""
    t = t.detach()
    if t.layout is sparse_coo:
        return t.layout, (t._indices(), t._values(), t.shape)
    if t.is_mkldnn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    if t.layout in (sparse_csr, _LAYOUTS[5]):
        return t.layout, (t.crow_indices(), t.col_indices(), t.values(), t.shape)
    return t.layout, (t.ccol_indices(), t.row_indices(), t.values(), t.shape)


def of_parts(kind: layout, parts: tuple[Any, ...]) -> Tensor:
    """A sparse tensor of what parts_of gives. The indices are checked: RuntimeError says where they do not fit."""
    if kind is sparse_coo:
        indices, values, size = parts[:3]
        return sparse_coo_tensor(indices, values, tuple(size))
    if kind not in _LAYOUTS.values() or kind.code == 0:
        raise NotImplementedError(f"a sparse tensor of the layout {kind} cannot be made")
    compressed, plain, values, size = parts
    return sparse_compressed_tensor(compressed, plain, values, tuple(size), layout=kind)


def rebuild(cls: type, kind: layout, parts: tuple[Any, ...], coalesced: bool, requires_grad: bool) -> Tensor:
    """What pickle calls to make a sparse tensor again."""
    made = of_parts(kind, parts)
    if coalesced and kind is sparse_coo:
        made._coalesced_(True)
    if cls is not Tensor:
        made = _native.TensorBase.__new__(cls, made)
    return made.requires_grad_(requires_grad)

# Former names of products.
spmm = dsmm = _native.operator("aten::mm")
hsmm = _native.operator("aten::hspmm")
saddmm = _native.operator("aten::sspaddmm")
