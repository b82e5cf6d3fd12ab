"""Copies batches to pinned memory, which devices copy from while the processor goes on."""

from __future__ import annotations

import collections.abc
import queue
from typing import Any

import torchjit as torch
from torchjit._utils import ExceptionWrapper
from torchjit.utils.data._utils import MP_STATUS_CHECK_INTERVAL

string_classes = (str, bytes)


def _pin_memory_loop(in_queue: Any, out_queue: Any, device_id: Any, done_event: Any, device: Any) -> None:
    """Pins the batches of one queue for another until an event is set."""
    while not done_event.is_set():
        try:
            number, data = in_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Empty:
            continue
        if not isinstance(data, ExceptionWrapper):
            try:
                data = pin_memory(data, device)
            except Exception:
                data = ExceptionWrapper(where=f"in pin memory thread for device {device_id}")
        while not done_event.is_set():
            try:
                out_queue.put((number, data), timeout=MP_STATUS_CHECK_INTERVAL)
                break
            except queue.Full:
                continue


def pin_memory(data: Any, device: Any = None) -> Any:
    """The tensors of a batch, within containers too, in pinned memory; objects with a method of this name are asked. Strings stay."""
    if isinstance(data, torch.Tensor):
        pinned: Any = data
        return pinned.pin_memory(device)
    if isinstance(data, string_classes):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _remade(type(data), {k: pin_memory(v, device) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(v, device) for v in data))
    if isinstance(data, tuple):
        return [pin_memory(v, device) for v in data]
    if isinstance(data, collections.abc.Sequence):
        return _remade(type(data), [pin_memory(v, device) for v in data])
    return data.pin_memory() if hasattr(data, "pin_memory") else data


def _remade(kind: Any, items: Any) -> Any:
    """Items as a container of a class, where its constructor takes them."""
    try:
        return kind(items)
    except TypeError:
        return items
