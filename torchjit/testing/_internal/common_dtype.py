"""Lists of element types for tests."""

from __future__ import annotations

from typing import Any

from torchjit import _lazy
from torchjit.testing._dtypes import *  # noqa: F403
from torchjit.testing._dtypes import get_all_complex_dtypes, get_all_fp_dtypes, get_all_int_dtypes


def get_all_math_dtypes(device: Any) -> list[Any]:
    """The types that arithmetic on a device knows."""
    half = str(device).startswith("cuda")
    return [*get_all_int_dtypes(), *get_all_fp_dtypes(include_half=half, include_bfloat16=False), *get_all_complex_dtypes()]


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.testing._legacy": "_dispatch_dtypes _validate_dtypes",
})  # fmt: skip
