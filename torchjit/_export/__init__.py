"""torch._export: names that programs import from beside torch.export."""

from __future__ import annotations

from typing import Any

from torchjit.export import export_for_training

__all__ = ["capture_pre_autograd_graph"]


def capture_pre_autograd_graph(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, dynamic_shapes: Any = None) -> Any:
    """The module of export_for_training(f, args, kwargs)."""
    return export_for_training(f, args, kwargs, dynamic_shapes=dynamic_shapes).module()
