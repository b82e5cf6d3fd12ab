"""torch.backends.openmp: threads here are those of the Go runtime."""

from __future__ import annotations


def is_available() -> bool:
    """Whether OpenMP runs the threads: it does not."""
    return False
