"""Ranges for Intel's profiler, which needs PyTorch's build with ITT: each function raises RuntimeError, as in PyTorch without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    """Whether there is ITT: no."""
    return False


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")


mark: Callable[..., NoReturn] = _refuse
range_pop: Callable[..., NoReturn] = _refuse
range_push: Callable[..., NoReturn] = _refuse


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:  # noqa: A001
    """A context that is a range. Raises RuntimeError."""
    _refuse()
    yield
