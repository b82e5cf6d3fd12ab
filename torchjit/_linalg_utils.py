"""Products and decompositions in which a matrix may be None, for the identity."""

from __future__ import annotations

import torchjit as torch
from torchjit import Tensor
from torchjit._removed import eig as eig
from torchjit._removed import lstsq as lstsq
from torchjit._removed import matrix_rank as matrix_rank
from torchjit._removed import solve as solve


def is_sparse(A: Tensor) -> bool:
    """Whether a tensor is a sparse one with coordinates. Raises TypeError for what is no tensor."""
    if isinstance(A, torch.Tensor):
        return A.layout == torch.sparse_coo
    raise TypeError(f"expected Tensor but got {type(A)}")


def get_floating_dtype(A: Tensor) -> torch.dtype:
    """The element type of a tensor of floats, float32 for others."""
    return A.dtype if A.dtype in (torch.float16, torch.float32, torch.float64) else torch.float32


def matmul(A: Tensor | None, B: Tensor) -> Tensor:
    """A B."""
    if A is None:
        return B
    return torch.sparse.mm(A, B) if is_sparse(A) else torch.matmul(A, B)


def conjugate(A: Tensor) -> Tensor:
    """The conjugate of complex numbers, others as they are."""
    return A.conj() if A.is_complex() else A


def transpose(A: Tensor) -> Tensor:
    """The transposed matrices."""
    return A.transpose(-1, -2)


def transjugate(A: Tensor) -> Tensor:
    """The conjugated transposed matrices."""
    return conjugate(transpose(A))


def bform(X: Tensor, A: Tensor | None, Y: Tensor) -> Tensor:
    """X^T A Y."""
    return matmul(transpose(X), matmul(A, Y))


def qform(A: Tensor | None, S: Tensor) -> Tensor:
    """S^T A S."""
    return bform(S, A, S)


def basis(A: Tensor) -> Tensor:
    """An orthonormal basis of the space of the columns."""
    return torch.linalg.qr(A).Q


def symeig(A: Tensor, largest: bool | None = False) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of symmetric matrices, in ascending order, with largest=True in descending order."""
    values, vectors = torch.linalg.eigh(A, UPLO="U")
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)
