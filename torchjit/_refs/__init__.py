"""torch._refs: functions by the names under which PyTorch says in Python what operators do. Here they are the operators themselves."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit._refs._named import named

_FUNCTIONS = """abs acos acosh asinh asin atan atanh bitwise_not ceil conj_physical cos cosh digamma erf erfinv erfc exp expm1 exp2 fill floor frac index_add
    index_copy index_select index_fill isfinite isinf isnan isneginf isposinf isreal i0 lgamma log log1p log2 log10 nan_to_num neg positive reciprocal round
    sigmoid sgn sign signbit sin sinc sinh sqrt square tan tanh trace trunc add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor copysign cumsum div eq float_power floor_divide fmax fmin fmod gcd ge gt heaviside hypot igamma igammac imag isclose lcm le logical_and
    logical_not logical_or logical_xor logsumexp lt maximum minimum mul ne nextafter pow real remainder rsub sub true_divide addcdiv clamp clamp_max
    clamp_min masked_fill where clone all amax amin any mean std std_mean var_mean sum prod var addr atleast_1d atleast_2d atleast_3d as_strided
    broadcast_shapes broadcast_tensors broadcast_to cat chunk column_stack conj constant_pad_nd diag_embed diagonal dsplit dstack empty_strided flatten flip
    fliplr flipud hsplit hstack log_softmax meshgrid movedim narrow native_layer_norm norm permute ravel reshape roll rot90 rsqrt softmax stack squeeze t
    tensor_split transpose unfold_copy unsqueeze vsplit vstack unflatten unbind triu tril triu_indices tril_indices arange empty empty_like eye full
    full_like linspace logspace ones ones_like randn scalar_tensor zeros zeros_like allclose equal"""
_METHODS = """contiguous expand expand_as fill_ index_add_ index_copy_ index_fill_ item new_empty new_empty_strided new_full new_ones new_zeros repeat
    reshape_as sum_to_size to view view_as zero_"""

globals().update(named(torch, _FUNCTIONS, "torch._refs"), **named(torch.Tensor, _METHODS, "torch._refs"))
swap_axes = torch.swapaxes
__all__ = sorted([*_FUNCTIONS.split(), *_METHODS.split(), "copy_to", "rfloordiv", "rpow", "rtruediv", "swap_axes", "trunc_divide", "uniform"])


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
