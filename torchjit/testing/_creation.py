"""torch.testing.make_tensor: tensors of random numbers."""

from __future__ import annotations

import math
from typing import Any

from torchjit._types import dtype as dtype_class
from torchjit._types import dtypes, finfo, iinfo

_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def _bounds(low: Any, high: Any, lowest: Any, highest: Any, default_low: Any, default_high: Any) -> tuple[Any, Any]:
    low = default_low if low is None else low
    high = default_high if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError("make_tensor: one of low or high was NaN!")
    if low > high:
        raise ValueError("make_tensor: low must be weakly less than high!")
    return min(max(low, lowest), highest), min(max(high, lowest), highest)


def make_tensor(
    *shape: Any,
    dtype: dtype_class,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Any:
    """A tensor of a shape with random numbers from [low, high), by default from [-9, 9], of integers from [-9, 9], unsigned ones from [0, 9].

    noncontiguous leaves gaps in memory where there is more than one element; exclude_zero replaces zeros. Raises ValueError for bounds in
    the wrong order and for integers that require a gradient, TypeError for other element types.

    >>> torch.testing.make_tensor((2, 3), dtype=torch.float32, device="cpu", low=0, high=1).shape
    torch.Size([2, 3])
    """
    import torchjit as torch

    size = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    size = tuple(size)
    name = dtype.name
    if requires_grad and name in (*_INTEGERS, "bool"):
        raise ValueError("make_tensor: requires_grad must be False for integral dtype")
    if name == "bool":
        made = torch.randint(0, 2, size, dtype=dtype)
    elif name in _INTEGERS:
        limits = iinfo(dtype)
        first, last = _bounds(low, high, limits.min, limits.max, 0 if name == "uint8" else -9, 10)
        made = torch.randint(math.floor(first), math.ceil(last), size, dtype=dtype)
    elif name in _FLOATS:
        made = _uniform(size, dtype, low, high)
    elif name in _PARTS:
        part = dtypes[_PARTS[name]]
        made = torch.complex(_uniform(size, part, low, high), _uniform(size, part, low, high))
    else:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To request support, file an issue at: "
            "https://github.com/pytorch/pytorch/issues"
        )
    if noncontiguous and made.numel() > 1:
        made = torch.repeat_interleave(made, 2, dim=-1)[..., ::2]
    if exclude_zero:
        made[made == 0] = _not_zero(dtype)
    return made.requires_grad_(requires_grad)


def _uniform(size: tuple[int, ...], dtype: dtype_class, low: Any, high: Any) -> Any:
    import torchjit as torch

    limits = finfo(dtype)
    first, last = _bounds(low, high, limits.min, limits.max, -9, 9)
    drawn = torch.rand(size, dtype=dtype)
    return last * drawn + first * (1 - drawn)


def _not_zero(dtype: dtype_class) -> Any:
    if dtype.name in (*_INTEGERS, "bool"):
        return 1
    tiny = finfo(dtype).tiny
    return complex(tiny, tiny) if dtype.is_complex else tiny
