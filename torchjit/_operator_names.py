"""Which names of operators are functions of torch. torch's own module cannot say: its names hide Python's."""

from __future__ import annotations

import builtins

from torchjit import _native

# Names of both Python's functions or methods and torch's.
_SHARED = frozenset(("abs", "all", "any", "complex", "max", "min", "pow", "range", "round", "sort", "split", "sum"))


def is_of_python(name: str) -> bool:
    """Whether an operator of this name is for Python's values alone: programs call it as their function or method, or to convert one."""
    return name[:1].isupper() or name not in _SHARED and any(hasattr(of, name) for of in (str, list, dict, builtins))


def listed(names: set[str]) -> list[str]:
    """Names, and those of the operators that torch has, in order."""
    return sorted(names | {name for name in _native.operator_names("aten") if not is_of_python(name)})
