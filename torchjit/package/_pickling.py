"""Pickles of packages: names go through importers, and objects may say how they are packed (__reduce_package__)."""

from __future__ import annotations

import importlib
import pickle
import types
from typing import Any

from torchjit import serialization
from torchjit.package.importer import ObjMismatchError, ObjNotFoundError, sys_importer
from torchjit.storage import _StorageBase


class PackagePickler(serialization._Pickler):
    """Pickles for an exporter, which keeps the memory of tensors, and notes the modules that the pickle names."""

    dispatch = dict(serialization._Pickler.dispatch)

    def __init__(self, exporter: Any, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.exporter = exporter
        self.modules: dict[str, None] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, serialization._Global):
            self.modules["builtins" if obj.module == "__builtin__" else obj.module] = None
        super().save(obj, save_persistent_id)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """A class or function by the name that the exporter's importer finds it by."""
        try:
            module, name = self.exporter.importer.get_name(obj, name)
        except (ObjNotFoundError, ObjMismatchError) as e:
            raise pickle.PicklingError(f"Can't pickle {obj}: {self._reason(obj, e)}") from None
        if module.split(".")[0] == "torchjit":
            module = "torch" + module[len("torchjit") :]
        parent, _, last = name.rpartition(".")
        if parent:
            owner = self.exporter.importer.import_module(module)
            for part in parent.split("."):
                owner = getattr(owner, part)
            self.save_reduce(getattr, (owner, last))
            return
        self.modules[module] = None
        self.write(b"c" + module.encode() + b"\n" + name.encode() + b"\n")
        self.memoize(obj)

    def _reason(self, obj: Any, error: Exception) -> str:
        """Why an object has no name: in Python's words where no package is asked."""
        if self.exporter.importer is not sys_importer:
            return str(error)
        name = getattr(obj, "__qualname__", None) or obj.__name__
        module = sys_importer.whichmodule(obj, name)
        if isinstance(error, ObjMismatchError):
            return f"it's not the same object as {module}.{name}"
        try:
            importlib.import_module(module)
        except ImportError:
            return f"import of module {module!r} failed"
        return f"attribute lookup {name} on {module} failed"

    dispatch[types.FunctionType] = save_global  # type: ignore[assignment]

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _StorageBase):
            return ("storage", serialization._STORAGE[obj.dtype.name], self.exporter._keep(obj._bytes), "cpu", len(obj))
        if isinstance(obj, type):
            return None
        return self.exporter._reduced(obj)


class PackageUnpickler(serialization._Unpickler):
    """Unpickles for an importer, which runs what the pickle names."""

    def __init__(self, importer: Any, file: Any, read: Any) -> None:
        super().__init__(file, read)
        self.importer = importer
        self._made: dict[int, Any] = {}

    def persistent_load(self, saved: Any) -> Any:
        if not isinstance(saved, tuple) or not saved or saved[0] != "reduce_package":
            return super().persistent_load(saved)
        if len(saved) == 3:
            function, args = saved[1:]
            return function(self.importer, *args)
        identity, function, args = saved[1:]
        if identity not in self._made:
            self._made[identity] = function(self.importer, *args)
        return self._made[identity]

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch.jit._script" and name == "unpackage_script_module":
            from torchjit.package._scripted import unpackage_script_module

            return unpackage_script_module
        if module.split(".")[0] == "torch":
            return super().find_class(module, name)
        found: Any = self.importer.import_module({"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module))
        for part in name.split("."):
            found = getattr(found, part)
        return found


def protocol_checked(protocol: int) -> int:
    """Raises AssertionError for protocols that packages do not have."""
    assert protocol in (3, 4) and protocol <= pickle.HIGHEST_PROTOCOL, "torch.package only supports pickle protocols 3 and 4"
    return protocol
