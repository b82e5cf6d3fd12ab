"""torch.cuda.amp.common: whether there is a device for mixed precision."""

from __future__ import annotations

from torchjit import _native

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device."""
    return not _native.cuda_device_count()
