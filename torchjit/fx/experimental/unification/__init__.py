"""Unification: values for variables that make two terms equal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_numbers = itertools.count(1)
_logic_values: set[Any] = set()


class Var:
    """A logic variable; those with the same token are the same one."""

    _id = 1

    def __new__(cls, *token: Any) -> Var:
        made = object.__new__(cls)
        made.token = token[0] if token else f"_{next(_numbers)}"  # type: ignore[attr-defined]
        return made

    def __str__(self) -> str:
        return "~" + str(self.token)  # type: ignore[attr-defined]

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.token == other.token  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.token))  # type: ignore[attr-defined]


def var(*token: Any) -> Var:
    """A variable: that of a token, or a new one."""
    return Var(*token)


def vars(n: int, **kwargs: Any) -> list[Var]:
    """New variables."""
    return [var(**kwargs) for _ in range(n)]


def isvar(n: Any) -> bool:
    """Whether a value is a variable, or stands for one within variables()."""
    if isinstance(n, Var):
        return True
    try:
        return bool(_logic_values) and n in _logic_values
    except TypeError:
        return False


@contextmanager
def variables(*values: Any) -> Iterator[None]:
    """A context in which values are variables."""
    before = set(_logic_values)
    _logic_values.update(values)
    try:
        yield
    finally:
        _logic_values.clear()
        _logic_values.update(before)


def reify(e: Any, s: dict[Any, Any]) -> Any:
    """A term with the values of variables in their places."""
    if isvar(e):
        return reify(s[e], s) if e in s else e
    if isinstance(e, (tuple, list)):
        return type(e)(reify(x, s) for x in e)
    if isinstance(e, dict):
        return {k: reify(v, s) for k, v in e.items()}
    if isinstance(e, slice):
        return slice(*(reify(x, s) for x in (e.start, e.stop, e.step)))
    return e


def unify(u: Any, v: Any, s: dict[Any, Any] | None = None) -> Any:
    """The values of variables that make two terms equal, beside those of s; False where there are none."""
    s = {} if s is None else s
    u, v = _walk(u, s), _walk(v, s)
    if u == v:
        return s
    if isvar(u):
        return {**s, u: v}
    if isvar(v):
        return {**s, v: u}
    if type(u) is not type(v):
        return False
    if isinstance(u, (tuple, list)):
        if len(u) != len(v):
            return False
        for a, b in zip(u, v, strict=True):
            s = unify(a, b, s)
            if s is False:
                return False
        return s
    if isinstance(u, dict):
        if u.keys() != v.keys():
            return False
        return unify([u[k] for k in u], [v[k] for k in u], s)
    if isinstance(u, slice):
        return unify((u.start, u.stop, u.step), (v.start, v.stop, v.step), s)
    return False


def _walk(term: Any, s: dict[Any, Any]) -> Any:
    while isvar(term) and term in s:
        term = s[term]
    return term
