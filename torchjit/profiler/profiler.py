"""The profiler with steps and schedules, over torch.autograd.profiler."""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from torchjit._C._profiler import ProfilerActivity as ProfilerActivity
from torchjit.autograd import profiler as _profiler
from torchjit.autograd.profiler import record_function as record_function


class ProfilerAction(enum.Enum):
    """What the profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured here: the CPU.

    >>> torch.profiler.ProfilerActivity.CPU in torch.profiler.supported_activities()
    True
    """
    return {ProfilerActivity.CPU}


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0) -> Callable[[int], ProfilerAction]:
    """The action of each step: after skip_first steps, cycles of wait, warmup and active steps, repeat times (0: always).

    >>> steps = torch.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [steps(i).name for i in range(4)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        assert step >= 0
        step -= skip_first
        if step < 0 or repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Callable[[profile], None]:
    """An on_trace_ready that writes each trace into a folder, as `WORKER.TIME.pt.trace.json`."""

    def write(finished: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        finished.export_chrome_trace(os.path.join(dir_name, f"{name}.{int(time.time() * 1000)}.pt.trace.json" + (".gz" if use_gzip else "")))

    return write


class profile:  # noqa: N801
    """Measures the operators that run in the context: all of it, or the steps that a schedule chooses.

    `on_trace_ready(self)` is called at the end of each part that was recorded. Shapes, stacks, memory and GPUs are not recorded.
    Raises AssertionError where no activity is given.

    >>> with torch.profiler.profile() as p:
    ...     y = torch.ones(3).relu()
    >>> any(e.key == "aten::relu" for e in p.key_averages())
    True
    """

    def __init__(
        self, *, activities: Iterable[ProfilerActivity] | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
        with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None, use_cuda: bool | None = None,
    ) -> None:  # fmt: skip
        self.activities: set[ProfilerActivity] = set(activities) if activities is not None else supported_activities()
        assert self.activities, "No valid profiler activities found"
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action: ProfilerAction = schedule(0) if schedule else ProfilerAction.RECORD_AND_SAVE
        self.profiler: _profiler.profile | None = None
        self._recording = False

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begins, as entering the context does."""
        self._go_on()

    def stop(self) -> None:
        """Ends, as leaving the context does."""
        self._finish()

    def step(self) -> None:
        """The end of a step of the program."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num) if self.schedule else before
        if before is ProfilerAction.RECORD_AND_SAVE and self.schedule:
            self._finish()
        self._go_on()

    def _go_on(self) -> None:
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE) and not self._recording:
            self.profiler = _profiler.profile(record_shapes=self.record_shapes)
            self.profiler.__enter__()
            self._recording = True

    def _finish(self) -> None:
        if not self._recording or self.profiler is None:
            return
        self._recording = False
        self.profiler.__exit__(None, None, None)
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def _recorded(self) -> _profiler.profile:
        assert self.profiler is not None, "nothing has been recorded"
        return self.profiler

    def events(self) -> Any:
        """The events of the last part that was recorded."""
        return self._recorded().function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> Any:
        """The averages of the events of each name."""
        return self._recorded().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events as JSON that Chrome's tracing shows; compressed where the path ends with .gz."""
        if not path.endswith(".gz"):
            self._recorded().export_chrome_trace(path)
            return
        import gzip

        plain = path.removesuffix(".gz")
        self._recorded().export_chrome_trace(plain)
        with open(plain, "rb") as f, gzip.open(path, "wb") as packed:
            packed.write(f.read())
        os.remove(plain)

    def add_metadata(self, key: str, value: str) -> None:
        """Has no place in these traces."""

    def add_metadata_json(self, key: str, value: str) -> None:
        """Has no place in these traces."""
