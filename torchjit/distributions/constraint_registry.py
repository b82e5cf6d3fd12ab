"""Transforms from all real numbers to what a constraint allows: biject_to and transform_to."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from torchjit.distributions import constraints, structured, transforms


class ConstraintRegistry:
    """Finds for a constraint a transform onto it, by the constraint's class."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Has factory(constraint) make the transforms for the class of a constraint; without a factory it is a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform from real numbers to the constraint. Raises NotImplementedError where none is known."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to: ConstraintRegistry = ConstraintRegistry()
transform_to: ConstraintRegistry = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Any], Any]:
    def keep(factory: Any) -> Any:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return keep


@_both(constraints.real)
def _real(constraint: Any) -> Any:
    return transforms.identity_transform


@_both(constraints._GreaterThan, constraints._GreaterThanEq)
def _above(constraint: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


@_both(constraints._LessThan)
def _below(constraint: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints._Interval, constraints._HalfOpenInterval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, numbers.Number) and low == 0 and isinstance(high, numbers.Number) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint: Any) -> Any:
    return structured.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def _simplex(constraint: Any) -> Any:
    return structured.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _softmax(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _lower_cholesky(constraint: Any) -> Any:
    return structured.LowerCholeskyTransform()


def _register_containers(registry: ConstraintRegistry) -> None:
    @registry.register(constraints._IndependentConstraint)
    def _independent(constraint: Any) -> Any:
        return structured.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    @registry.register(constraints._Cat)
    def _cat(constraint: Any) -> Any:
        return structured.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    @registry.register(constraints._Stack)
    def _stack(constraint: Any) -> Any:
        return structured.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


_register_containers(biject_to)
_register_containers(transform_to)

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]
