"""Functions whose exported form follows the sizes of tensors in the file's input: shapes as tensors."""

from __future__ import annotations

import torchjit as torch


def shape_as_tensor(x: torch.Tensor) -> torch.Tensor:
    """The size of a tensor as a tensor of int64."""
    return torch._shape_as_tensor(x)


def reshape_from_tensor_shape(x: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    """A tensor in the size that a tensor of int64 says."""
    return torch._reshape_from_tensor(x, shape)
