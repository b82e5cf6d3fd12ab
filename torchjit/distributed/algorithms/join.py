"""torch.distributed.algorithms.join: names that libraries import. Nothing here works without groups of processes, of which there are none."""

from __future__ import annotations

from typing import Any


class Joinable:
    """What takes part in a Join: nothing, in one process."""


class JoinHook:
    """What a Join calls: nothing, in one process."""


class Join:
    """Raises RuntimeError: there are no groups of processes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torchjit works in one process: torch.distributed.algorithms.join.Join needs groups of processes")
