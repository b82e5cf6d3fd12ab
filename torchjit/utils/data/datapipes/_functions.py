"""What data pipes ask of the functions that they are given."""

from __future__ import annotations

import warnings
from typing import Any


def check_picklable(fn: Any) -> None:
    """Warns of lambdas: pipes with them cannot be sent to processes."""
    if getattr(fn, "__name__", "") == "<lambda>":
        warnings.warn("Lambda function is not supported by pickle, please use regular python function or functools.partial instead.", stacklevel=3)


def applied(fn: Any, item: Any, columns: Any) -> Any:
    """What a function gives for an item, or for one or several of its columns."""
    if columns is None:
        return fn(item)
    if isinstance(columns, (list, tuple)):
        return fn(*(item[c] for c in columns))
    return fn(item[columns])
