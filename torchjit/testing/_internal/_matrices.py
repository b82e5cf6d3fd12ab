"""Random matrices of a kind, for tests of linear algebra."""

from __future__ import annotations

from typing import Any

import torchjit as torch


def _random(*shape: int, dtype: Any = torch.double, device: Any = "cpu") -> Any:
    return torch.randn(*shape, dtype=dtype, device=device)


def _adjoint(matrix: Any) -> Any:
    return matrix.mT.conj()


def random_matrix(rows: int, columns: int, *batch_dims: int, **kwargs: Any) -> Any:
    """Matrices with distinct singular values between 0 and 1; one of them is 0 with singular."""
    singular = kwargs.pop("singular", False)
    kwargs.pop("silent", None)
    u, _, v = torch.linalg.svd(_random(*batch_dims, rows, columns, **kwargs), full_matrices=False)
    size = min(rows, columns)
    values = (torch.arange(1, size + 1) / (size + 1)).to(u.dtype)
    if singular and size:
        values[size // 2] = 0
    return (u * values) @ v


def random_lowrank_matrix(rank: int, rows: int, columns: int, *batch_dims: int, **kwargs: Any) -> Any:
    """Matrices of a rank."""
    return random_matrix(rows, rank, *batch_dims, **kwargs) @ random_matrix(rank, columns, *batch_dims, **kwargs)


def random_square_matrix_of_rank(l: int, rank: int, dtype: Any = torch.double, device: Any = "cpu") -> Any:  # noqa: E741
    """A square matrix of a rank."""
    assert rank <= l
    return _random(l, rank, dtype=dtype, device=device) @ _random(rank, l, dtype=dtype, device=device)


def random_symmetric_matrix(l: int, *batches: int, **kwargs: Any) -> Any:  # noqa: E741
    """Symmetric matrices."""
    a = _random(*batches, l, l, **kwargs)
    return (a + a.mT) / 2


def random_symmetric_psd_matrix(l: int, *batches: int, **kwargs: Any) -> Any:  # noqa: E741
    """Symmetric matrices with eigenvalues that are not negative."""
    a = _random(*batches, l, l, **kwargs)
    return a @ a.mT


def random_symmetric_pd_matrix(matrix_size: int, *batch_dims: int, **kwargs: Any) -> Any:
    """Symmetric matrices with positive eigenvalues."""
    a = random_symmetric_psd_matrix(matrix_size, *batch_dims, **kwargs)
    return a + torch.eye(matrix_size, dtype=a.dtype, device=a.device) * 1e-5


def random_hermitian_matrix(l: int, *batches: int, **kwargs: Any) -> Any:  # noqa: E741
    """Hermitian matrices."""
    a = _random(*batches, l, l, **kwargs)
    return (a + _adjoint(a)) / 2


def random_hermitian_psd_matrix(
    matrix_size: int, *batch_dims: int, dtype: Any = torch.double, device: Any = "cpu"
) -> Any:
    """Hermitian matrices with eigenvalues that are not negative."""
    a = _random(*batch_dims, matrix_size, matrix_size, dtype=dtype, device=device)
    return a @ _adjoint(a)


def random_hermitian_pd_matrix(matrix_size: int, *batch_dims: int, dtype: Any, device: Any) -> Any:
    """Hermitian matrices with positive eigenvalues."""
    a = random_hermitian_psd_matrix(matrix_size, *batch_dims, dtype=dtype, device=device)
    return a + torch.eye(matrix_size, dtype=dtype, device=device)


def make_fullrank_matrices_with_distinct_singular_values(
    *shape: int, device: Any, dtype: Any, requires_grad: bool = False
) -> Any:
    """Matrices whose singular values lie around 1, each apart from the others."""
    with torch.no_grad():
        u, _, v = torch.linalg.svd(_random(*shape, dtype=dtype, device=device), full_matrices=False)
        values = 1 + 1 / torch.arange(2, u.shape[-1] + 2, dtype=u.dtype, device=device)
        return ((u * values) @ v).requires_grad_(requires_grad)


def make_symmetric_matrices(*shape: int, device: Any, dtype: Any) -> Any:
    """Symmetric matrices."""
    assert shape[-1] == shape[-2]
    return random_symmetric_matrix(shape[-1], *shape[:-2], dtype=dtype, device=device)


def make_symmetric_pd_matrices(*shape: int, device: Any, dtype: Any) -> Any:
    """Symmetric matrices with positive eigenvalues."""
    assert shape[-1] == shape[-2]
    return random_symmetric_pd_matrix(shape[-1], *shape[:-2], dtype=dtype, device=device)


def random_well_conditioned_matrix(*shape: int, dtype: Any, device: Any, mean: float = 1.0, sigma: float = 0.001) -> Any:
    """Matrices whose singular values are distributed around a mean."""
    u, _, v = torch.linalg.svd(_random(*shape, dtype=dtype, device=device), full_matrices=False)
    values = torch.randn(*shape[:-2], u.shape[-1], device=device) * sigma + mean
    return (u * values.sort(-1, descending=True).values.unsqueeze(-2).to(u.dtype)) @ v
