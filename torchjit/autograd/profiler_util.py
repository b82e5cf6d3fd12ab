"""torch.autograd.profiler_util: the events of a profile and their tables."""

from __future__ import annotations

import json
import os
from typing import Any, Protocol


class Interval:
    """When an event began and ended, in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start: float = start
        self.end: float = end

    def elapsed_us(self) -> float:
        return self.end - self.start


class _Timed(Protocol):
    """What events have."""

    @property
    def cpu_time(self) -> float: ...
    @property
    def cpu_time_total(self) -> float: ...
    @property
    def self_cpu_time_total(self) -> float: ...
    @property
    def cuda_time(self) -> float: ...
    @property
    def cuda_time_total(self) -> float: ...
    @property
    def self_cuda_time_total(self) -> float: ...


class _Texts:
    """Times of events as texts."""

    @property
    def cpu_time_str(self: _Timed) -> str:
        return _time(self.cpu_time)

    @property
    def cpu_time_total_str(self: _Timed) -> str:
        return _time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self: _Timed) -> str:
        return _time(self.self_cpu_time_total)

    @property
    def cuda_time_str(self: _Timed) -> str:
        return _time(self.cuda_time)

    @property
    def cuda_time_total_str(self: _Timed) -> str:
        return _time(self.cuda_time_total)

    @property
    def self_cuda_time_total_str(self: _Timed) -> str:
        return _time(self.self_cuda_time_total)


class FunctionEvent(_Texts):
    """One run of an operator or of a part of the program that was given a name."""

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float, input_shapes: list[list[int]] | None = None) -> None:
        self.id: int = id
        self.name: str = name
        self.thread: int = thread
        self.time_range: Interval = Interval(start_us, end_us)
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.count = 1
        self.input_shapes: list[list[int]] = input_shapes or []
        self.kernels: list[Any] = []  # of GPUs, which are not recorded, nor is the stack
        self.stack: list[str] = []

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total

    cuda_time: float = 0
    cuda_time_total: float = 0
    self_cuda_time_total: float = 0
    scope = device_index = 0
    node_id = -1
    is_async = is_remote = is_legacy = False

    def __repr__(self) -> str:
        return f"<FunctionEvent id={self.id} name={self.name} cpu_time={_time(self.cpu_time)} thread={self.thread}>"


class FunctionEventAvg(_Texts):
    """All events of one name."""

    cuda_time: float = 0
    cuda_time_total: float = 0
    self_cuda_time_total: float = 0

    def __init__(self, key: str | None = None) -> None:
        self.key: str | None = key
        self.input_shapes: list[list[int]] | None = None
        self.count: int = 0
        self.cpu_time_total: float = 0.0
        self.self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        self.key = self.key or other.key
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} self_cpu_time={_time(self.self_cpu_time_total)} cpu_time={_time(self.cpu_time)}>"


def _time(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


class EventList(list[Any]):
    """Events, or averages of them, and their table."""

    def nest(self) -> EventList:
        """Finds which event of a thread ran inside of which."""
        open_events: dict[int, list[FunctionEvent]] = {}
        for event in sorted(self, key=lambda e: (e.time_range.start, -e.time_range.end)):
            stack = open_events.setdefault(event.thread, [])
            while stack and stack[-1].time_range.end < event.time_range.end:
                stack.pop()
            if stack:
                event.cpu_parent = stack[-1]
                stack[-1].cpu_children.append(event)
            stack.append(event)
        return self

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The averages of the events of each name; group_by_input_shapes: of each name and the same shapes of arguments."""
        found: dict[tuple[str, str], FunctionEventAvg] = {}
        for event in self:
            average = found.setdefault((event.key, str(event.input_shapes) if group_by_input_shapes else ""), FunctionEventAvg(event.key))
            average.input_shapes = event.input_shapes if group_by_input_shapes else average.input_shapes
            average.add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """The average of all events."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
        max_shapes_column_width: int = 80, header: str | None = None, top_level_events_only: bool = False,
    ) -> str:
        """A line for each event, sorted by an attribute such as "self_cpu_time_total", the largest first. Longer names are cut to max_name_column_width."""
        events = [e for e in self if not top_level_events_only or getattr(e, "cpu_parent", None) is None]
        if sort_by is not None:
            events.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        whole = self.self_cpu_time_total
        shapes = any(e.input_shapes for e in self)
        rows = [("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls") + ("Input Shapes",) * shapes]
        for e in events[:row_limit]:
            own, total = e.self_cpu_time_total, e.cpu_time_total
            name = str(e.key)
            if len(name) > max_name_column_width:
                name = name[: max_name_column_width - 3] + "..."
            rows.append((name, _share(own, whole), _time(own), _share(total, whole), _time(total), _time(e.cpu_time), str(e.count)))
            if shapes:
                rows[-1] += (str(e.input_shapes)[:max_shapes_column_width],)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        rule = "  ".join("-" * w for w in widths)
        lines = [row[0].rjust(widths[0]) + "  " + "  ".join(x.rjust(w) for x, w in zip(row[1:], widths[1:])) for row in rows]
        head = [header] if header else []
        return "\n".join([*head, rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {_time(whole)}", ""])

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events to a file that chrome://tracing and Perfetto show."""
        process = os.getpid()
        names = [{"name": "process_name", "ph": "M", "pid": process, "args": {"name": "CPU functions"}}]
        names += [{"name": "thread_name", "ph": "M", "pid": process, "tid": t, "args": {"name": f"thread {t}"}} for t in sorted({e.thread for e in self})]
        events = [
            {"name": e.name, "cat": "cpu_op", "ph": "X", "ts": e.time_range.start, "dur": e.time_range.elapsed_us(), "tid": e.thread, "pid": process}
            for e in self
        ]
        with open(path, "w") as f:
            json.dump({"traceEvents": names + events, "displayTimeUnit": "ms"}, f)


_format_time = _time


def _format_time_share(time_us: float, total_time_us: float) -> str:
    """A time as a share of another one."""
    if total_time_us == 0:
        assert time_us == 0, f"Expected time_us == 0 but got {time_us}"
    return _share(time_us, total_time_us)


def _format_memory(nbytes: int) -> str:
    """A number of bytes in a unit that suits it."""
    for unit, size in (("Gb", 1 << 30), ("Mb", 1 << 20), ("Kb", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} b"


def _attr_formatter(name: str) -> property:
    return property(lambda self: _format_time(getattr(self, name)))


class FormattedTimesMixin:
    """Times of events as text; a class with it has the times, in microseconds, and how often there was an event."""

    cpu_time_str = _attr_formatter("cpu_time")
    cuda_time_str = _attr_formatter("cuda_time")
    cpu_time_total_str = _attr_formatter("cpu_time_total")
    cuda_time_total_str = _attr_formatter("cuda_time_total")
    self_cpu_time_total_str = _attr_formatter("self_cpu_time_total")
    self_cuda_time_total_str = _attr_formatter("self_cuda_time_total")

    @property
    def cpu_time(self) -> float:
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count  # type: ignore[attr-defined]

    @property
    def cuda_time(self) -> float:
        return 0.0 if self.count == 0 else self.cuda_time_total / self.count  # type: ignore[attr-defined]
