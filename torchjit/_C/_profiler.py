"""torch._C._profiler: what profiles are of."""

from __future__ import annotations

import enum


class _Number(enum.Enum):
    """A member of an enumeration of C++, which is a number too."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


class ProfilerActivity(_Number):
    """What can be measured."""

    CPU = 0
    CUDA = 1


class ProfilerState(_Number):
    """How a profile is made: here always by KINETO's kind of events, none of which is a GPU's."""

    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    KINETO = 5
    KINETO_GPU_FALLBACK = 6


class RecordScope(_Number):
    """What a range of a profile is."""

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    TORCHSCRIPT_FUNCTION = 2
    KERNEL_FUNCTION_DTYPE = 3
    CUSTOM_CLASS = 4
    BUILD_FEATURE = 5
    LITE_INTERPRETER = 6
    USER_SCOPE = 7
    STATIC_RUNTIME_OP = 8
    STATIC_RUNTIME_MODEL = 9
