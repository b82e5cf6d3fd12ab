"""torch.cuda: tensors on NVIDIA's GPUs. Where no driver is found, is_available() is False, and what needs a device raises AssertionError."""

from __future__ import annotations

import functools
import secrets
import struct
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from torchjit import _lazy, _native
from torchjit._submodules import provide as _provide
from torchjit.cuda import amp as amp
from torchjit.cuda import jiterator as jiterator

default_generators: tuple[Any, ...] = ()
has_magma = False
has_half = False


def is_available() -> bool:
    """Whether tensors can be on a CUDA device."""
    return _native.cuda_device_count() > 0


def device_count() -> int:
    """The number of CUDA devices that can be used."""
    return _native.cuda_device_count()


def init() -> None:
    """Looks for the devices. Raises AssertionError where there are none, with a note of what was looked for."""
    _native.cuda_check()


_lazy_init = init


def is_initialized() -> bool:
    """Whether there are devices, which are set up when they are looked for."""
    return is_available()


def _number(device: Any = None) -> int:
    """The number of a device: a number, a name, a device, or None for the current one."""
    from torchjit._tensor import _cuda_device

    if isinstance(device, int):
        _native.cuda_check()
        return device
    index = _cuda_device(device).index
    return _native.cuda_current_device() if index is None else index


def current_device() -> int:
    """The number of the device that is meant where none is given."""
    return _native.cuda_current_device()


def set_device(device: Any) -> None:
    """Changes which device is meant where none is given. Negative numbers change nothing."""
    number = _number(device)
    if number >= 0:
        _native.cuda_set_device(number)


def synchronize(device: Any = None) -> None:
    """Waits until a device has done what it was given."""
    _native.cuda_synchronize(_number(device))


def get_device_name(device: Any = None) -> str:
    """What NVIDIA calls a device."""
    return _native.cuda_device_name(_number(device))


class _DeviceProperties(NamedTuple):
    """What get_device_properties gives."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    total_memory: int


def get_device_properties(device: Any = None) -> _DeviceProperties:
    """Name, capability, multiprocessors and memory of a device."""
    number = _number(device)
    return _DeviceProperties(_native.cuda_device_name(number), *_native.cuda_device_properties(number))


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Major and minor number of what a device can do."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported() -> bool:
    """Whether the current device computes with bfloat16, which all do: elements are computed as float32."""
    return is_available()


def get_arch_list() -> list[str]:
    """The architectures that this build has code for: none, kernels are compiled for the device that is there."""
    return []


# Memory.


def empty_cache() -> None:
    """Gives the memory that no tensor uses, and that is kept for the next, back to the devices."""
    _native.cuda_empty_cache()


def _memory(device: Any, which: int) -> int:
    return _native.cuda_memory(_number(device))[which] if is_available() else 0


def memory_allocated(device: Any = None) -> int:
    """The bytes of tensors on a device."""
    return _memory(device, 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of tensors that there were on a device."""
    return _memory(device, 1)


def memory_reserved(device: Any = None) -> int:
    """The bytes of tensors on a device, and of what is kept for the next."""
    return _memory(device, 2)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes of a device that were reserved."""
    return _memory(device, 3)


def memory_stats(device: Any = None) -> dict[str, Any]:
    """What a device's memory is used for, in bytes, and what the device was given to do: kernels, graphs of them, copies, and allocations that the
    driver was asked for."""
    if not is_available():
        return {}
    number = _number(device)
    used, most, reserved, most_reserved = _native.cuda_memory(number)
    launches, graph_launches, uploads, downloads, copies, allocations = _native.cuda_counts(number)
    return {
        "allocated_bytes.all.current": used, "allocated_bytes.all.peak": most, "reserved_bytes.all.current": reserved, "reserved_bytes.all.peak": most_reserved,
        "num_device_alloc": allocations, "launches": launches, "graph_launches": graph_launches, "copies.host_to_device": uploads, "copies.device_to_host": downloads, "copies.device_to_device": copies,
    }  # fmt: skip


memory_cached: Callable[..., int] = memory_reserved
max_memory_cached: Callable[..., int] = max_memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Has the most that is used of a device count from now on."""
    _native.cuda_reset_peak(_number(device))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes that a device has left, and those it has."""
    free, total = _native.cuda_memory_info(_number(device))
    return free, total


def ipc_collect() -> None:
    """Gives back memory that other processes shared, of which there is none."""


# Random numbers: each device draws its own, from a stream that torch.manual_seed begins anew.


def manual_seed(seed: int) -> None:
    """Has the current device's stream of random numbers begin anew. Does nothing where there is no device."""
    from torchjit._types import _seed

    if is_available():
        _native.cuda_manual_seed(current_device(), _seed(seed))


def manual_seed_all(seed: int) -> None:
    """Has the streams of random numbers of all devices begin anew."""
    from torchjit._types import _seed

    for i in range(device_count()):
        _native.cuda_manual_seed(i, _seed(seed))


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of a device's stream of random numbers: 16 bytes, its seed and how many numbers each thread has drawn."""
    from torchjit import frombuffer, uint8

    state = _native.cuda_rng_state(_number(device))
    return frombuffer(bytearray(struct.pack("=2q", *state)), dtype=uint8).clone()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Has a device's stream of random numbers go on from a state that get_rng_state gave."""
    data = bytes(new_state.tolist())
    if len(data) != 16:
        raise RuntimeError(f"RNG state is wrong size: expected 16 bytes, got {len(data)}")
    _native.cuda_set_rng_state(_number(device), *struct.unpack("=2q", data))


def get_rng_state_all() -> list[Any]:
    """The states of the streams of random numbers of all devices."""
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Has the streams of random numbers of all devices go on from states."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def initial_seed() -> int:
    """The seed of the current device's stream of random numbers."""
    return _native.cuda_rng_state(-1)[0] % (1 << 64)


def seed() -> None:
    """Has the current device's stream of random numbers begin anew with a seed that nobody knows."""
    if is_available():
        manual_seed(secrets.randbits(63))


def seed_all() -> None:
    """Has the streams of all devices begin anew with one seed that nobody knows."""
    manual_seed_all(secrets.randbits(63))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        _native.cuda_check()
        raise NotImplementedError(f"torch.cuda.{name} is not implemented")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises AssertionError where there is no CUDA device, else NotImplementedError."
    return refuse


memory_summary: Callable[..., NoReturn] = _refusing("memory_summary")


class device:
    """A context in which a device is the current one. None and negative numbers change nothing. Raises AssertionError where there is no device."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or (isinstance(device, int) and device < 0) else None
        self._device = device

    def __enter__(self) -> None:
        if self.idx is None:
            self.idx = _number(self._device)
        self._before = -1
        if self.idx >= 0:
            self._before = current_device()
            set_device(self.idx)

    def __exit__(self, *exception: Any) -> None:
        if self._before >= 0:
            set_device(self._before)


from torchjit.cuda.graphs import CUDAGraph as CUDAGraph  # noqa: E402
from torchjit.cuda.graphs import graph as graph  # noqa: E402
from torchjit.cuda.graphs import graph_pool_handle as graph_pool_handle  # noqa: E402
from torchjit.cuda.graphs import is_current_stream_capturing as is_current_stream_capturing  # noqa: E402
from torchjit.cuda.graphs import make_graphed_callables as make_graphed_callables  # noqa: E402
from torchjit.cuda.streams import Event as Event  # noqa: E402
from torchjit.cuda.streams import ExternalStream as ExternalStream  # noqa: E402
from torchjit.cuda.streams import Stream as Stream  # noqa: E402
from torchjit.cuda.streams import StreamContext as StreamContext  # noqa: E402
from torchjit.cuda.streams import current_stream as current_stream  # noqa: E402
from torchjit.cuda.streams import default_stream as default_stream  # noqa: E402
from torchjit.cuda.streams import set_stream as set_stream  # noqa: E402
from torchjit.cuda.streams import stream as stream  # noqa: E402


class OutOfMemoryError(RuntimeError):
    """A device has no memory left."""


# What asks for CUDA's own streams, graphs, pools and counters: where there is no device it says so, as in PyTorch.
_OF_DEVICES = frozenset((
    "CUDAGraph", "ExternalStream", "caching_allocator_alloc", "caching_allocator_delete", "can_device_access_peer", "cudart", "current_blas_handle",
    "get_sync_debug_mode", "graph_pool_handle", "is_current_stream_capturing", "list_gpu_processes", "make_graphed_callables",
    "memory_snapshot", "memory_stats_as_nested_dict", "memory_usage", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "set_per_process_memory_fraction", "set_sync_debug_mode", "utilization",
))  # fmt: skip
_TYPES = frozenset(kind + "Tensor" for kind in ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"))

_STORAGES = [kind.removesuffix("Tensor") + "Storage" for kind in _TYPES] + ["ComplexDoubleStorage", "ComplexFloatStorage"]


class device_of(device):  # noqa: N801
    """A context whose current device is that of a tensor; it changes nothing for tensors on the CPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class CudaError(RuntimeError):
    """What a call of CUDA's runtime fails with."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error {code}")


def _tensor_type(name: str) -> Any:
    from torchjit.storage import device_tensor_type

    return device_tensor_type(name)


def _storage_type(name: str) -> Any:
    from torchjit.storage import device_storage_type

    return device_storage_type(name)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(
    __name__,
    _lazy.modules(__name__, "comm nvtx"),
    {
        **{name: functools.partial(_refusing, name) for name in _OF_DEVICES},
        **{name: functools.partial(_tensor_type, name) for name in _TYPES},
        **{name: functools.partial(_storage_type, name) for name in _STORAGES},
    },
)


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved
_MODULES = {
    "memory": (
        "caching_allocator_alloc caching_allocator_delete empty_cache list_gpu_processes max_memory_allocated max_memory_cached max_memory_reserved mem_get_info "
        "memory_allocated memory_cached memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary "
        "reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats set_per_process_memory_fraction"
    ),
    "random": "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all",
    "streams": "Event ExternalStream Stream",
    "graphs": "CUDAGraph graph_pool_handle is_current_stream_capturing make_graphed_callables",
    "sparse": " ".join(sorted(kind for kind in _TYPES if kind != "BoolTensor")),
}
_provide(__name__, _MODULES)
