"""What the native library asks of Python: classes for results, decisions about Python objects."""

from __future__ import annotations

import sys
from typing import Any


def return_type(name: str, fields: list[str]) -> type:
    """The class of an operator's named results: a tuple with field names."""
    import collections

    made: Any = collections.namedtuple(name, fields)  # type: ignore[misc]
    made.__module__ = "torch.return_types"

    def show(self: Any) -> str:
        return (
            f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True)) + ")"
        )

    made.__repr__ = show  # type: ignore[method-assign]
    return _from_sequence(made)


def _from_sequence(cls: Any) -> Any:
    """A callable that makes a cls of one sequence."""
    return lambda items: tuple.__new__(cls, items)


def named_tuple(name: str, fields: list[str]) -> type:
    """The class of a named tuple: the program's own where it has been seen, else a new one."""
    import collections

    short = name.rpartition(".")[2]
    return _known_classes.get(name) or collections.namedtuple(short, fields)


def enum(name: str) -> type:
    """The enumeration class of a qualified name."""
    return _known_classes[name]


def describe(value: Any) -> tuple[str, str]:
    """The type's name and the text of an object, for messages."""
    return type(value).__name__, repr(value)


def attribute(obj: Any, name: str) -> Any:
    """What an attribute of a Python module is to the compiler."""
    from torchjit.jit import _resolve

    return _resolve.attribute(obj, name)


def attributes(obj: Any, class_name: str, names: list[str]) -> list[Any] | None:
    """The attributes of an instance of a Python class that was compiled; None for other objects."""
    if _known_classes.get(class_name) is not type(obj):
        return None
    return [getattr(obj, name) for name in names]


def call_ignored(fn: Any, *args: Any) -> Any:
    """Calls a function that was left to Python; modules are given as Python sees them."""
    from torchjit.jit import _module

    return fn(*(_module.python_side(a) if isinstance(a, _module._CModule) else a for a in args))


def enum_member(obj: Any, enum_name: str) -> str | None:
    """The name of a member of an enumeration that was compiled; None for other objects."""
    return obj.name if _known_classes.get(enum_name) is type(obj) else None


# Python classes by the qualified names that programs have for them.
_known_classes: dict[str, Any] = {}

from torchjit import _native  # noqa: E402

_native.set_host(sys.modules[__name__])
