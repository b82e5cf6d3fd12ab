"""Sizes that may be given as one number."""

from typing import Any, Iterable


def to_tuple(x: Any, n: int) -> tuple:
    """x, or n times x where it is one number."""
    return tuple(x) if isinstance(x, Iterable) else (x,) * n


def reversed_repeated(x: Any, times: int) -> list:
    """The elements from the last to the first, each several times."""
    return [item for item in reversed(x) for _ in range(times)]
