"""Calls that run when their result is asked for, as PyTorch 2 has them: torch.jit._awaitable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._jit_internal import _FutureType

_AWAIT_HANDLE = 21


class _Await:
    """A call that runs when its result is asked for, once. `_Await[T]` is its type in annotations. Its attributes are those of its result."""

    def __class_getitem__(cls, item: Any) -> Any:
        return _FutureType(cls, (item,))

    def wait(self) -> Any:
        """The result, for which the call runs unless it has. Raises what the call raised."""
        raise NotImplementedError

    def fn(self) -> Callable[..., Any]:
        """The function that is called."""
        raise RuntimeError("the function of a call that a compiled program has made is not known")

    def args(self) -> tuple[Any, ...]:
        """The arguments of the call."""
        raise RuntimeError("the arguments of a call that a compiled program has made are not known")

    def is_nowait(self) -> bool:
        """Whether the result was there from the start."""
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'_Await' object has no attribute '{name}'")
        return getattr(self.wait(), name)


class _PythonAwait(_Await):
    """A call that Python has made; with nowait the function gives its only argument."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], nowait: bool = False) -> None:
        self._func, self._args, self._nowait = func, args, nowait
        self._result: list[Any] = []

    def wait(self) -> Any:
        if not self._result:
            self._result.append(self._func(*self._args))
        return self._result[0]

    def fn(self) -> Callable[..., Any]:
        if self._nowait:
            raise RuntimeError("Await constructed as awaitable_nowait does not have fn")
        return self._func

    def args(self) -> tuple[Any, ...]:
        return self._args

    def is_nowait(self) -> bool:
        return self._nowait


class _ProgramAwait(_Await, _native.Handle):
    """A call that a compiled program has made."""

    def wait(self) -> Any:
        return _native.future_wait(self)


_PythonAwait.__name__ = _PythonAwait.__qualname__ = _ProgramAwait.__name__ = _ProgramAwait.__qualname__ = "_Await"


def _awaitable(func: Callable[..., Any], *args: Any, **kwargs: Any) -> _Await:
    """func(*args, **kwargs), which is called when its result is asked for; in a compiled program, too.

    >>> later = torch.jit._awaitable(torch.neg, torch.ones(1))
    >>> torch.jit._awaitable_wait(later)
    tensor([-1.])
    """
    if not callable(func):
        raise TypeError(f"_awaitable() takes a function, but got a {type(func).__name__}")
    if not kwargs:
        return _PythonAwait(func, args)

    def call(*args: Any) -> Any:
        return func(*args, **kwargs)

    return _PythonAwait(call, args)


def _awaitable_wait(aw: _Await) -> Any:
    """The result of a call that runs when it is asked for. Raises TypeError for what is none."""
    if not isinstance(aw, _Await):
        raise TypeError(
            "_awaitable_wait(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C._Await) -> object\n\nInvoked with: {aw!r}"
        )
    return aw.wait()


def _awaitable_nowait(o: Any) -> _Await:
    """A value as what a call will give."""
    return _PythonAwait(lambda value: value, (o,), nowait=True)


_native.register_handle_class(_AWAIT_HANDLE, _ProgramAwait)
