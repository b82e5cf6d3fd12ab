"""Special methods of modules and objects of the library: those that Python calls for operators and len."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# The methods of torch._C.ScriptObject and torch._C.ScriptModule, without underscores.
_NAMES = """
    abs add and concat contains delitem floordiv getitem iadd iand iconcat ifloordiv ilshift imatmul imod imul index inv invert ior ipow
    irshift isub itruediv ixor len lshift matmul mod mul neg not or pos pow rshift setitem sub truediv xor
""".split()


def _method(name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any) -> Any:
        if not self._has_method(name):
            raise NotImplementedError
        return self._get_method(name)(*args)

    call.__name__ = name
    call.__doc__ = f"Calls the method {name} of the class. Raises NotImplementedError where it has none."
    return call


def add_special_methods(cls: type) -> None:
    """Gives a class of handles the special methods that it does not define itself."""
    for name in _NAMES:
        if f"__{name}__" not in vars(cls):
            setattr(cls, f"__{name}__", _method(f"__{name}__"))
