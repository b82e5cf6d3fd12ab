"""torch.cuda: what there is of CUDA. This version runs on the CPU alone."""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors can be on a CUDA device: never in this version."""
    return False


def device_count() -> int:
    """The number of CUDA devices that can be used."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA has been set up."""
    return False


def synchronize(device: object = None) -> None:
    """Waits for a device. Raises RuntimeError: there is none."""
    raise RuntimeError("torchjit runs on the CPU alone in this version: there is no CUDA device to wait for")
