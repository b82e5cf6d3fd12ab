"""torch.testing._legacy: lists of element types by the names that they had first."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._dtypes import *  # noqa: F403
from torchjit.testing._dtypes import _dispatch_dtypes, _validate_dtypes, get_all_dtypes  # noqa: F401


def get_all_math_dtypes(device: str) -> list[Any]:
    """The types that numbers are computed with on a device: without half precision on the CPU."""
    half = not str(device).startswith("cpu")
    return get_all_dtypes(include_half=half, include_bfloat16=False, include_bool=False)


def get_all_qint_dtypes() -> list[Any]:
    """The quantized types."""
    return [torch.qint8, torch.quint8, torch.qint32]
