"""Names that a graph and its generated code give to nodes and objects, no name twice."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Any, NamedTuple

import torchjit as torch
import torchjit.utils._pytree as pytree
from torchjit.fx import _pytree as fx_pytree

_illegal_characters = re.compile("[^0-9a-zA-Z_]+")
_numbered = re.compile(r"(.*)_(\d+)$")


class _CustomBuiltin(NamedTuple):
    """A name that generated code can always use, with the statement that imports it."""

    import_str: str
    obj: Any


_custom_builtins: dict[str, _CustomBuiltin] = {}


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)


_register_custom_builtin("inf", "from math import inf", float("inf"))
_register_custom_builtin("nan", "from math import nan", float("nan"))
_register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
_register_custom_builtin("torch", f"import {torch.__package__} as torch", torch)
_register_custom_builtin("device", f"from {torch.__package__} import device", torch.device)
_register_custom_builtin("fx_pytree", f"import {fx_pytree.__name__} as fx_pytree", fx_pytree)
_register_custom_builtin("pytree", f"import {pytree.__name__} as pytree", pytree)


def _snake_case(s: str) -> str:
    """s in lower case, with _ where a lower case letter stood before an upper case one."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", s).lower()


def _is_magic(x: str) -> bool:
    return x.startswith("__") and x.endswith("__")


class _Namespace:
    """Names in use, and the objects that have them."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._unassociated_names: set[str] = set()
        self._used_names: set[str] = set()
        self._full_up_to: dict[str, int] = {}  # base -> n: the names base_1 to base_n are in use

    def create_name(self, candidate: str, obj: Any | None) -> str:
        """A name like candidate that is not in use; the name of obj where it has one."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = _illegal_characters.sub("_", candidate)
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = _numbered.match(candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, 0)
        if match:
            candidate = f"{base}_{number}"
        start = number
        while candidate in self._used_names or self._is_illegal_name(candidate, obj):
            number = max(number, self._full_up_to.get(base, 0)) + 1 if start == 0 else number + 1
            candidate = f"{base}_{number}"
            if start == 0:
                self._full_up_to[base] = number
        self._used_names.add(candidate)
        if obj is None:
            self._unassociated_names.add(candidate)
        else:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Gives a name that was created for nothing to an object."""
        assert obj not in self._obj_to_name
        assert name in self._unassociated_names
        self._obj_to_name[obj] = name
        self._unassociated_names.remove(name)

    def _is_illegal_name(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if name in builtins.__dict__:
            return obj is not builtins.__dict__[name]
        return name in _custom_builtins and obj is not _custom_builtins[name].obj
