"""torch.distributed: there is none. Programs that ask find out."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """Whether processes can work together: no."""
    return False


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"module 'torch.distributed' has no attribute '{name}': this version of torchjit works in one process (torch.distributed.is_available() is False)")
