"""Modules that share their batch between devices, of which there is one."""

from __future__ import annotations

from typing import Any

from torchjit.nn.modules.module import Module
from torchjit.nn.parallel.parallel_apply import parallel_apply
from torchjit.nn.parallel.replicate import replicate
from torchjit.nn.parallel.scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls its module. PyTorch splits the batch between GPUs; here there is the CPU alone.

    >>> m = nn.DataParallel(nn.Linear(3, 5))
    >>> m(torch.rand(2, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    def replicate(self, module: Module, device_ids: Any) -> list[Module]:
        """torch.nn.parallel.replicate."""
        return replicate(module, device_ids)

    def scatter(self, inputs: Any, kwargs: Any, device_ids: Any) -> Any:
        """torch.nn.parallel.scatter_gather.scatter_kwargs."""
        return scatter_kwargs(inputs, kwargs, device_ids)

    def parallel_apply(self, replicas: Any, inputs: Any, kwargs: Any) -> list[Any]:
        """torch.nn.parallel.parallel_apply."""
        return parallel_apply(replicas, inputs, kwargs)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """torch.nn.parallel.gather."""
        return gather(outputs, output_device)


def data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None) -> Any:
    """module(*inputs, **module_kwargs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
