"""Masks of the blocks whose elements are largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
import torchjit.nn.functional as F
from torchjit.ao.sparsity.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["WeightNormSparsifier"]


class WeightNormSparsifier(BaseSparsifier):
    """Zeros in the blocks of matrices whose norms are least.

    sparsity_level: which part of the blocks has zeros. sparse_block_shape: the rows and columns of a block. zeros_per_block: how many zeros it has, the
    smallest elements; all where it is None. norm: 1 for absolute values, 2 (or None) for squares, or a function of a tensor that gives what is summed.
    """

    def __init__(
        self, sparsity_level: float = 0.5, sparse_block_shape: tuple[int, int] = (1, 4), zeros_per_block: int | None = None, norm: Callable[[Any], Any] | int | None = None
    ) -> None:
        if zeros_per_block is None:
            zeros_per_block = sparse_block_shape[0] * sparse_block_shape[1]
        super().__init__(defaults={"sparsity_level": sparsity_level, "sparse_block_shape": sparse_block_shape, "zeros_per_block": zeros_per_block})
        if callable(norm):
            self.norm_fn: Callable[[Any], Any] = norm
        elif norm in (None, 2):
            self.norm_fn = lambda t: t * t
        elif norm == 1:
            self.norm_fn = torch.abs
        else:
            raise NotImplementedError(f"L-{norm} is not yet implemented.")

    def update_mask(  # type: ignore[override]
        self, module: Any, tensor_name: str, sparsity_level: float, sparse_block_shape: tuple[int, int], zeros_per_block: int, **kwargs: Any
    ) -> None:
        """Sets the mask of a tensor. Raises ValueError for more zeros than a block has elements, and for fewer than none."""
        whole = sparse_block_shape[0] * sparse_block_shape[1]
        if zeros_per_block > whole:
            raise ValueError("Number of zeros per block cannot be more than the total number of elements in that block.")
        if zeros_per_block < 0:
            raise ValueError("Number of zeros per block should be positive.")
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        if sparsity_level <= 0 or zeros_per_block == 0:
            mask.data = torch.ones_like(mask)
        elif sparsity_level >= 1.0 and zeros_per_block == whole:
            mask.data = torch.zeros_like(mask)
        else:
            sizes = self.norm_fn(getattr(module, tensor_name))
            chosen = self._make_tensor_mask(sizes, sizes.shape, sparsity_level, sparse_block_shape)
            if zeros_per_block != whole:
                chosen = torch.logical_or(chosen, self._make_block_mask(sizes, sparse_block_shape, zeros_per_block))
            mask.data = chosen

    def _blocks(self, data: Any, block: tuple[int, int]) -> tuple[Any, tuple[int, int]]:
        """The matrix padded to whole blocks, as (rows of blocks, columns of blocks, elements of a block), and its padded size."""
        height, width = data.shape[-2:]
        down, across = -height % block[0], -width % block[1]
        padded = F.pad(data, (0, across, 0, down), value=float("nan")) if down or across else data
        rows, columns = padded.shape[0] // block[0], padded.shape[1] // block[1]
        parts = padded.reshape(rows, block[0], columns, block[1]).permute(0, 2, 1, 3).reshape(rows, columns, -1)
        return parts, (padded.shape[0], padded.shape[1])

    def _whole(self, parts: Any, padded: tuple[int, int], block: tuple[int, int], shape: Any) -> Any:
        """The matrix of a size of its blocks."""
        rows, columns = parts.shape[:2]
        joined = parts.reshape(rows, columns, block[0], block[1]).permute(0, 2, 1, 3).reshape(padded)
        return joined[: shape[-2], : shape[-1]].contiguous()

    def _make_tensor_mask(self, data: Any, input_shape: Any, sparsity_level: float, sparse_block_shape: tuple[int, int], mask: Any = None) -> Any:
        """Zeros in the blocks whose means are least."""
        parts, padded = self._blocks(data, sparse_block_shape)
        means = parts.nanmean(-1)
        count = min(int(round(sparsity_level * means.numel())), means.numel())
        order = torch.sort(means.flatten(), dim=0)[1]
        ones = torch.ones(means.numel(), dtype=data.dtype)
        ones[order[:count]] = 0
        return self._whole(ones.reshape(means.shape)[:, :, None].expand(parts.shape), padded, sparse_block_shape, input_shape)

    def _make_block_mask(self, data: Any, sparse_block_shape: tuple[int, int], zeros_per_block: int, mask: Any = None) -> Any:
        """Zeros for the smallest elements of each block."""
        parts, padded = self._blocks(data, sparse_block_shape)
        order = torch.argsort(torch.where(parts.isnan(), torch.full_like(parts, float("-inf")), parts), dim=-1)
        ones = torch.ones_like(parts).scatter(-1, order[..., :zeros_per_block], 0.0)
        return self._whole(ones, padded, sparse_block_shape, data.shape)
