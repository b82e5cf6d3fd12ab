"""torch.sparse: what its functions do with dense tensors. There are no sparse tensors in this version of torchjit."""

from __future__ import annotations

from typing import Any, NoReturn

import torchjit as torch


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of two matrices (n, m) and (m, p)."""
    return torch.mm(mat1, mat2)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * mat + alpha * (mat1 @ mat2) of matrices."""
    return torch.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


class _SparseType(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        _needs_sparse(cls.__name__)

    def __instancecheck__(cls, value: Any) -> bool:
        return False


# Types of which no tensor is an instance.
for _name in ("BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"):
    globals()[_name + "Tensor"] = _SparseType(_name + "Tensor", (), {"__module__": "torch.sparse"})


def _needs_sparse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.sparse.{name} is for sparse tensors, which are not implemented by this version of torchjit")


def sum(input: Any, dim: Any = None, dtype: Any = None) -> NoReturn:
    """Raises NotImplementedError: the sum of a sparse tensor."""
    _needs_sparse("sum")


def softmax(input: Any, dim: int, *, dtype: Any = None) -> NoReturn:
    """Raises NotImplementedError: softmax of a sparse tensor."""
    _needs_sparse("softmax")


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> NoReturn:
    """Raises NotImplementedError: log_softmax of a sparse tensor."""
    _needs_sparse("log_softmax")


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> NoReturn:
    """Raises NotImplementedError: a product at the places that a sparse tensor has."""
    _needs_sparse("sampled_addmm")


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> NoReturn:
    """Raises NotImplementedError: a sparse matrix of diagonals."""
    _needs_sparse("spdiags")
