"""torch.multiprocessing: Python's multiprocessing, with `spawn` for groups of processes that fail together.

Tensors that go to another process are copied: the sharing strategies are there by name, and change nothing. The start methods are
"spawn" and "forkserver": in a process that was forked, calls of the library raise RuntimeError.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from torchjit.multiprocessing.spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names of the sharing strategies."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Keeps the name of a strategy; raises AssertionError for another name."""
    global _strategy
    assert new_strategy in get_all_sharing_strategies()
    _strategy = new_strategy


__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies",
    "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes", *multiprocessing.__all__,
]  # fmt: skip
