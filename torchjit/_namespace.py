"""Modules whose functions are operators with a common prefix: torch.linalg.norm is aten::linalg_norm."""

from __future__ import annotations

import sys
import types
from typing import Any

from torchjit import _native


class PrefixModule(types.ModuleType):
    """Finds an operator when its name is first used."""

    _prefix: str

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else _native.operator(self._prefix + name)
        if found is None:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        setattr(self, name, found)
        return found


def serve(module: str, prefix: str) -> None:
    """Makes the attributes of a module the operators whose names have the prefix."""
    found = sys.modules[module]
    found.__class__ = PrefixModule
    found._prefix = prefix  # type: ignore[attr-defined]
