"""Arguments and results of modules that share work between devices, of which there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchjit as torch

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _one_device(function: str, devices: Sequence[Any], values: Any) -> None:
    if _holds_tensors(values):
        raise RuntimeError(f"{function}: tensors cannot move to the devices {list(devices)}: torchjit has the CPU alone")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """One copy of the inputs for each device. Raises RuntimeError for tensors: there are no other devices to share them between."""
    _one_device("scatter", target_gpus, inputs)
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Sequence[Any], dim: int = 0) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """scatter of arguments and of keyword arguments, which may be None."""
    return tuple(scatter(inputs or (), target_gpus, dim)), tuple(scatter(kwargs or {}, target_gpus, dim))


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Raises RuntimeError for tensors: there are no other devices from which they could come."""
    _one_device("gather", [target_device], outputs)
    return outputs[0]


def _holds_tensors(values: Any) -> bool:
    if isinstance(values, dict):
        return any(map(_holds_tensors, values.values()))
    if isinstance(values, (list, tuple)):
        return any(map(_holds_tensors, values))
    return isinstance(values, torch.Tensor)
