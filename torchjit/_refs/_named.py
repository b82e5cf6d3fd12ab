"""The operators that references stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def named(owner: Any, names: Iterable[str], module: str) -> dict[str, Any]:
    """The functions of a module, or methods of a class, that have the names. An AttributeError says which one is missing."""
    found = {}
    for name in names:
        if not hasattr(owner, name):
            raise AttributeError(f"{module}.{name}: there is no operator '{name}'")
        found[name] = getattr(owner, name)
    return found
