"""torch.ops: every operator by its namespace, torch.ops.aten.add."""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any

from torchjit import _native
from torchjit._jit_internal import Namespace
from torchjit._ops import OpOverloadPacket


class _OpNamespace(Namespace):
    """The operators of one namespace, each found when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = _native.operator_of_programs(f"{self._name}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        packet = OpOverloadPacket(f"{self._name}::{name}", name, found)
        setattr(self, name, packet)
        return packet

    def __dir__(self) -> list[str]:
        return _native.operator_names(self._name)

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self._name}' from 'torch.ops'>"


class _HigherOrder:
    """The operators that take functions."""

    def __getattr__(self, name: str) -> Any:
        from torchjit import _higher_order_ops

        found = getattr(_higher_order_ops, name if name == "map_impl" else f"{name}_op", None)
        if not isinstance(found, _higher_order_ops.HigherOrderOperator):
            raise AttributeError(f"'_HigherOrderNamespace' 'higher_order' object has no attribute '{name}'")
        return found


class _Ops(types.ModuleType):
    def __repr__(self) -> str:
        return "<module 'torch.ops' from '_ops.py'>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "higher_order":
            self.higher_order = _HigherOrder()
            return self.higher_order
        made = _OpNamespace(name)
        setattr(self, name, made)
        return made


if TYPE_CHECKING:
    def __getattr__(name: str) -> Any: ...


loaded_libraries: set[str] = set()


def load_library(path: str) -> None:
    """Makes the operators of a package known: those that torchjit has itself, as the ones of torchvision.

    path is the file that the package would have PyTorch load; the name of its folder is the namespace. Raises OSError for
    other packages: code that was compiled against PyTorch cannot run here.
    """
    namespace = os.path.basename(os.path.dirname(os.path.realpath(path)))
    if not _native.operator_names(namespace):
        raise OSError(
            f"{path}: torchjit has no operators of '{namespace}', and cannot load libraries that were compiled against PyTorch. "
            "Operators can be defined with torch.library"
        )
    loaded_libraries.add(os.path.realpath(path))


sys.modules[__name__].__class__ = _Ops
