"""Passes in an order, with rules about that."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

logger: logging.Logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A pass that returns its argument, of a function that changes it."""

    @wraps(fn)
    def wrapped_fn(gm: Any) -> Any:
        fn(gm)
        return gm

    return wrapped_fn


def log_hook(fn: Callable[..., Any], level: int = logging.INFO) -> Callable[..., Any]:
    """A pass that also logs what it made."""

    @wraps(fn)
    def wrapped_fn(gm: Any) -> Any:
        result = fn(gm)
        logger.log(level, "ran pass %s:\n%s", getattr(fn, "__name__", fn), result)
        return result

    return wrapped_fn


def loop_pass(base_pass: Callable[..., Any], n_iter: int | None = None, predicate: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A pass that is run n_iter times, or as long as predicate holds of what it made. Raises AssertionError unless one of the two is given."""
    assert (n_iter is not None) ^ (predicate is not None), "Exactly one of `n_iter`or `predicate` must be specified."

    @wraps(base_pass)
    def new_pass(source: Any) -> Any:
        output = source
        if n_iter is not None:
            for _ in range(n_iter):
                output = base_pass(output)
            return output
        while predicate(output):  # type: ignore[misc]
            output = base_pass(output)
        return output

    return new_pass


def _validate_pass_schedule_constraint(constraint: Callable[[Any, Any], bool], passes: list[Any]) -> None:
    """Raises RuntimeError where two passes stand in an order that the constraint does not allow."""
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at index{j} in pass list."
                )


def this_before_that_pass_constraint(this: Callable[..., Any], that: Callable[..., Any]) -> Callable[[Any, Any], bool]:
    """The rule that one pass comes before another."""

    def depends_on(a: Any, b: Any) -> bool:
        return a != that or b != this

    return depends_on


def these_before_those_pass_constraint(these: Callable[..., Any], those: Callable[..., Any]) -> Callable[[Any, Any], bool]:
    """The rule that one pass comes before another, also where they are wrapped, as by loop_pass."""

    def depends_on(a: Any, b: Any) -> bool:
        return inspect.unwrap(a) != those or inspect.unwrap(b) != these

    return depends_on


class _Schedule:
    """Passes in an order, and the rules that it is to meet."""

    def __init__(self, passes: list[Any] | None = None, constraints: list[Any] | None = None) -> None:
        self.passes: list[Any] = passes or []
        self.constraints: list[Any] = constraints or []
        self._validated = False

    def add_pass(self, _pass: Callable[..., Any]) -> None:
        """Adds a pass behind the others."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Any, Any], bool]) -> None:
        """Adds a rule."""
        self.constraints.append(constraint)
        self._validated = False

    def _check_order(self) -> None:
        """Raises RuntimeError where the order breaks a rule."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True


class PassManager(_Schedule):
    """Runs passes one after the other, where their order meets the constraints."""

    @classmethod
    def build_from_passlist(cls, passes: list[Any]) -> PassManager:
        """A manager of these passes, without constraints."""
        return cls(passes)

    def remove_pass(self, _passes: list[str]) -> None:
        """Removes the passes of these names."""
        self.passes[:] = [p for p in self.passes if p.__name__ not in _passes]
        self._validated = False

    def validate(self) -> None:
        """Raises RuntimeError where the order breaks a rule."""
        self._check_order()

    def __call__(self, source: Any) -> Any:
        self.validate()
        out = source
        for one in self.passes:
            out = one(out)
        return out
