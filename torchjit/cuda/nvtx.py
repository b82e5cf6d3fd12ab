"""Ranges for NVIDIA's profiler, which needs PyTorch's build with CUDA: each function raises RuntimeError, as in PyTorch without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark: Callable[..., NoReturn] = _refuse
range_end: Callable[..., NoReturn] = _refuse
range_pop: Callable[..., NoReturn] = _refuse
range_push: Callable[..., NoReturn] = _refuse
range_start: Callable[..., NoReturn] = _refuse


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:  # noqa: A001
    """A context that is a range. Raises RuntimeError."""
    _refuse()
    yield
