"""torch.autograd.profiler: where the time of a program goes."""

from __future__ import annotations

import functools
from typing import Any, Optional

import torchjit as torch
from torchjit import _lazy, _native
from torchjit.autograd.profiler_util import EventList as EventList
from torchjit.autograd.profiler_util import FunctionEvent as FunctionEvent
from torchjit.nn.modules.module import Module

# ruff: noqa: UP045


_call = Module.__call__
_timed_call = _native.timed_module_call(_call)


def _call_name(called: Any) -> str:
    """The name of the event of a call, or of what is named already."""
    if isinstance(called, str):
        return called
    if isinstance(called, Module):
        return "nn.Module: " + str(getattr(called, "original_name", None) or type(called).__name__)
    return str(called.name)


class profile:  # noqa: N801
    """A context that measures what a program does with tensors: operators, calls of modules and compiled functions, and what record_function names.

    In compiled code there are events for kernels of several operators (`fused_mul_add`), for regions that run by a plan (`plan`) and the plan's steps
    (`conv2d+relu`), for loops that are machine code (`native loop`), and in a backward for the nodes of the graph of gradients. An event's time is that
    between its beginning and its end; what is not in events within it is its self time: of a call (`nn.Module: Linear`, `forward`) the conversion of
    arguments and results, Python's own time and the interpreter's. So the self times of all events of a thread add up to the time between the beginnings
    and ends of the outermost ones. record_shapes: events of operators
    have the shapes of their arguments. What GPUs do, stacks and memory are not recorded.
    """

    running = 0  # how many are being made

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, record_shapes: bool = False, with_flops: bool = False,
        profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True,
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.function_events: EventList | None = None
        self.entered = False

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        profile.running += 1
        _native.profiler_begin(self.record_shapes)
        Module.__call__ = _timed_call  # type: ignore[method-assign]
        _native.profiler_begin_calls()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if not self.enabled:
            return
        profile.running -= 1
        calls = _native.profiler_end_calls()
        Module.__call__ = _call  # type: ignore[method-assign]
        found = _native.profiler_end() + [(_call_name(called), thread, start, end, []) for called, thread, start, end in calls]
        found.sort(key=lambda event: (event[2], -event[3]))
        began = min((start for _, _, start, *_ in found), default=0)
        self.function_events = EventList(
            FunctionEvent(i, name, thread, (start - began) / 1000, (end - began) / 1000, shapes)
            for i, (name, thread, start, end, shapes) in enumerate(found)
        ).nest()

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        return self._events().table(sort_by, row_limit, **options)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The averages of the events of each name."""
        return self._events().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> Any:
        return self._events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time in all operators, in microseconds."""
        return self._events().self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events to a file that chrome://tracing shows."""
        self._events().export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)

    __repr__ = __str__


@torch.jit.ignore
def _push(name: str) -> None:
    _native.profiler_push(name)


@torch.jit.ignore
def _pop() -> None:
    _native.profiler_pop()


class record_function:  # noqa: N801
    """A context, or a decorator, that gives a part of a program a name, in compiled functions and traces too.

    >>> with torch.profiler.profile() as p, torch.profiler.record_function("mine"):
    ...     y = torch.ones(3).relu()
    >>> any(e.key == "mine" for e in p.key_averages())
    True
    """

    def __init__(self, name: str, args: Optional[str] = None):
        self.name: str = name
        self.args: Optional[str] = args
        self.run_callbacks_on_exit: bool = True
        self.handle: torch.Tensor = torch.zeros(1)

    def __enter__(self) -> record_function:
        if torch.jit.is_scripting() or torch.jit.is_tracing():
            self.handle = torch.ops.profiler._record_function_enter(self.name, self.args)
        else:
            _push(self.name)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if torch.jit.is_scripting() or torch.jit.is_tracing():
            torch.ops.profiler._record_function_exit(self.handle)
        else:
            _pop()

    @torch.jit.unused
    def __call__(self, fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            with record_function(self.name, self.args):
                return fn(*args, **kwargs)

        return wrapper


class emit_nvtx:  # noqa: N801
    """A context that does nothing: there are no tools of NVIDIA to tell."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


class emit_itt(emit_nvtx):  # noqa: N801
    """A context that does nothing: there are no tools of Intel to tell."""


class EnforceUnique:
    """Raises an error where a key is seen twice."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


def kineto_step() -> None:
    """Kept for old programs; does nothing."""


def kineto_available() -> bool:
    """Whether events of GPUs can be recorded: no."""
    return False


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._C._autograd": "DeviceType _supported_activities",
    "torchjit._C._profiler": "ProfilerActivity ProfilerState",
    "torchjit.futures": "Future",
})  # fmt: skip
