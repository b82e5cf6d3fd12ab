"""Calls of several modules at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit._utils import ExceptionWrapper
from torchjit.nn.modules.module import Module

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Any:
    """The first tensor in nested containers, None without one."""
    if isinstance(obj, torch.Tensor):
        return obj
    values = obj.items() if isinstance(obj, dict) else obj if isinstance(obj, (list, tuple)) else ()
    return next((found for value in values if isinstance(found := get_a_var(value), torch.Tensor)), None)


def parallel_apply(modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[Any] | None = None, devices: Sequence[Any] | None = None) -> list[Any]:
    """The results of modules, each called with its input (a tuple of arguments, or one) and its keyword arguments, in threads of their own.

    An exception of one is raised again. devices change nothing: there is one.
    """
    assert len(modules) == len(inputs)
    keywords = ({},) * len(modules) if kwargs_tup is None else kwargs_tup
    assert len(modules) == len(keywords) and (devices is None or len(modules) == len(devices))
    grad_enabled = torch.is_grad_enabled()
    results: list[Any] = [None] * len(modules)

    def call(i: int, module: Module) -> None:
        given = inputs[i] if isinstance(inputs[i], (list, tuple)) else (inputs[i],)
        try:
            with torch.set_grad_enabled(grad_enabled):
                results[i] = module(*given, **keywords[i])
        except Exception:
            results[i] = ExceptionWrapper(where=f"in replica {i} on device {None if devices is None else devices[i]}")

    if len(modules) > 1:
        threads = [threading.Thread(target=call, args=(i, module)) for i, module in enumerate(modules)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        for i, module in enumerate(modules):
            call(i, module)
    for result in results:
        if isinstance(result, ExceptionWrapper):
            result.reraise()
    return results
