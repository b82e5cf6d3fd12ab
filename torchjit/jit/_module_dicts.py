"""The parts of a module of the library by name, as torch._C has them, and dictionaries over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchjit import _native


class _Part:
    """The slots of one kind of a module of the library."""

    _kind = ""

    def __init__(self, module: Any) -> None:
        self._module = getattr(module, "_c", module)

    def items(self) -> list[tuple[str, Any]]:
        """The names and values, in the order of the slots."""
        return [(name, _native.module_get(self._module, name)) for name, kind in _native.module_slots(self._module) if kind == self._kind]

    def contains(self, name: str) -> bool:
        """Whether there is one of a name."""
        return (name, self._kind) in [tuple(slot) for slot in _native.module_slots(self._module)]

    def getattr(self, name: str) -> Any:
        """The one of a name."""
        return _native.module_get(self._module, name)

    def setattr(self, name: str, value: Any) -> None:
        """Replaces the one of a name."""
        _native.module_set(self._module, name, getattr(value, "_c", value))


class ModuleDict(_Part):
    """The submodules of a module of the library."""

    _kind = "module"


class ParameterDict(_Part):
    """The parameters of a module of the library."""

    _kind = "parameter"


class BufferDict(_Part):
    """The buffers of a module of the library."""

    _kind = "buffer"


class OrderedDictWrapper:
    """A ModuleDict, ParameterDict or BufferDict as a dictionary that nothing can be added to."""

    def __init__(self, _c: Any) -> None:
        self._c = _c

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self.items()]

    def values(self) -> list[Any]:
        """The values."""
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[str, Any]]:
        """The names and values."""
        return self._c.items()

    def __len__(self) -> int:
        return len(self.values())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, k: str) -> bool:
        return self._c.contains(k)

    def __getitem__(self, k: str) -> Any:
        if k not in self:
            raise KeyError(k)
        return self._c.getattr(k)

    def __setitem__(self, k: str, v: Any) -> None:
        if k not in self:
            raise RuntimeError(f"Can't add a new parameter after ScriptModule construction. Tried to add '{k}")
        self._c.setattr(k, v)

    def __delitem__(self, k: str) -> None:
        raise RuntimeError("cannot delete methods or parameters of a script module")


class OrderedModuleDict(OrderedDictWrapper):
    """The submodules of a compiled module as Python has them."""

    def __init__(self, module: Any, python_dict: dict[str, Any]) -> None:
        super().__init__(ModuleDict(module))
        self._python_modules = python_dict

    def items(self) -> list[tuple[str, Any]]:
        """The names and modules."""
        return list(self._python_modules.items())

    def __contains__(self, k: str) -> bool:
        return k in self._python_modules

    def __getitem__(self, k: str) -> Any:
        return self._python_modules[k]

    def __setitem__(self, k: str, v: Any) -> None:
        from torchjit.jit._module import ScriptModule

        if not isinstance(v, ScriptModule):
            raise RuntimeError(
                "Cannot re-assign modules in a ScriptModule with non-scripted module, "
                f"tried to replace existing module '{k}': {v}"
            )
        self._c.setattr(k, v)
        self._python_modules[k] = v
