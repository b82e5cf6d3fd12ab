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

    made.__repr__ = show
    return _from_sequence(made)


def _from_sequence(cls: Any) -> Any:
    """A callable that makes a cls of one sequence."""
    return lambda items: tuple.__new__(cls, items)


def named_tuple(name: str, fields: list[str]) -> type:
    """The class of a named tuple: the program's own where it has been seen, else a new one."""
    import collections

    short = name.rpartition(".")[2]
    return _known_classes.get(name) or collections.namedtuple(short, fields)  # type: ignore[misc]


def enum(name: str) -> type:
    """The enumeration class of a qualified name."""
    return _known_classes[name]


# Python classes by the qualified names that programs have for them.
_known_classes: dict[str, Any] = {}

from torchjit import _native  # noqa: E402

_native.set_host(sys.modules[__name__])
