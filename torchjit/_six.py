"""torch._six: names from the time of two Pythons."""

from __future__ import annotations

import math
from typing import Any

inf = math.inf
nan = math.nan
string_classes = (str, bytes)


def with_metaclass(meta: type, *bases: type) -> Any:
    """A base class whose subclasses are made by meta, from the bases."""

    class _Once(meta):
        def __new__(cls, name: str, _: Any, namespace: dict[str, Any]) -> Any:
            return meta(name, bases, namespace)

        @classmethod
        def __prepare__(cls, name: str, _: Any) -> Any:
            return meta.__prepare__(name, bases)

    return type.__new__(_Once, "_Once", (), {})
