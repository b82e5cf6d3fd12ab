"""Movement of tensors between devices, of which there is one: each function raises RuntimeError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{name}: tensors cannot move between devices: torchjit has the CPU alone")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises RuntimeError: there are no other devices."
    return refuse


broadcast: Callable[..., NoReturn] = _refusing("broadcast")
broadcast_coalesced: Callable[..., NoReturn] = _refusing("broadcast_coalesced")
gather: Callable[..., NoReturn] = _refusing("gather")
reduce_add: Callable[..., NoReturn] = _refusing("reduce_add")
reduce_add_coalesced: Callable[..., NoReturn] = _refusing("reduce_add_coalesced")
scatter: Callable[..., NoReturn] = _refusing("scatter")
