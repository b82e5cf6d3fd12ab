"""Switching the recording of operations on and off."""

from __future__ import annotations

import functools
from typing import Any

from torchjit import _native


class _GradMode:
    """Sets whether operations are recorded, in a with statement or for a decorated function."""

    mode = False

    def __enter__(self) -> None:
        self._before = _native.grad_enabled()
        _native.set_grad_enabled(self.mode)

    def __exit__(self, *exception: Any) -> None:
        _native.set_grad_enabled(self._before)

    def __call__(self, fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with type(self).__new__(type(self)).like(self):
                return fn(*args, **kwargs)

        return wrapper

    def like(self, other: Any) -> Any:
        self.mode = other.mode
        return self


class no_grad(_GradMode):
    """Operations are not recorded."""

    mode = False


class inference_mode(_GradMode):
    """Operations are not recorded."""

    def __init__(self, mode: bool = True) -> None:
        self.mode = not mode


class enable_grad(_GradMode):
    """Operations are recorded."""

    mode = True


class set_grad_enabled(_GradMode):
    """Operations are recorded or not, from here on or in a with statement."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = _native.grad_enabled()
        _native.set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _native.set_grad_enabled(self.mode)


def is_grad_enabled() -> bool:
    return _native.grad_enabled()


def is_inference_mode_enabled() -> bool:
    return not _native.grad_enabled()
