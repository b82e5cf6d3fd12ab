"""torch.nn.parallel: modules that share work between devices, of which there is one."""

from __future__ import annotations

from typing import Any

from torchjit._submodules import provide as _provide
from torchjit.nn.modules.module import Module
from torchjit.nn.parallel.scatter_gather import gather as gather
from torchjit.nn.parallel.scatter_gather import scatter as scatter

# ruff: noqa: A002

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "scatter"]


class DataParallel(Module):
    """Calls its module. PyTorch splits the batch between GPUs; here there is the CPU alone."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None) -> Any:
    """module(*inputs, **module_kwargs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


class DistributedDataParallel(Module):
    """Raises RuntimeError: there are no groups of processes in this version."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torchjit has no groups of processes: DistributedDataParallel is not there in this version")


_provide(__name__, {"distributed": "DistributedDataParallel"})
