"""Singular values of large matrices that are nearly of low rank, by random projections (Halko and others)."""

from __future__ import annotations

from typing import Any

import torchjit as torch


def get_approximate_basis(A: Any, q: int, niter: int | None = 2, M: Any = None) -> Any:
    """An orthogonal matrix (m x q) whose columns nearly span those of A - M (m x n), after niter iterations."""
    niter = 2 if niter is None else niter
    work = A if M is None else A - M
    q_matrix = torch.linalg.qr(work.matmul(torch.randn(A.shape[-1], q, dtype=A.dtype)))[0]
    for _ in range(niter):
        q_matrix = torch.linalg.qr(work.mH.matmul(q_matrix))[0]
        q_matrix = torch.linalg.qr(work.matmul(q_matrix))[0]
    return q_matrix


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """(U, S, V) of A - M (* x m x n) with q singular values; S is nearly that of the full decomposition where the others are small."""
    q = 6 if q is None else q
    work = A if M is None else A - M
    if A.shape[-2] < A.shape[-1]:
        U, S, V = svd_lowrank(work.mH, q, niter)
        return V, S, U
    basis = get_approximate_basis(work, q, niter)
    U, S, Vh = torch.linalg.svd(basis.mH.matmul(work), full_matrices=False)
    return basis.matmul(U), S, Vh.mH


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, Any, Any]:
    """(U, S, V) of the principal components of A (* x m x n), whose rows are samples.

    Raises ValueError for q that is negative or more than the smaller dimension.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter=niter)
