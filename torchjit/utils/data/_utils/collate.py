"""From examples to batches."""

from __future__ import annotations

import collections.abc
from typing import Any

import torchjit as torch


def default_convert(data: Any) -> Any:
    """Arrays become tensors, within containers too; the rest stays."""
    if isinstance(data, torch.Tensor):
        return data
    if type(data).__module__ == "numpy" and hasattr(data, "dtype"):
        return torch.as_tensor(data) if data.dtype.kind not in "SUO" else data
    return _mapped(data, default_convert)


def _mapped(data: Any, f: Any) -> Any:
    kind: Any = type(data)
    if isinstance(data, collections.abc.Mapping):
        return kind({k: f(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(f(v) for v in data))
    if isinstance(data, (list, tuple)):
        return [f(v) for v in data]
    return data


def default_collate(batch: Any) -> Any:
    """One batch of a list of examples: tensors and numbers are stacked, containers are batched item by item."""
    first = batch[0]
    kind: Any = type(first)
    if isinstance(first, torch.Tensor):
        return torch.stack(batch, 0)
    if type(first).__module__ == "numpy" and hasattr(first, "dtype"):
        if first.dtype.kind in "SUO":
            raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {first.dtype}")
        return torch.stack([torch.as_tensor(x) for x in batch], 0)
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        made = {k: default_collate([x[k] for x in batch]) for k in first}
        return kind(made)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(column) for column in zip(*batch)]
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")
