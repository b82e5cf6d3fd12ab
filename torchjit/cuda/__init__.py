"""torch.cuda: tensors on NVIDIA's GPUs. Where no driver is found, is_available() is False, and what needs a device raises AssertionError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from torchjit import _native
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
    """What a device's memory is used for, in bytes, and what the device was given to do: kernels, copies, and allocations that the driver was asked for."""
    if not is_available():
        return {}
    number = _number(device)
    used, most, reserved, most_reserved = _native.cuda_memory(number)
    launches, uploads, downloads, copies, allocations = _native.cuda_counts(number)
    return {
        "allocated_bytes.all.current": used, "allocated_bytes.all.peak": most, "reserved_bytes.all.current": reserved, "reserved_bytes.all.peak": most_reserved,
        "num_device_alloc": allocations, "launches": launches, "copies.host_to_device": uploads, "copies.device_to_host": downloads, "copies.device_to_device": copies,
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
    if is_available():
        _native.cuda_manual_seed(current_device(), int(seed))


def manual_seed_all(seed: int) -> None:
    """Has the streams of random numbers of all devices begin anew."""
    for i in range(device_count()):
        _native.cuda_manual_seed(i, int(seed))


def get_rng_state_all() -> list[Any]:
    """Raises NotImplementedError where there is a device: the states of its streams cannot be read."""
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Raises NotImplementedError for a state: streams of devices cannot be set."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        _native.cuda_check()
        raise NotImplementedError(f"torch.cuda.{name} is not implemented")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises AssertionError where there is no CUDA device, else NotImplementedError."
    return refuse


get_rng_state: Callable[..., NoReturn] = _refusing("get_rng_state")
set_rng_state: Callable[..., NoReturn] = _refusing("set_rng_state")
seed: Callable[..., NoReturn] = _refusing("seed")
initial_seed: Callable[..., NoReturn] = _refusing("initial_seed")
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


# Streams and events. A device does all that it is given in order, whatever stream it is given on: what a program may rely on of streams holds.


class Event:
    """A mark in what a device is given to do. Raises AssertionError where there is no device."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        _native.cuda_check()
        if interprocess:
            raise NotImplementedError("torch.cuda.Event: events of other processes are not implemented")
        self._timed = enable_timing
        self._mark: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Marks the end of what the device was given so far: that of the stream, or the current one."""
        self._mark = _native.cuda_event((stream or current_stream()).device_index)

    def query(self) -> bool:
        """Whether the device has come to the mark, or there is none."""
        return self._mark is None or _native.cuda_event_done(self._mark)

    def synchronize(self) -> None:
        """Waits until the device has come to the mark."""
        if self._mark is not None:
            _native.cuda_event_synchronize(self._mark)

    def wait(self, stream: Stream | None = None) -> None:
        """Has a stream wait for the mark, which it does in any case on one device; for another device the processor waits."""
        if self._mark is not None:
            self.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds between two marks. Raises RuntimeError unless both are recorded and were made with enable_timing=True."""
        if not self._timed or not end_event._timed:
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._mark is None or end_event._mark is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        end_event.synchronize()
        return _native.cuda_event_elapsed(self._mark, end_event._mark)

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._mark is None else "<torch.cuda.Event recorded>"


class Stream:
    """A queue of work of a device, which does the work of all its queues in the order in which it is given. Raises AssertionError where there is no device."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index: int = _number(device)
        self.priority = priority

    @property
    def device(self) -> Any:
        from torchjit._types import device

        return device("cuda", self.device_index)

    def synchronize(self) -> None:
        """Waits until the device has done what it was given."""
        synchronize(self.device_index)

    def query(self) -> bool:
        """Whether the device has done what it was given."""
        return self.record_event().query()

    def record_event(self, event: Event | None = None) -> Event:
        """A mark at the end of what the device was given so far."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Has what is given from now on be done behind the mark."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Has what is given from now on be done behind the work of another stream."""
        if stream.device_index != self.device_index:
            stream.synchronize()

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Stream) and self._is_default and other._is_default and self.device_index == other.device_index

    def __hash__(self) -> int:
        return hash(("torch.cuda.Stream", self.device_index)) if self._is_default else id(self)

    _is_default = False

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:{self.device_index}>"


_streams: dict[int, Stream] = {}


def default_stream(device: Any = None) -> Stream:
    """The stream that work is given on where nothing is said."""
    made = Stream(device)
    made._is_default = True
    return made


def current_stream(device: Any = None) -> Stream:
    """The stream that work is given on."""
    return _streams.get(_number(device)) or default_stream(device)


def set_stream(stream: Stream | None) -> None:
    """Changes which stream work is given on."""
    if stream is not None:
        _streams[stream.device_index] = stream
        set_device(stream.device_index)


class StreamContext:
    """A context in which a stream is the current one, and its device the current one. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        if self.stream is not None:
            self._device, self._before = current_device(), current_stream(self.stream.device_index)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *exception: Any) -> None:
        if self.stream is not None:
            set_stream(self._before)
            set_device(self._device)


def stream(stream: Stream | None) -> StreamContext:
    """A context in which a stream is the current one."""
    return StreamContext(stream)


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


def seed_all() -> None:
    """Seeds the generators of all devices with a random number: the one generator of this library."""
    from torchjit import random

    random.seed()


class device_of(device):  # noqa: N801
    """A context whose current device is that of a tensor; it changes nothing for tensors on the CPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class CudaError(RuntimeError):
    """What a call of CUDA's runtime fails with."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error {code}")


def __getattr__(name: str) -> Any:
    if name in ("comm", "nvtx"):
        import importlib

        return importlib.import_module("torchjit.cuda." + name)
    if name in _OF_DEVICES:
        return _refusing(name)
    if name in _TYPES:
        from torchjit.storage import device_tensor_type

        return device_tensor_type(name)
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")


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
