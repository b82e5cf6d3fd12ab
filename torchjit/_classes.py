"""torch.classes: the classes that libraries register in C++. There is none here, and no library can be loaded."""

from __future__ import annotations

import types
from typing import Any


class _ClassNamespace(types.ModuleType):
    """The registered classes of a namespace."""

    def __init__(self, name: str) -> None:
        super().__init__("torch.classes" + name)
        self.name = name

    def __getattr__(self, attr: str) -> Any:
        if attr.startswith("__"):
            raise AttributeError(attr)
        raise RuntimeError(f"Tried to instantiate class '{self.name}.{attr}', but it does not exist! Ensure that it is registered via torch::class_")


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
