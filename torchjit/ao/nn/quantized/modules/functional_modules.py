"""Operators as modules, so that their results can be observed and quantized."""

from __future__ import annotations

from typing import List  # noqa: UP035

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _own_state, _range_of, _take_state
from torchjit.nn.modules.module import Module

# ruff: noqa: UP006

__all__ = ["FloatFunctional", "FXFloatFunctional", "QFunctional"]


class FloatFunctional(nn.Module):
    """Operators on floats, whose results go through `activation_post_process`. It has no forward: calling it raises RuntimeError."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process: nn.Module = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        r = torch.add(x, y)
        r = self.activation_post_process(r)
        return r

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y for a number, which is not processed further."""
        r = torch.add(x, y)
        return r

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y."""
        r = torch.mul(x, y)
        r = self.activation_post_process(r)
        return r

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y for a number, which is not processed further."""
        r = torch.mul(x, y)
        return r

    def cat(self, x: List[Tensor], dim: int = 0) -> Tensor:
        """torch.cat."""
        r = torch.cat(x, dim=dim)
        r = self.activation_post_process(r)
        return r

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """relu(x + y)."""
        r = torch.add(x, y)
        r = nn.functional.relu(r)
        r = self.activation_post_process(r)
        return r


class FXFloatFunctional(nn.Module):
    """The operators of FloatFunctional without anything behind them."""

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        return torch.add(x, y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y for a number."""
        return torch.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y."""
        return torch.mul(x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y for a number."""
        return torch.mul(x, y)

    def cat(self, x: List[Tensor], dim: int = 0) -> Tensor:
        """torch.cat."""
        return torch.cat(x, dim=dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """relu(x + y)."""
        return nn.functional.relu(torch.add(x, y))


class QFunctional(nn.Module):
    """The operators of FloatFunctional on quantized tensors; their results have the scale and zero point that it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.scale: float = 1.0
        self.zero_point = 0
        self.activation_post_process: nn.Module = nn.Identity()

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        _own_state(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        _take_state(self, state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs
        )

    def _get_name(self):
        return "QFunctional"

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("Functional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        r = torch.ops.quantized.add(x, y, scale=self.scale, zero_point=self.zero_point)
        r = self.activation_post_process(r)
        return r

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y for a number."""
        r = torch.ops.quantized.add_scalar(x, y)
        return r

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y."""
        r = torch.ops.quantized.mul(x, y, scale=self.scale, zero_point=self.zero_point)
        r = self.activation_post_process(r)
        return r

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y for a number."""
        r = torch.ops.quantized.mul_scalar(x, y)
        return r

    def cat(self, x: List[Tensor], dim: int = 0) -> Tensor:
        """torch.cat."""
        r = torch.ops.quantized.cat(x, scale=self.scale, zero_point=self.zero_point, dim=dim)
        r = self.activation_post_process(r)
        return r

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """relu(x + y)."""
        r = torch.ops.quantized.add_relu(x, y, scale=self.scale, zero_point=self.zero_point)
        r = self.activation_post_process(r)
        return r

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The operators for a FloatFunctional that has been observed."""
        if type(mod) is not FloatFunctional:
            raise AssertionError("QFunctional.from_float expects an instance of FloatFunctional")
        made = QFunctional()
        made.scale, made.zero_point = _range_of(mod.activation_post_process)
        return made
