"""torch.classes: the classes that PyTorch and libraries register in C++. Of PyTorch's own those in _KNOWN are here; no library can be loaded."""

from __future__ import annotations

import types
from typing import Any


class ScriptClass:
    """A class that PyTorch registers in C++: a call makes an object of it."""

    def __init__(self, cls: Any) -> None:
        self._class = cls
        self.__doc__ = cls.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._class(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"Class {self._class.__name__} does not have static method {name}!")


# Where the Python classes are that stand for registered ones.
_KNOWN = {("profiling", "_ScriptProfile"): ("torchjit.jit._profile", "LineProfile")}


def script_class(ns: str, qualname: str) -> Any:
    """torch._C.ScriptClass of a registered class. RuntimeError where there is none of that name."""
    import importlib

    if (ns, qualname) not in _KNOWN:
        raise RuntimeError(f"Tried to instantiate class '{ns}.{qualname}', but it does not exist! Ensure that it is registered via torch::class_")
    module, attribute = _KNOWN[ns, qualname]
    return ScriptClass(getattr(importlib.import_module(module), attribute))


class _ClassNamespace(types.ModuleType):
    """The registered classes of a namespace."""

    def __init__(self, name: str) -> None:
        super().__init__("torch.classes" + name)
        self.name = name

    def __getattr__(self, attr: str) -> Any:
        if attr.startswith("__"):
            raise AttributeError(attr)
        made = script_class(self.name, attr)
        setattr(self, attr, made)
        return made


class _Classes(types.ModuleType):
    """The namespaces of registered classes."""

    __file__ = "_classes.py"

    def __init__(self) -> None:
        super().__init__("torch.classes")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _ClassNamespace(name)
        setattr(self, name, namespace)
        return namespace

    @property
    def loaded_libraries(self) -> set[str]:
        """The libraries that have been loaded."""
        return set()

    def load_library(self, path: str) -> None:
        """Raises OSError: classes in C++ need PyTorch's own library."""
        raise OSError(f"{path}: classes that are registered in C++ cannot be loaded by torchjit")


classes = _Classes()
