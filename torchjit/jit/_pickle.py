"""Functions that the pickles in archives name: they give their lists as they are, whose types Python does not keep."""

from __future__ import annotations

from typing import Any


def _as_it_is(data: Any) -> Any:
    """The list."""
    return data


build_intlist = build_tensorlist = build_doublelist = build_boollist = _as_it_is


def build_tensor_from_id(data: Any) -> Any:
    """The number of a tensor, None for anything else."""
    return data if isinstance(data, int) else None


def restore_type_tag(value: Any, type_str: str) -> Any:
    """The value, whose type in the program Python does not keep."""
    return value
