"""Where new nodes of a graph are put."""

from __future__ import annotations

from typing import Any

from torchjit._C import _InsertPoint as _InsertPoint


def insert_point_guard(self: Any, insert_point: Any) -> Any:
    """A context manager that moves a graph's insertion point before a node, or to the end of a block, and back."""
    made: Any = _InsertPoint
    return made(self, insert_point)
