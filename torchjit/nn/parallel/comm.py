"""Movement of tensors between devices, of which there is one: each function raises RuntimeError."""

from __future__ import annotations

from typing import Any, NoReturn


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{name}: tensors cannot move between devices: torchjit has the CPU alone")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises RuntimeError: there are no other devices."
    return refuse


broadcast = _refusing("broadcast")
broadcast_coalesced = _refusing("broadcast_coalesced")
gather = _refusing("gather")
reduce_add = _refusing("reduce_add")
reduce_add_coalesced = _refusing("reduce_add_coalesced")
scatter = _refusing("scatter")
