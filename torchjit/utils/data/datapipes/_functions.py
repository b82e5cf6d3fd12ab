"""Functions of examples."""

from __future__ import annotations

from typing import Any


def applied(fn: Any, item: Any, columns: Any) -> Any:
    """What a function gives for an item, or for one or several of its columns."""
    if columns is None:
        return fn(item)
    if isinstance(columns, (list, tuple)):
        return fn(*(item[c] for c in columns))
    return fn(item[columns])
