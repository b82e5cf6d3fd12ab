"""What values and parameters of distributions may be: objects whose check(x) tells it element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch


class Constraint:
    """A set of values. `event_dim` dimensions on the right belong to one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """A tensor of bools: which values are in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


class _Test(Constraint):
    """A set that a function describes."""

    def __init__(self, text: str, check: Callable[[Any], Any], is_discrete: bool = False, event_dim: int = 0) -> None:
        self._text, self._check, self.is_discrete, self.event_dim = text, check, is_discrete, event_dim

    def check(self, value: Any) -> Any:
        return self._check(value)

    def __repr__(self) -> str:
        return self._text


def _whole(x: Any) -> Any:
    return x % 1 == 0


real = _Test("Real()", lambda x: x == x)
real_vector = _Test("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), event_dim=1)
positive_vector = _Test("IndependentConstraint(GreaterThan(lower_bound=0.0), 1)", lambda x: (x > 0).all(-1), event_dim=1)
boolean = _Test("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
positive = _Test("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
nonnegative = _Test("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
unit_interval = _Test("Interval(lower_bound=0.0, upper_bound=1.0)", lambda x: (x >= 0) & (x <= 1))
nonnegative_integer = _Test("IntegerGreaterThan(lower_bound=0)", lambda x: _whole(x) & (x >= 0), is_discrete=True)
positive_integer = _Test("IntegerGreaterThan(lower_bound=1)", lambda x: _whole(x) & (x >= 1), is_discrete=True)
simplex = _Test("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), event_dim=1)
one_hot = _Test("OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & x.sum(-1).eq(1), is_discrete=True, event_dim=1)
lower_cholesky = _Test("LowerCholesky()", lambda x: (x.tril() == x).flatten(-2).all(-1) & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1), event_dim=2)


def _positive_definite(x: Any) -> Any:
    symmetric = torch.isclose(x, x.mT, atol=1e-6).flatten(-2).all(-1)
    return symmetric & (torch.linalg.cholesky_ex(x).info == 0)


positive_definite = _Test("PositiveDefinite()", _positive_definite, event_dim=2)


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    return _Test(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    return _Test(f"LessThan(upper_bound={upper_bound})", lambda x: x < upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers between two bounds, which belong to them."""
    return _Test(f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})", lambda x: (x >= lower_bound) & (x <= upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers between two bounds, which belong to them."""
    text = f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return _Test(text, lambda x: _whole(x) & (x >= lower_bound) & (x <= upper_bound), is_discrete=True)


def multinomial(total: int) -> Constraint:
    """Counts that add up to at most total."""
    return _Test("Multinomial()", lambda x: (x >= 0).all(-1) & (x.sum(-1) <= total), is_discrete=True, event_dim=1)
