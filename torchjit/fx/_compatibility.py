"""Marks of what stays as it is from version to version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T", bound=Callable[..., Any])

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMATIBLITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """Marks a function or class as one that stays as it is, or as one that may change."""

    def mark(fn: _T) -> _T:
        _MARKED_WITH_COMATIBLITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        else:
            note = "\n.. warning::\n    This API is experimental and is *NOT* backward-compatible.\n"
            fn.__doc__ = (fn.__doc__ or "") + note
        return fn

    return mark
