"""torch.futures: results that are set later."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from torchjit.jit._async import Future as _Base

__all__ = ["Future", "collect_all", "wait_all"]


class Future(_Base):
    """A result that set_result or set_exception gives, once. Any thread may wait for it."""

    def __init__(self, *, devices: Any = None) -> None:
        if devices:
            raise ValueError(f"Expected devices to have indices, got {devices[0]}: devices of futures are those of accelerators")
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], None]] = []
        self._unwrap: Callable[[Any], Any] | None = None

    def done(self) -> bool:
        """Whether there is a result or an exception."""
        return self._done

    def wait(self) -> Any:
        """The result, once it is there. Raises the exception that was set instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._done)
        if self._error is not None:
            raise self._error
        if self._unwrap is not None:
            self._unwrap(self._result)
        return self._result

    def _set_unwrap_func(self, callback: Callable[[Any], Any]) -> None:
        """Has callback(result) called when the result is asked for: it raises where the result stands for an exception."""
        self._unwrap = callback

    def value(self) -> Any:
        """The result. Raises RuntimeError where there is none yet."""
        if not self._done:
            raise RuntimeError("`value()` was called on a Future that has no result yet: call `wait()`")
        return self.wait()

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Has callback(self) called when there is a result: at once, where there is. What it raises is written to stderr."""
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        self._call(callback)

    def set_result(self, result: Any) -> None:
        """Gives the result. Raises RuntimeError where one has been given."""
        self._end(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Has wait raise an exception. Raises AssertionError for anything else."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._end(None, result)

    def _end(self, result: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            self._call(callback)

    def _call(self, callback: Callable[[Any], None]) -> None:
        try:
            callback(self)
        except Exception as e:
            print(f"a callback of a Future failed: {type(e).__name__}: {e}", file=sys.stderr)


def collect_all(futures: list[Any]) -> Future:
    """A future of the list of futures, done when all of them are."""
    made = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def count(_: Any) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            made.set_result(list(futures))

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        made.set_result([])
    return made


def wait_all(futures: list[Any]) -> list[Any]:
    """The results of all futures, once they are there. Raises what the first of them that failed raised."""
    return [future.wait() for future in collect_all(futures).wait()]
