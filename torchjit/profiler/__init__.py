"""torch.profiler: where the time of a program goes, step by step."""

from torchjit import _lazy
from torchjit.profiler.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler"]


def kineto_available() -> bool:
    """Whether PyTorch's profiling library Kineto is there: no."""
    return False


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._C._autograd": "DeviceType _supported_activities",
    "torchjit._C._profiler": "RecordScope",
    "torchjit.profiler.itt": "itt=",
})  # fmt: skip
