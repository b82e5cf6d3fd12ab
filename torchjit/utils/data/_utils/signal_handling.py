"""Notices at once that a worker process has died, by the signal that its end sends, instead of waiting for its batches."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

IS_WINDOWS = os.name == "nt"

_SIGCHLD_handler_set = False
_pids: dict[int, tuple[int, ...]] = {}  # the worker processes of a loader's pass, by its id


def _set_worker_pids(key: int, child_pids: tuple[int, ...]) -> None:
    """Watches the processes of a pass from now on."""
    if key in _pids:
        raise ValueError("_set_worker_pids should be called only once for each _BaseDataLoaderIter.")
    _pids[key] = tuple(child_pids)


def _remove_worker_pids(key: int) -> None:
    """Ends the watch."""
    if key not in _pids:
        raise ValueError(f"Cannot find worker information for _BaseDataLoaderIter with id {key}")
    del _pids[key]


def _error_if_any_worker_fails() -> None:
    """Raises RuntimeError where a process that is watched was ended by a signal or with an error."""
    if not hasattr(os, "waitid"):
        return
    for key, pids in list(_pids.items()):
        for pid in pids:
            try:
                ended: Any = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                continue
            if ended is None or (ended.si_code == os.CLD_EXITED and ended.si_status == 0):
                continue
            _pids[key] = ()
            if ended.si_code == os.CLD_EXITED:
                how = (
                    f"exited unexpectedly with exit code {ended.si_status}. Details are lost due to multiprocessing. "
                    "Rerunning with num_workers=0 may give better error trace."
                )
            else:
                how = f"is killed by signal: {signal.strsignal(ended.si_status)}. "
            raise RuntimeError(f"DataLoader worker (pid {pid}) {how}")


def _set_worker_signal_handlers() -> None:
    """Has a worker process end without an error when it is told to."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))


def _set_SIGCHLD_handler() -> None:  # noqa: N802
    """Raises in the main thread when a worker process dies; the handler that was there before is called after it."""
    global _SIGCHLD_handler_set
    if _SIGCHLD_handler_set or IS_WINDOWS or threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGCHLD)

    def handler(number: int, frame: Any) -> None:
        _error_if_any_worker_fails()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGCHLD, handler)
    _SIGCHLD_handler_set = True
