"""torch.fx.experimental.symbolic_shapes: sizes that are symbols, and errors about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.export._errors import UserError
from torchjit.export._symbolic import Symbol, SymInt, ValueRanges, int_oo  # noqa: F401

# A decision by elements, and sizes that cannot be what is said of them, are errors of what was asked for.
GuardOnDataDependentSymNode = UserError
ConstraintViolationError = UserError

__all__ = [
    "ConstraintViolationError", "GuardOnDataDependentSymNode", "free_symbols", "guard_int", "guard_scalar", "guard_size_oblivious", "has_free_symbols",
    "hint_int", "is_concrete_int", "statically_known_true", "sym_eq",
]  # fmt: skip


def free_symbols(val: Any) -> set[Symbol]:
    """The symbols in a size, in the sizes of a tensor, or in those of a container."""
    if isinstance(val, SymInt):
        return val.free_symbols()
    if isinstance(val, torch.Tensor):
        return free_symbols(tuple(val.shape))
    if isinstance(val, (list, tuple)):
        return {s for x in val for s in free_symbols(x)}
    return set()


def has_free_symbols(val: Any) -> bool:
    """Whether there are symbols in something."""
    return bool(free_symbols(val))


def is_concrete_int(a: Any) -> bool:
    """Whether a size is a number."""
    return isinstance(a, int) or isinstance(a, SymInt) and not a.free_symbols()


def hint_int(a: Any, fallback: int | None = None) -> int:
    """What a size was in the example."""
    return a.hint if isinstance(a, SymInt) else int(a)


guard_int: Callable[..., int] = hint_int
guard_scalar: Callable[..., int] = hint_int


def guard_size_oblivious(expr: Any) -> bool:
    """The truth value of a comparison of sizes, for the example."""
    return bool(expr)


def statically_known_true(x: Any) -> bool:
    """Whether a comparison is true without knowing any size."""
    return x is True


def sym_eq(x: Any, y: Any) -> Any:
    """Whether sizes, or tuples or lists of them, are equal."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(sym_eq(a, b) for a, b in zip(x, y, strict=True))
    return x == y
