"""torch.classes: the classes that PyTorch and libraries register in C++. Of PyTorch's own those in _KNOWN are here; no library can be loaded."""

from __future__ import annotations

import types
from typing import Any

# Where the Python classes are that stand for registered ones.
_KNOWN = {("profiling", "_ScriptProfile"): ("torchjit.jit._profile", "LineProfile")}


def script_class(namespace: str, name: str) -> Any:
    """torch._C.ScriptClass of a registered class. RuntimeError where there is none of that name."""
    import importlib

    from torchjit import _C

    if (namespace, name) not in _KNOWN:
        raise RuntimeError(f"Tried to instantiate class '{namespace}.{name}', but it does not exist! Ensure that it is registered via torch::class_")
    module, attribute = _KNOWN[namespace, name]
    return _C.ScriptClass(getattr(importlib.import_module(module), attribute))


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
