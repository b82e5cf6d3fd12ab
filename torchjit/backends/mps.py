"""torch.backends.mps: Apple's graphics processors, which are not used."""

from __future__ import annotations


def is_available() -> bool:
    """Whether the processor can be used: never in this version."""
    return False


def is_built() -> bool:
    """Whether this build knows the processor: it does not."""
    return False
