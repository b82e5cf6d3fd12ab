"""torch.backends.mkl: Intel's library of linear algebra, which is not here."""

from __future__ import annotations


def is_available() -> bool:
    """Whether MKL computes: it does not."""
    return False
