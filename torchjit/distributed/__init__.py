"""torch.distributed: there is none. Programs that ask find out."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """Whether processes can work together: no."""
    return False


def is_initialized() -> bool:
    """Whether a group of processes has been made: no."""
    return False


def is_mpi_available() -> bool:
    """Whether there is MPI: no."""
    return False


def is_nccl_available() -> bool:
    """Whether there is NCCL: no."""
    return False


def is_gloo_available() -> bool:
    """Whether there is Gloo: no."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchelastic has started this process, as its environment says."""
    import os

    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"module 'torch.distributed' has no attribute '{name}': this version of torchjit works in one process (torch.distributed.is_available() is False)")
