"""Masks of the elements near the diagonal."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.sparsity.sparsifier.base_sparsifier import BaseSparsifier


class NearlyDiagonalSparsifier(BaseSparsifier):
    """Keeps the diagonal of matrices and the elements beside it: nearliness, an odd number, is how many of a row."""

    def __init__(self, nearliness: int = 1) -> None:
        super().__init__(defaults={"nearliness": nearliness})

    def update_mask(self, module: Any, tensor_name: str, nearliness: int, **kwargs: Any) -> None:  # type: ignore[override]
        """Sets the mask of a tensor. Raises ValueError for an even number, or one that is too large."""
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        height, width = mask.shape
        if nearliness % 2 == 0:
            raise ValueError("nearliness can only be an odd number")
        reach = nearliness // 2
        if reach >= min(height, width):
            raise ValueError("nearliness cannot be larger than the dimensions of tensor.")
        near = (torch.arange(height)[:, None] - torch.arange(width)[None, :]).abs() <= reach
        mask.data = near.to(mask.dtype)
