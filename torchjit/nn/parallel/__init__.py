"""torch.nn.parallel: modules that share work between devices, of which there is one."""

from __future__ import annotations

from typing import Any

from torchjit._submodules import provide as _provide
from torchjit.nn.modules.module import Module
from torchjit.nn.parallel import comm as comm
from torchjit.nn.parallel.data_parallel import DataParallel as DataParallel
from torchjit.nn.parallel.data_parallel import data_parallel as data_parallel
from torchjit.nn.parallel.parallel_apply import parallel_apply as parallel_apply
from torchjit.nn.parallel.replicate import replicate as replicate
from torchjit.nn.parallel.scatter_gather import gather as gather
from torchjit.nn.parallel.scatter_gather import scatter as scatter

# ruff: noqa: A002

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


class DistributedDataParallel(Module):
    """Raises RuntimeError: there are no groups of processes in this version."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torchjit has no groups of processes: DistributedDataParallel is not there in this version")


_provide(__name__, {"distributed": "DistributedDataParallel"})
