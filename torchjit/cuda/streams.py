"""Streams of work of a CUDA device, whose work may overlap, and marks in them."""

from __future__ import annotations

import ctypes
from typing import Any

from torchjit import _native


def _number(device: Any) -> int:
    from torchjit.cuda import _number as number

    return number(device)


class Event:
    """A mark in the work of a stream. Raises AssertionError where there is no device."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        _native.cuda_check()
        if interprocess:
            raise NotImplementedError("torch.cuda.Event: events of other processes are not implemented")
        self._timed = enable_timing
        self._blocking = blocking
        self._mark: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Marks the end of what the stream, or the current one, was given so far."""
        stream = current_stream() if stream is None else stream
        self._mark = _native.cuda_event(stream.device_index, stream.cuda_stream, self._timed, self._blocking)

    def query(self) -> bool:
        """Whether the stream has come to the mark, or there is none."""
        return self._mark is None or _native.cuda_event_done(self._mark)

    def synchronize(self) -> None:
        """Waits until the stream has come to the mark."""
        if self._mark is not None:
            _native.cuda_event_synchronize(self._mark)

    def wait(self, stream: Stream | None = None) -> None:
        """Has what the stream, or the current one, is given from now on be done behind the mark."""
        if self._mark is not None:
            stream = current_stream() if stream is None else stream
            _native.cuda_stream_wait(stream.device_index, stream.cuda_stream, self._mark)

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
    """A queue of work of a device. The work of a queue is done in order; that of two queues may overlap. There are 32 for each priority, given in turn.

    Of two streams the one with the smaller priority goes first. Raises AssertionError where there is no device.
    """

    device_index: int
    #: The driver's handle, which CUDA's libraries take.
    cuda_stream: int

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index = _number(device)
        self.cuda_stream = kwargs["stream_id"] if "stream_id" in kwargs else _native.cuda_stream(self.device_index, priority)

    @property
    def stream_id(self) -> int:
        return self.cuda_stream

    @property
    def priority(self) -> int:
        return _native.cuda_stream_priority(self.device_index, self.cuda_stream)

    @property
    def device(self) -> Any:
        from torchjit._types import device

        return device("cuda", self.device_index)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least and the greatest priority."""
        least, greatest = _native.cuda_priority_range(-1)
        return least, greatest

    def synchronize(self) -> None:
        """Waits until the stream's work is done."""
        _native.cuda_stream_synchronize(self.device_index, self.cuda_stream)

    def query(self) -> bool:
        """Whether the stream's work is done."""
        return _native.cuda_stream_done(self.device_index, self.cuda_stream)

    def record_event(self, event: Event | None = None) -> Event:
        """A mark at the end of what the stream was given so far."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Has what is given from now on be done behind the mark."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Has what is given from now on be done behind what another stream was given so far."""
        self.wait_event(stream.record_event())

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_stream)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device_index, self.cuda_stream) == (other.device_index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:{self.device_index} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that something else has made, by the driver's handle. It must outlive its use here."""

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        super().__init__(device, stream_id=stream_ptr)


def default_stream(device: Any = None) -> Stream:
    """The stream that work is given on where nothing is said."""
    number = _number(device)
    return Stream(number, stream_id=_native.cuda_default_stream(number))


def current_stream(device: Any = None) -> Stream:
    """The stream that the calling thread gives work on."""
    number = _number(device)
    return Stream(number, stream_id=_native.cuda_current_stream(number))


def set_stream(stream: Stream | None) -> None:
    """Changes which stream the calling thread gives work on, and which device is the current one."""
    if stream is not None:
        _native.cuda_set_device(stream.device_index)
        _native.cuda_set_stream(stream.device_index, stream.cuda_stream)


class StreamContext:
    """A context in which a stream is the current one, and its device the current one. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        if self.stream is not None:
            self._device, self._before = _native.cuda_current_device(), current_stream(self.stream.device_index)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *exception: Any) -> None:
        if self.stream is not None:
            set_stream(self._before)
            _native.cuda_set_device(self._device)


def stream(stream: Stream | None) -> StreamContext:
    """A context in which a stream is the current one."""
    return StreamContext(stream)
