"""torch._refs: functions by the names under which PyTorch says in Python what operators do. Here they are the operators themselves."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._refs._named import named

_KINDS = {**_native.operators_with("ref"), "broadcast_shapes": "function"}
_FUNCTIONS = [name for name, kind in _KINDS.items() if kind == "function"]
_METHODS = [name for name, kind in _KINDS.items() if kind == "method"]

globals().update(named(torch, _FUNCTIONS, "torch._refs"), **named(torch.Tensor, _METHODS, "torch._refs"))
swap_axes = torch.swapaxes
__all__ = sorted([*_KINDS, "copy_to", "rfloordiv", "rpow", "rtruediv", "swap_axes", "trunc_divide", "uniform"])


def copy_to(a: Any, b: Any, *, allow_cross_device: bool = True) -> Any:
    """a with the elements of b, which is broadcast to its shape and converted to its type."""
    return a.copy_(b)


def rfloordiv(a: Any, b: Any) -> Any:
    """b // a."""
    return torch.floor_divide(b, a)


def rpow(a: Any, b: Any) -> Any:
    """b ** a."""
    return torch.pow(b, a)


def rtruediv(a: Any, b: Any) -> Any:
    """b / a."""
    return torch.true_divide(b, a)


def trunc_divide(a: Any, b: Any, *, out: Any = None) -> Any:
    """a / b rounded toward zero."""
    return torch.div(a, b, rounding_mode="trunc", out=out)


def uniform(shape: Any, low: float = 0.0, high: float = 1.0, *, dtype: Any, device: Any) -> Any:
    """A new tensor of random numbers from low to high."""
    return torch.empty(shape, dtype=dtype, device=device).uniform_(low, high)


from torchjit._refs import fft as fft  # noqa: E402
from torchjit._refs import linalg as linalg  # noqa: E402
from torchjit._refs import nn as nn  # noqa: E402
from torchjit._refs import special as special  # noqa: E402
