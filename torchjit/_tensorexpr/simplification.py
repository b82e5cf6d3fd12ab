"""Simpler expressions and statements that mean the same."""

from __future__ import annotations

import math
from typing import Any

from torchjit._tensorexpr import expressions as ex
from torchjit._tensorexpr.expressions import Dtype, ExprHandle, Immediate
from torchjit._tensorexpr.statements import Block, Cond, For, Stmt, copied

Key = tuple[Any, ...]


def key(x: ExprHandle) -> Key:
    """What equal expressions have in common."""
    own: tuple[Any, ...] = ()
    if isinstance(x, Immediate):
        own = (str(x.value), x.dtype.text)
    elif isinstance(x, (ex.VarHandle, ex.BufHandle)):
        own = (id(x),)
    elif isinstance(x, ex.Load):
        own = (id(x.buf),)
    elif isinstance(x, (ex.Binary, ex.Compare)):
        own = (x.operator,)
    elif isinstance(x, (ex.Call, ex.Extreme)):
        own = (x.function,)
    elif isinstance(x, ex.Conversion):
        own = (x.dtype.text,)
    return (type(x).__name__, *own, *[key(p) for p in x.parts()])


def equal(a: ExprHandle, b: ExprHandle) -> bool:
    """Whether two expressions are the same when they are simplified."""
    return key(simplified(a)) == key(simplified(b))


class Polynomial:
    """A sum of products of what is no sum, with integers for coefficients."""

    def __init__(self) -> None:
        self.terms: dict[tuple[Key, ...], tuple[int, tuple[ExprHandle, ...]]] = {}  # by the keys of the factors

    def add(self, coefficient: int, factors: tuple[ExprHandle, ...]) -> None:
        """Adds a product."""
        factors = tuple(sorted(factors, key=lambda f: repr(key(f))))
        keys = tuple(key(f) for f in factors)
        total = self.terms.get(keys, (0, factors))[0] + coefficient
        self.terms[keys] = (total, factors)
        if not total:
            del self.terms[keys]

    def constant(self) -> int:
        """The term without factors."""
        return self.terms.get((), (0, ()))[0]

    def expression(self, dtype: Dtype) -> ExprHandle:
        """The sum as an expression: common factors before it, the number last."""
        left = [(c, f) for c, f in self.terms.values() if f]
        number = self.constant()
        common = math.gcd(*[c for c, _ in left], number) if left else 1
        if common > 1 and len(left) + bool(number) > 1 and not number:
            inside = Polynomial()
            for c, f in left:
                inside.add(c // common, f)
            return ex.binary("*", Immediate(common, dtype), inside.expression(dtype))
        made: ExprHandle | None = None
        for c, factors in sorted(left, key=lambda t: (t[0] < 0, abs(t[0]))):
            product = factors[0]
            for factor in factors[1:]:
                product = ex.binary("*", product, factor)
            size = abs(c) if made is not None and c < 0 else c
            if size != 1:
                product = ex.binary("*", Immediate(size, dtype), product)
            made = product if made is None else ex.binary("-" if c < 0 else "+", made, product)
        if made is None:
            return Immediate(number, dtype)
        if number:
            made = ex.binary("-" if number < 0 else "+", made, Immediate(abs(number), dtype))
        return made


def polynomial(x: ExprHandle) -> Polynomial:
    """An expression of integers as a polynomial."""
    made = Polynomial()
    _expand(x, 1, (), made)
    return made


def _expand(x: ExprHandle, coefficient: int, factors: tuple[ExprHandle, ...], into: Polynomial) -> None:
    if isinstance(x, Immediate):
        into.add(coefficient * int(x.value), factors)
    elif isinstance(x, ex.Binary) and x.operator in "+-":
        a, b = x.parts()
        _expand(a, coefficient, factors, into)
        _expand(b, -coefficient if x.operator == "-" else coefficient, factors, into)
    elif isinstance(x, ex.Binary) and x.operator == "*":
        left, right = (polynomial(p) for p in x.parts())
        for c, f in left.terms.values():
            for d, g in right.terms.values():
                into.add(coefficient * c * d, (*factors, *f, *g))
    elif isinstance(x, ex.Conversion) and not x.parts()[0].dtype.floats and isinstance(x.parts()[0], Immediate):
        _expand(x.parts()[0], coefficient, factors, into)
    else:
        into.add(coefficient, (*factors, x))


def _folded(x: ExprHandle) -> ExprHandle | None:
    p = x.parts()
    known = p and all(isinstance(q, Immediate) for q in p)
    if isinstance(x, ex.Conversion) and known and x.dtype.floats:
        return Immediate(float(p[0].value), x.dtype)  # type: ignore[attr-defined]
    if isinstance(x, ex.Binary) and not x.dtype.floats and x.dtype != Dtype.Bool:
        if x.operator in "+-*":
            return polynomial(x).expression(x.dtype)
        if isinstance(p[1], Immediate) and int(p[1].value) and x.operator in "/%":
            return _divided(x, int(p[1].value))
        if isinstance(p[0], Immediate) and not p[0].value and x.operator in "/%":
            return Immediate(0, x.dtype)
    if isinstance(x, ex.Binary) and known and x.dtype.floats and x.operator in "+-*/":
        from torchjit._tensorexpr.evaluation import evaluate

        return Immediate(float(evaluate(x)), x.dtype)
    if isinstance(x, ex.Extreme) and not x.dtype.floats:
        if known:
            return Immediate((max if x.function == "Max" else min)(int(q.value) for q in p), x.dtype)  # type: ignore[attr-defined]
        if key(p[0]) == key(p[1]):
            return p[0]
    if isinstance(x, ex.Compare) and not p[0].dtype.floats:
        difference = polynomial(ex.binary("-", p[0], p[1]))
        if not difference.terms or list(difference.terms) == [()]:
            d = difference.constant()
            holds = {"==": d == 0, "!=": d != 0, "<": d < 0, "<=": d <= 0, ">": d > 0, ">=": d >= 0}[x.operator]
            return p[2] if holds else p[3]
    if isinstance(x, ex.Select) and isinstance(p[0], Immediate):
        return p[1] if p[0].value else p[2]
    return None


def _divided(x: ex.Binary, by: int) -> ExprHandle | None:
    a = x.parts()[0]
    if x.operator == "%" and by == 1:
        return Immediate(0, x.dtype)
    if isinstance(a, Immediate):
        quotient = abs(int(a.value)) // abs(by) * (1 if (int(a.value) < 0) == (by < 0) else -1)
        return Immediate(quotient if x.operator == "/" else int(a.value) - quotient * by, x.dtype)
    sum_ = polynomial(a)
    if all(c % by == 0 for c, _ in sum_.terms.values()):
        if x.operator == "%":
            return Immediate(0, x.dtype)
        made = Polynomial()
        for c, f in sum_.terms.values():
            made.add(c // by, f)
        return made.expression(x.dtype)
    return None


def simplified(x: ExprHandle) -> ExprHandle:
    """A simpler expression with the same value."""
    return ex.rebuilt(x, _folded)


def simplify(s: Stmt) -> Stmt:
    """A simpler statement that does the same: torch._C._te.simplify."""
    found = _simplify(s)
    return found[0] if len(found) == 1 and not isinstance(s, Block) else Block(found)


def _simplify(s: Stmt) -> list[Stmt]:
    if isinstance(s, Block):
        return [made for inner in s.stmts() for made in _simplify(inner)]
    if isinstance(s, For):
        start, stop = simplified(s.start), simplified(s.stop)
        rounds = polynomial(ex.binary("-", stop, start))
        if not rounds.terms or list(rounds.terms) == [()]:
            if rounds.constant() <= 0:
                return []
            if rounds.constant() == 1 and not s.note:
                return _simplify(copied(s.body(), {id(s.var): start}))
        body = _simplify(s.body())
        if not body:
            return []
        made = For(s.var, start, stop, Block(body))
        made.note = s.note
        return [made]
    if isinstance(s, Cond):
        condition = simplified(s.condition)
        yes = _simplify(s.true_stmt())
        no = _simplify(s.false_stmt()) if s.false_stmt() is not None else []  # type: ignore[arg-type]
        if isinstance(condition, Immediate):
            return yes if condition.value else no
        return [Cond(condition, Block(yes), Block(no) if no else None)] if yes or no else []
    return [s.clone(simplified)]
