"""fork and wait as plain Python calls: they run at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._jit_internal import _FutureType

_FUTURE_HANDLE = 7


class Future(_native.Handle):
    """The result of a call that a compiled program forked. `Future[T]` is its type in annotations."""

    def __class_getitem__(cls, item: Any) -> Any:
        return _FutureType(cls, (item,))

    def wait(self) -> Any:
        return _native.future_wait(self)

    def done(self) -> bool:
        return _native.future_done(self)

    value = wait


class _Done:
    """The result of a call that ran at once."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def wait(self) -> Any:
        return self._value

    value = wait

    def done(self) -> bool:
        return True


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A future of func(*args, **kwargs). In a compiled program the call runs beside its caller."""
    return _Done(func(*args, **kwargs))


def wait(future: Any) -> Any:
    """The result of a future, once it is there."""
    return future.wait()


_native.register_handle_class(_FUTURE_HANDLE, Future)
