"""torch.cuda: what there is of CUDA. This version runs on the CPU alone: what needs a device raises AssertionError."""

from __future__ import annotations

from typing import Any

from torchjit._advice import advised
from torchjit.cuda import amp as amp
from torchjit.cuda import jiterator as jiterator

default_generators: tuple[Any, ...] = ()
has_magma = False
has_half = False


def is_available() -> bool:
    """Whether tensors can be on a CUDA device: never in this version."""
    return False


def device_count() -> int:
    """The number of CUDA devices that can be used."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA has been set up."""
    return False


def is_bf16_supported() -> bool:
    """Whether a device computes with bfloat16: there is none."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that this build has code for: none."""
    return []


def empty_cache() -> None:
    """Gives back the memory of devices, of which there are none."""


def ipc_collect() -> None:
    """Gives back memory that other processes shared, of which there is none."""


def manual_seed(seed: int) -> None:
    """Seeds the device, of which there is none."""


manual_seed_all = manual_seed


def get_rng_state_all() -> list[Any]:
    """The states of the devices' random streams: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Sets the random streams of devices, of which there are none."""


def memory_allocated(device: Any = None) -> int:
    """The bytes of tensors on devices: none."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated


def _lazy_init() -> None:
    raise advised(AssertionError("Torch not compiled with CUDA enabled"))


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        _lazy_init()

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises AssertionError: there is no CUDA device."
    return refuse


init = _refusing("init")
current_device, set_device, synchronize = _refusing("current_device"), _refusing("set_device"), _refusing("synchronize")
current_stream, default_stream, set_stream = _refusing("current_stream"), _refusing("default_stream"), _refusing("set_stream")
get_device_name, get_device_properties = _refusing("get_device_name"), _refusing("get_device_properties")
get_device_capability, mem_get_info = _refusing("get_device_capability"), _refusing("mem_get_info")
get_rng_state, set_rng_state, seed, initial_seed = (_refusing(n) for n in ("get_rng_state", "set_rng_state", "seed", "initial_seed"))
reset_peak_memory_stats, memory_summary = _refusing("reset_peak_memory_stats"), _refusing("memory_summary")


class device:
    """A context in which a device is the current one. None and negative numbers change nothing, others raise AssertionError."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or (isinstance(device, int) and device < 0) else 0

    def __enter__(self) -> None:
        if self.idx >= 0:
            _lazy_init()

    def __exit__(self, *exception: Any) -> None:
        pass


class Stream:
    """A queue of work of a device. Raises AssertionError: there is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _lazy_init()


class Event(Stream):
    """A mark in a queue of work of a device. Raises AssertionError: there is none."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left."""
