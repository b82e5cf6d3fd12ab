"""torch.distributions.utils: what distributions of libraries are written with."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.distributions.continuous import _EULER as euler_constant  # noqa: F401
from torchjit.distributions.distribution import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from torchjit.distributions.transforms import _sum_rightmost  # noqa: F401
from torchjit.overrides import is_tensor_like  # noqa: F401

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Numbers of the standard normal distribution."""
    return torch.normal(torch.zeros(shape, dtype=dtype, device=device), torch.ones(shape, dtype=dtype, device=device))


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements of matrices (..., n, n) on and below a diagonal, row by row. Raises ValueError where there is no such diagonal."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., torch.ones(n, n, device=mat.device).tril(diag).bool()]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The matrices of which tril_matrix_to_vec gives vec, zero above the diagonal. Raises ValueError for lengths that none has."""
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if not round(n) - n < torch.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    side = round(n)
    made = vec.new_zeros(vec.shape[:-1] + (side, side))
    made[..., torch.ones(side, side, device=vec.device).tril(diag).bool()] = vec
    return made
