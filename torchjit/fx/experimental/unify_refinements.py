"""Sizes of a graph that are the same get one variable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torchjit.fx.experimental.graph_gradual_typechecker import Refine, _mapped
from torchjit.fx.experimental.refinement_types import Equality
from torchjit.fx.experimental.unification import Var, unify
from torchjit.fx.tensor_type import TensorType


def infer_symbolic_types_single_pass(traced: Any) -> None:
    """Finds the sizes that are the same by what each node says alone."""
    _refined(traced)


def infer_symbolic_types(traced: Any) -> None:
    """Finds the sizes that are the same, twice, as broadcasting needs to know of some first; then writes sizes as expressions."""
    _refined(traced)
    _refined(traced).symbolic_relations()


def _refined(traced: Any) -> Refine:
    refine = Refine(traced)
    refine.refine()
    substitute_all_types(traced.graph, unify_eq(refine.constraints))
    return refine


def convert_eq(list_of_eq: Iterable[Equality]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The left sides and the right sides of conditions."""
    pairs = [(eq.lhs, eq.rhs) for eq in list_of_eq]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def unify_eq(list_of_eq: Iterable[Equality]) -> Any:
    """The values of variables for which conditions hold; False where there are none."""
    return unify(*convert_eq(list_of_eq))


def substitute_solution_one_type(mapping: dict[Any, Any], t: Any) -> Any:
    """A type with the values of variables in their places."""
    if isinstance(t, Var):
        return mapping.get(t, t)
    if isinstance(t, TensorType):
        return TensorType(tuple(mapping.get(size, size) for size in t.__args__))
    return _mapped(lambda part: substitute_solution_one_type(mapping, part), t)


def substitute_all_types(graph: Any, mapping: dict[Any, Any]) -> None:
    """Puts values of variables, and what variables in these stand for, into all types of a graph."""
    changed = True
    while changed:
        changed = False
        for variable, value in mapping.items():
            if value in mapping and mapping[value] != value:
                mapping[variable], changed = mapping[value], True
    for n in graph.nodes:
        n.type = substitute_solution_one_type(mapping, n.type)


def check_for_type_equality(g1: Any, g2: Any) -> bool:
    """Whether the nodes of two graphs have the same types."""
    return all(n.type == m.type for n, m in zip(g1.nodes, g2.nodes, strict=False))
