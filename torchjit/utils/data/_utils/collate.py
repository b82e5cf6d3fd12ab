"""From examples to batches."""

from __future__ import annotations

import collections.abc
import re
from collections.abc import Callable
from typing import Any

import torchjit as torch

# Kinds of arrays whose elements are no numbers.
np_str_obj_array_pattern = re.compile("[SaUO]")
default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
FunctionMap = dict[Any, Callable[..., Any]] | None


def default_convert(data: Any) -> Any:
    """Arrays become tensors, within containers too; the rest stays.

    >>> torch.utils.data.default_convert({"x": [1.0, "text"]})
    {'x': [1.0, 'text']}
    """
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


def collate(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """One batch of a list of examples. Containers are batched item by item.

    collate_fn_map: functions by classes, f(batch, collate_fn_map=collate_fn_map), which make one value of a list of examples of the class. The
    class itself is looked for first, then those that an example is an instance of, in the map's order. Raises TypeError for examples that are
    neither in the map nor containers.
    """
    first = batch[0]
    kind: Any = type(first)
    for key, f in (collate_fn_map or {}).items():
        if kind is key or (isinstance(key, tuple) and kind in key):
            return f(batch, collate_fn_map=collate_fn_map)
    for key, f in (collate_fn_map or {}).items():
        if isinstance(first, key):
            return f(batch, collate_fn_map=collate_fn_map)

    def one(examples: Any) -> Any:
        return collate(examples, collate_fn_map=collate_fn_map)

    if isinstance(first, collections.abc.Mapping):
        return _made(kind, {k: one([x[k] for x in batch]) for k in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(one(column) for column in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [one(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _made(kind, columns)
    raise TypeError(default_collate_err_msg_format.format(kind))


def _made(kind: Any, items: Any) -> Any:
    """Items as a container of a class, where its constructor takes them."""
    try:
        return kind(items)
    except TypeError:
        return items


def collate_tensor_fn(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """Tensors of one shape, stacked."""
    return torch.stack(batch, 0)


class _NumPy(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return type(value).__module__ == "numpy" and hasattr(value, "dtype")


class _ArrayOrScalar(metaclass=_NumPy):
    """What NumPy's arrays and scalars are instances of, whether or not NumPy has been imported."""


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """Arrays of one shape, or NumPy's scalars, stacked. Raises TypeError for strings and objects."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str) is not None:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return torch.stack([torch.as_tensor(x) for x in batch], 0)


collate_numpy_scalar_fn = collate_numpy_array_fn


def collate_float_fn(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """A tensor of floats in float64."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """A tensor of ints or bools."""
    return torch.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: FunctionMap = None) -> Any:
    """Strings stay a list."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    torch.Tensor: collate_tensor_fn,
    _ArrayOrScalar: collate_numpy_array_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    (str, bytes): collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """One batch of a list of examples: tensors, arrays and numbers are stacked, strings listed, containers batched item by item.

    >>> torch.utils.data.default_collate([{"x": 1, "y": torch.ones(2)}, {"x": 2, "y": torch.zeros(2)}])
    {'x': tensor([1, 2]), 'y': tensor([[1., 1.],
            [0., 0.]])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
