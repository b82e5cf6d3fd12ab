"""torch.profiler: where the time of a program goes, step by step."""

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
