"""Operators as modules, which a converted model would replace by quantized ones."""

from __future__ import annotations

from typing import List  # noqa: UP035

import torchjit as torch
from torchjit import Tensor, nn


class FloatFunctional(nn.Module):
    """Operators on floats, whose results go through `activation_post_process`. It has no forward: calling it raises RuntimeError."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y for a number, which is not processed further."""
        return torch.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y."""
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y for a number, which is not processed further."""
        return torch.mul(x, y)

    def cat(self, x: List[Tensor], dim: int = 0) -> Tensor:  # noqa: UP006
        """torch.cat."""
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """relu(x + y)."""
        return self.activation_post_process(torch.relu(torch.add(x, y)))
