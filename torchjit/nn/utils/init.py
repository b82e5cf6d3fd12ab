"""Modules without initialization."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import torchjit as torch


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """module_cls(*args, **kwargs) without what it draws: the random stream is where it was, the parameters are not meant to be used.

    >>> nn.utils.skip_init(nn.Linear, 3, 2).weight.shape
    torch.Size([2, 3])
    """
    if not issubclass(module_cls, torch.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = torch.get_rng_state()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_rng_state, state)
        return module_cls(*args, **kwargs)
