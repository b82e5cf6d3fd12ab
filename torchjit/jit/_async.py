"""fork and wait as plain Python calls, which run at once, and what a forked call gives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from torchjit import _lazy, _native
from torchjit._jit_internal import _FutureType

_FUTURE_HANDLE = 7


class Future:
    """The result of a call that may still run. `Future[T]` is its type in annotations.

    >>> future = torch.jit.fork(torch.neg, torch.ones(1))
    >>> isinstance(future, torch.jit.Future), future.wait()
    (True, tensor([-1.]))
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Future:
            from torchjit.futures import Future as PythonFuture

            cls = PythonFuture
        return super().__new__(cls)

    def __class_getitem__(cls, item: Any) -> Any:
        return _FutureType(cls, (item,))

    def wait(self) -> Any:
        """The result, once it is there. Raises what the call raised."""
        raise NotImplementedError

    def done(self) -> bool:
        """Whether the call has ended."""
        raise NotImplementedError

    def value(self) -> Any:
        """The result, which must be there. Raises what the call raised."""
        return self.wait()

    def then(self, callback: Callable[[Any], Any]) -> Future:
        """A future of callback(self), which is called when the call has ended."""
        from torchjit.futures import Future as PythonFuture

        following: Any = PythonFuture()

        def follow(ended: Any) -> None:
            try:
                following.set_result(callback(ended))
            except Exception as e:
                failed = RuntimeError(f"Got the following error when running the callback: {type(e).__name__}: {e}")
                failed.__cause__ = e
                following.set_exception(failed)

        self.add_done_callback(follow)
        return following

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Has callback(self) called when the call has ended: at once where it has."""
        raise NotImplementedError


class _ForkedFuture(Future, _native.Handle):
    """The result of a call that a compiled program forked."""

    def wait(self) -> Any:
        return _native.future_wait(self)

    def done(self) -> bool:
        return _native.future_done(self)

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        if self.done():
            callback(self)
        else:
            threading.Thread(target=self._call_at_end, args=(callback,), daemon=True).start()

    def _call_at_end(self, callback: Callable[[Any], None]) -> None:
        try:
            self.wait()
        except Exception:  # the callback asks again
            pass
        callback(self)

    def set_result(self, result: Any) -> None:
        """Raises RuntimeError: the result of a forked call is what the call gives."""
        raise RuntimeError(
            "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once."
            if self.done()
            else "the result of a forked call cannot be set"
        )

    def _set_unwrap_func(self, callback: Callable[[Any], Any]) -> None:
        """Does nothing: what a forked call raised is raised by wait."""


_ForkedFuture.__name__ = _ForkedFuture.__qualname__ = "Future"


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A future of func(*args, **kwargs). In a compiled program, one of a trace too, the call runs beside its caller.

    >>> @torch.jit.script
    ... def f(x):
    ...     later = torch.jit.fork(torch.neg, x)
    ...     return x + 1, torch.jit.wait(later)
    >>> f(torch.ones(1))
    (tensor([2.]), tensor([-1.]))
    """
    if _native.is_tracing() and _native.trace_begin_fork():
        try:
            return _native.trace_end_fork(func(*args, **kwargs))
        except BaseException:
            _native.trace_drop_fork()
            raise
    from torchjit.futures import Future as PythonFuture

    made: Any = PythonFuture()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future: Any) -> Any:
    """The result of a future, once it is there. Raises TypeError for what is none.

    >>> torch.jit.wait(torch.jit.fork(torch.neg, torch.ones(1)))
    tensor([-1.])
    """
    if not isinstance(future, Future):
        raise TypeError(
            "wait(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: torch._C.Future) -> object\n\n"
            f"Invoked with: {future!r}"
        )
    return future.wait()


_native.register_handle_class(_FUTURE_HANDLE, _ForkedFuture)

__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.jit": "set_module", "torchjit.jit._builtins": "_register_builtin"})
