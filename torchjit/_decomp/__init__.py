"""torch._decomp: tables of operators in terms of simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torchjit.export._decompose import _standard

__all__ = ["core_aten_decompositions", "decomposition_table", "get_decompositions", "register_decomposition"]

# What has been registered, and then the library's own.
decomposition_table: dict[Any, Callable[..., Any]] = dict(_standard())


def core_aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """What run_decompositions puts in the place of operators."""
    return _standard()


def _overloads(op: Any) -> list[Any]:
    return [getattr(op, name) for name in op.overloads()] if hasattr(op, "overloads") else [op]


_own: set[Any] = set()  # overloads that the library has registered


def add_decomposition(aten_op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """register_decomposition of the library's own functions, for overloads that return tensors and that nothing else defines."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        for op in aten_op if isinstance(aten_op, list) else [aten_op]:
            for overload in _overloads(op):
                if overload not in decomposition_table and not any(a.is_out for a in overload._schema.arguments):
                    decomposition_table[overload] = fn
                    _own.add(overload)
        return fn

    return add


def register_decomposition(aten_op: Any, registry: dict[Any, Any] | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function what an operator is in terms of others: an overload, all overloads of an operator, or those of a list."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        table = decomposition_table if registry is None else registry
        for op in aten_op if isinstance(aten_op, (list, tuple)) else [aten_op]:
            for overload in _overloads(op):
                if overload in table and registry is None and overload not in _standard() and overload not in _own:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                table[overload] = fn
        return fn

    return register


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> dict[Any, Callable[..., Any]]:
    """The functions for those operators that have one: overloads, or operators with all their overloads."""
    return {overload: decomposition_table[overload] for op in aten_ops for overload in _overloads(op) if overload in decomposition_table}


from torchjit._decomp import decompositions as decompositions  # noqa: E402  (its functions enter the table)
