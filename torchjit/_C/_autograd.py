"""torch._C._autograd: the profiler's questions, and hooks on what is saved for gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._C._profiler import ProfilerActivity, _Number
from torchjit.autograd.graph import saved_tensors_hooks
from torchjit.autograd.profiler import kineto_available as kineto_available
from torchjit.autograd.profiler import profile


class DeviceType(_Number):
    """The kinds of devices."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    ORT = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18


def _supported_activities() -> set[ProfilerActivity]:
    """What can be measured here: the CPU."""
    return {ProfilerActivity.CPU}


def _profiler_enabled() -> bool:
    """Whether a profile is being made."""
    return profile.running > 0


def _push_saved_tensors_default_hooks(pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
    """Has saved tensors go through hooks until they are popped. See torch.autograd.graph.saved_tensors_hooks."""
    saved_tensors_hooks(pack_hook, unpack_hook).__enter__()


def _pop_saved_tensors_default_hooks() -> None:
    """Takes the last hooks away."""
    _native.pop_saved_hooks()


class SavedTensor:
    """A tensor as it is saved for gradients. Nobody makes one."""

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    _node: Any
    _name: str

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keeps what pack_hook makes of the tensor; unpack_hook makes the tensor of that when it is needed."""
        hooks = saved_tensors_hooks(pack_hook, unpack_hook)
        if not _native.grad_node_pack(self._node, self._name, hooks._pack, hooks._unpack):
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
