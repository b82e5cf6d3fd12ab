"""torch.testing._legacy: lists of element types by the names that they had first."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._dtypes import *  # noqa: F403
from torchjit.testing._dtypes import complex_types, get_all_device_types, get_all_dtypes, integral_types  # noqa: F401


def _validate_dtypes(*dtypes: Any) -> tuple[Any, ...]:
    """The element types, which must be such."""
    for dtype in dtypes:
        assert isinstance(dtype, torch.dtype)
    return dtypes


class _dispatch_dtypes(tuple):  # noqa: N801, SLOT001
    """Element types that can be added to others."""

    def __add__(self, other: Any) -> Any:
        assert isinstance(other, tuple)
        return _dispatch_dtypes(tuple.__add__(self, other))


def complex_types_and(*dtypes: Any) -> tuple[Any, ...]:
    """The complex types and others."""
    return complex_types() + _validate_dtypes(*dtypes)


def get_all_math_dtypes(device: str) -> list[Any]:
    """The types that numbers are computed with on a device: without half precision on the CPU."""
    half = not str(device).startswith("cpu")
    return get_all_dtypes(include_half=half, include_bfloat16=False, include_bool=False)


def get_all_qint_dtypes() -> list[Any]:
    """The quantized types."""
    return [torch.qint8, torch.quint8, torch.qint32]
