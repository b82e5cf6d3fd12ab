"""torch.monitor: events that are logged to handlers, and statistics that are logged as events in intervals.

    handle = torch.monitor.register_event_handler(print)
    with torch.monitor.Stat("loss", [torch.monitor.MEAN, torch.monitor.COUNT], timedelta(seconds=10)) as stat: ...
"""

from __future__ import annotations

import datetime
import enum
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Union

data_value_t = Union[str, float, int, bool]  # noqa: UP007
STAT_EVENT = "torch.monitor.Stat"
_lock = threading.Lock()
_handlers: list[EventHandlerHandle] = []


class Aggregation(enum.Enum):
    """What of the values of a statistic is logged."""

    VALUE = 0
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


class Event:
    """What is logged: a name, a time and data by names."""

    def __init__(self, name: str, timestamp: datetime.datetime, data: dict[str, Any]) -> None:
        for key, value in data.items():
            if not isinstance(value, (str, float, int, bool)):
                raise TypeError(f"the data of an event are texts, numbers and bools, but found {type(value).__name__} for '{key}'")
        self.name: str = name
        self.timestamp: datetime.datetime = timestamp
        self.data: dict[str, Any] = dict(data)


class EventHandlerHandle:
    """A handler that is registered."""

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self._callback = callback


def register_event_handler(callback: Callable[[Event], None]) -> EventHandlerHandle:
    """Has a function called with each event that is logged from now on."""
    handle = EventHandlerHandle(callback)
    with _lock:
        _handlers.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """The handler is called no more."""
    with _lock:
        if handler in _handlers:
            _handlers.remove(handler)


def log_event(event: Event) -> None:
    """Calls the handlers that are registered."""
    with _lock:
        handlers = list(_handlers)
    for handler in handlers:
        handler._callback(event)


class Stat:
    """Values of which aggregations are logged as an event, whenever an interval has ended, or as many values as max_samples have come.

    The data of the event are called NAME.mean, NAME.count and so on. What has come since the last event is logged when the statistic ends.
    """

    def __init__(self, name: str, aggregations: Iterable[Aggregation], window_size: datetime.timedelta, max_samples: int | None = None) -> None:
        self._name, self._aggregations, self._max_samples = name, list(aggregations), max_samples
        self._window = window_size.total_seconds()
        self._lock = threading.RLock()
        self._began = time.monotonic()
        self._values: list[float] = []

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def count(self) -> int:
        """How many values have come in this interval."""
        return len(self._values)

    def add(self, v: float) -> None:
        """Adds a value."""
        with self._lock:
            if self._window and time.monotonic() - self._began >= self._window:
                self._log()
            if self._max_samples is not None and len(self._values) >= self._max_samples and self._window:
                return
            self._values.append(float(v))
            if self._max_samples is not None and len(self._values) == self._max_samples and not self._window:
                self._log()

    def get(self) -> dict[Aggregation, float]:
        """The aggregations of the values of this interval."""
        with self._lock:
            return {kind: self._aggregate(kind) for kind in self._aggregations}

    def _aggregate(self, kind: Aggregation) -> float:
        values = self._values
        if kind is COUNT:
            return float(len(values))
        if not values:
            return 0.0
        if kind is MEAN:
            return sum(values) / len(values)
        return {VALUE: values[-1], SUM: sum(values), MAX: max(values), MIN: min(values)}[kind]

    def _log(self) -> None:
        if self._values:
            data = {f"{self._name}.{kind.name.lower()}": value for kind, value in self.get().items()}
            self._values = []
            log_event(Event(STAT_EVENT, datetime.datetime.now(), data))
        self._began = time.monotonic()

    def __enter__(self) -> Stat:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._log()

    def __del__(self) -> None:
        if getattr(self, "_values", None):
            self._log()


class TensorboardEventHandler:
    """A handler that writes the numbers of events of statistics to a writer of TensorBoard, anything with add_scalar(name, value, walltime=)."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        """Writes the numbers of an event."""
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())
