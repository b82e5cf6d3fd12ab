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

    def __dir__(self) -> list[str]:
        prefix = self._prefix.removeprefix("aten::")
        found = (name.removeprefix(prefix) for name in _native.operator_names("aten") if name.startswith(prefix))
        return sorted({*vars(self), *(name for name in found if not name.startswith("_"))})


def serve(module: str, prefix: str) -> None:
    """Makes the attributes of a module the operators whose names have the prefix."""
    found = sys.modules[module]
    found.__class__ = PrefixModule
    found._prefix = prefix  # type: ignore[attr-defined]
