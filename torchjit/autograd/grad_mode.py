"""Switching the recording of operations on and off.

The classes can be used in compiled programs, so their methods keep to the language.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torchjit as torch
from torchjit import _native


def is_grad_enabled() -> bool:
    """Whether operations are recorded.

    >>> torch.is_grad_enabled()
    True
    """
    return _native.grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether results of operations are inference tensors."""
    return _native.inference_mode()


class _DecoratorContextManager:
    """Lets a context manager decorate functions too."""

    def __call__(self, fn: Any) -> Any:
        if inspect.isgeneratorfunction(fn):
            return self._wrap_generator(fn)

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.fresh():
                return fn(*args, **kwargs)

        return wrapper

    def _wrap_generator(self, fn: Any) -> Any:
        """The steps of a generator run in the mode, what is between them does not."""

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            steps = fn(*args, **kwargs)
            step: Any = steps.send
            given: tuple[Any, ...] = (None,)
            while True:
                try:
                    with self.fresh():
                        made = step(*given)
                except StopIteration as end:
                    return end.value
                try:
                    step, given = steps.send, ((yield made),)
                except GeneratorExit:
                    with self.fresh():
                        steps.close()
                    raise
                except BaseException as e:
                    step, given = steps.throw, (e,)

        return wrapper

    def fresh(self) -> Any:
        return type(self)()

    def clone(self) -> Any:
        """A manager of the same mode."""
        return self.fresh()


class no_grad(_DecoratorContextManager):
    """Operations are not recorded.

    >>> with torch.no_grad():
    ...     y = torch.ones(1, requires_grad=True) * 2
    >>> y.requires_grad
    False
    """

    def __init__(self) -> None:
        self.prev: bool = False

    def __enter__(self) -> None:
        self.prev = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        torch.set_grad_enabled(self.prev)


class enable_grad(_DecoratorContextManager):
    """Operations are recorded.

    >>> with torch.no_grad(), torch.enable_grad():
    ...     print(torch.is_grad_enabled())
    True
    """

    def __init__(self) -> None:
        self.prev: bool = False

    def __enter__(self) -> None:
        self.prev = torch.is_grad_enabled()
        torch.set_grad_enabled(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        torch.set_grad_enabled(self.prev)


class set_grad_enabled(_DecoratorContextManager):
    """Operations are recorded or not, from here on or in a with statement.

    >>> with torch.set_grad_enabled(False):
    ...     print(torch.is_grad_enabled())
    False
    """

    def __init__(self, mode: bool) -> None:
        self.prev: bool = _native.grad_enabled()
        self.mode: bool = bool(mode)
        _native.set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _native.set_grad_enabled(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _native.set_grad_enabled(self.prev)

    def fresh(self) -> Any:
        return type(self)(self.mode)


class inference_mode(_DecoratorContextManager):
    """Operations are not recorded, and the tensors that they make are never recorded later (they are inference tensors).

    >>> with torch.inference_mode():
    ...     print(torch.ones(1).is_inference())
    True
    """

    prev: tuple[bool, bool]

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.prev = _native.grad_enabled(), _native.inference_mode()
        _native.set_grad_enabled(not self.mode)
        _native.set_inference_mode(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        grad, inference = self.prev
        _native.set_grad_enabled(grad)
        _native.set_inference_mode(inference)

    def fresh(self) -> Any:
        return type(self)(self.mode)
