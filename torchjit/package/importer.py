"""Where objects and modules are found by name: in this process, or in packages."""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from pickle import _getattribute  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from torchjit.package._mangling import demangle, get_mangle_prefix, is_mangled

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "sys_importer"]


class ObjNotFoundError(Exception):
    """An object is not where its name says."""


class ObjMismatchError(Exception):
    """Another object is where the name of one says."""


def _at(module: ModuleType, name: str) -> Any:
    found = _getattribute(module, name)
    return found[0] if isinstance(found, tuple) else found


class Importer(ABC):
    """Finds modules by name."""

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """The module of a name."""

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """The module and the name by which an object is found again.

        Raises ObjNotFoundError where there is nothing of the name, ObjMismatchError where something else has it.
        """
        if name is None:
            name = getattr(obj, "__qualname__", None)
        if name is None:
            name = obj.__name__
        module_name = self.whichmodule(obj, name)
        plain = demangle(module_name)
        try:
            found = _at(self.import_module(plain), name)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(f"{obj} was not found as {plain}.{name}") from None
        if found is obj:
            return plain, name

        def origin(module: str) -> str:
            return get_mangle_prefix(module) if is_mangled(module) else "the current Python environment"

        theirs = self.whichmodule(found, name)
        raise ObjMismatchError(
            f"\n\nThe object provided is from '{module_name}', which is coming from {origin(module_name)}."
            f"\nHowever, when we import '{theirs}', it's coming from {origin(theirs)}."
            f"\nTo fix this, make sure this 'PackageExporter's importer lists the importer for {origin(module_name)} before {self._shown(theirs)}."
        )

    @staticmethod
    def _shown(module: str) -> str:
        return f"the importer for {get_mangle_prefix(module)}" if is_mangled(module) else "'sys_importer'"

    def whichmodule(self, obj: Any, name: str) -> str:
        """The name of the module that an object is from."""
        named = getattr(obj, "__module__", None)
        if named is not None:
            return str(named)
        for module_name, module in list(self.modules.items()):
            if module_name in ("__main__", "__mp_main__") or module is None:
                continue
            try:
                if _at(module, name) is obj:
                    return module_name
            except AttributeError:
                pass
        return "__main__"


class _SysImporter(Importer):
    """The modules of this process. `torch` is this library."""

    modules = sys.modules

    def import_module(self, module_name: str) -> ModuleType:
        return import_environment(module_name)


sys_importer: _SysImporter = _SysImporter()


class OrderedImporter(Importer):
    """Several importers, of which the first that finds a module gives it."""

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    def import_module(self, module_name: str) -> ModuleType:
        last: ModuleNotFoundError | None = None
        for importer in self._importers:
            if not isinstance(importer, Importer):
                raise TypeError(f"{importer} is not a Importer. All importers in OrderedImporter must inherit from Importer.")
            try:
                return importer.import_module(module_name)
            except ModuleNotFoundError as e:
                last = e
        if last is not None:
            raise last
        raise ModuleNotFoundError(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        for importer in self._importers:
            module_name = importer.whichmodule(obj, name)
            if module_name != "__main__":
                return module_name
        return "__main__"


def import_environment(name: str) -> ModuleType:
    """A module of this process by the name that packages have for it: `torch` and what is in it are this library."""
    own = name if name.split(".")[0] != "torch" else "torchjit" + name[len("torch") :]
    try:
        return importlib.import_module(own)
    except ModuleNotFoundError as e:
        package, _, last = own.rpartition(".")
        if e.name != own or own == name or not package:
            raise
        found = getattr(importlib.import_module(package), last, None)  # torch._C._nn is an object
        if found is None:
            raise
        return found
