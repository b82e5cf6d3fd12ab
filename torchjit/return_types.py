"""torch.return_types: the classes of operators' named results."""

from __future__ import annotations

from typing import Any

from torchjit import _host


def __getattr__(name: str) -> Any:
    found = _host.return_class(name) or _host.return_class(name.removesuffix("_out"))
    if found is None:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
    return found
