"""Control flow as operators: cond, map, while_loop and scan, which torch.export captures as calls with graphs of their own."""

from __future__ import annotations

import sys
import types
from typing import Any

from torchjit._higher_order_ops._operator import HigherOrderOperator
from torchjit._higher_order_ops.associative_scan import associative_scan
from torchjit._higher_order_ops.cond import cond, cond_op
from torchjit._higher_order_ops.map import map, map_impl
from torchjit._higher_order_ops.scan import scan, scan_op
from torchjit._higher_order_ops.while_loop import while_loop, while_loop_op

__all__ = [
    "HigherOrderOperator",
    "associative_scan",
    "cond",
    "cond_op",
    "map",
    "map_impl",
    "scan",
    "scan_op",
    "while_loop",
    "while_loop_op",
]


class _Package(types.ModuleType):
    """A package whose functions keep their names when the modules of the same names are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
