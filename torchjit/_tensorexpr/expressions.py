"""Scalar expressions of tensor expressions: variables, buffers, numbers and what is computed of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit


class Dtype:
    """The type of the elements of a buffer or of an expression."""

    Byte: Dtype
    Char: Dtype
    Short: Dtype
    Int: Dtype
    Long: Dtype
    Half: Dtype
    Float: Dtype
    Double: Dtype
    Bool: Dtype
    BFloat16: Dtype

    def __init__(self, dtype: Any) -> None:
        if isinstance(dtype, Dtype):
            dtype = dtype.torch
        if dtype not in _C_NAMES:
            raise TypeError(f"Dtype(): no elements of tensor expressions have the type {dtype}")
        self.torch: torchjit.dtype = dtype

    @property
    def text(self) -> str:
        """The name of the type in C."""
        return _C_NAMES[self.torch]

    @property
    def floats(self) -> bool:
        """Whether the elements are floats."""
        return bool(self.torch.is_floating_point)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dtype) and self.torch == other.torch

    def __hash__(self) -> int:
        return hash(self.torch)

    def __repr__(self) -> str:
        return f"Dtype({self.torch})"


_C_NAMES = {
    torchjit.uint8: "uint8_t", torchjit.int8: "int8_t", torchjit.int16: "int16_t", torchjit.int32: "int", torchjit.int64: "int64_t", torchjit.float16: "half",
    torchjit.float32: "float", torchjit.float64: "double", torchjit.bool: "bool", torchjit.bfloat16: "bfloat16",
}  # fmt: skip
for _name, _dtype in zip("Byte Char Short Int Long Half Float Double Bool BFloat16".split(), _C_NAMES):
    setattr(Dtype, _name, Dtype(_dtype))
_INTEGERS = [Dtype.Byte, Dtype.Char, Dtype.Short, Dtype.Int, Dtype.Long]


def promoted(a: Dtype, b: Dtype) -> Dtype:
    """The type in which an operator computes with two types."""
    return Dtype(torchjit.promote_types(a.torch, b.torch))


class ExprHandle:
    """An expression. A number becomes one of the smallest type of integers that holds it, or a float."""

    dtype: Dtype
    rank = 99  # how loosely the text of the expression binds
    _parts: tuple[ExprHandle, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is ExprHandle:
            if len(args) != 1 or kwargs:
                raise TypeError("ExprHandle() takes one number")
            return expression(args[0])
        return super().__new__(cls)

    def parts(self) -> tuple[ExprHandle, ...]:
        """The expressions of which it is made."""
        return self._parts

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return self

    def __str__(self) -> str:
        return text(self, Names())

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value before it runs")

    def __add__(self, other: Any) -> ExprHandle:
        return binary("+", self, other)

    def __sub__(self, other: Any) -> ExprHandle:
        return binary("-", self, other)

    def __mul__(self, other: Any) -> ExprHandle:
        return binary("*", self, other)

    def __truediv__(self, other: Any) -> ExprHandle:
        return binary("/", self, other)

    def __mod__(self, other: Any) -> ExprHandle:
        return binary("%", self, other)

    def __and__(self, other: Any) -> ExprHandle:
        return binary("&", self, other)

    def __or__(self, other: Any) -> ExprHandle:
        return binary("|", self, other)

    def __xor__(self, other: Any) -> ExprHandle:
        return binary("^", self, other)

    def __lshift__(self, other: Any) -> ExprHandle:
        return binary("<<", self, other)

    def __rshift__(self, other: Any) -> ExprHandle:
        return binary(">>", self, other)

    def __pow__(self, other: Any) -> ExprHandle:
        return call("pow", self, other)

    def __eq__(self, other: Any) -> Any:
        return compare("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return compare("!=", self, other)

    def __lt__(self, other: Any) -> ExprHandle:
        return compare("<", self, other)

    def __le__(self, other: Any) -> ExprHandle:
        return compare("<=", self, other)

    def __gt__(self, other: Any) -> ExprHandle:
        return compare(">", self, other)

    def __ge__(self, other: Any) -> ExprHandle:
        return compare(">=", self, other)

    def cast(self, dtype: Dtype) -> ExprHandle:
        """The value as another type."""
        return cast(self, dtype)


class Immediate(ExprHandle):
    """A number."""

    rank = 1

    def __init__(self, value: Any, dtype: Dtype) -> None:
        self.value, self.dtype = value, dtype


class VarHandle(ExprHandle):
    """A variable: of a loop, or an argument."""

    rank = 1

    def __init__(self, name: Any, dtype: Dtype | None = None) -> None:
        if isinstance(name, Dtype):
            name, dtype = "v", name
        if not isinstance(name, str) or not isinstance(dtype, Dtype):
            raise TypeError("VarHandle() takes a name and a Dtype, or a Dtype")
        self.name, self.dtype = name, dtype


class BufHandle(ExprHandle):
    """A buffer: memory of elements with dimensions."""

    def __init__(self, *args: Any) -> None:
        name = "_"
        if args and isinstance(args[0], str):
            name, args = args[0], args[1:]
        *dims, dtype = args or (None,)
        if not isinstance(dtype, Dtype) or len(dims) > 1:
            raise TypeError("BufHandle() takes a name, a list of dimensions and a Dtype; the first two may be left out")
        self.name, self.dtype = name, dtype
        self.dims = [expression(d, wide=True) for d in (dims[0] if dims else [])]

    def strides(self) -> list[ExprHandle]:
        """How far apart the elements of each dimension are."""
        made: list[ExprHandle] = [Immediate(1, d.dtype) for d in self.dims[-1:]]
        for d in reversed(self.dims[1:]):
            made.insert(0, binary("*", made[0], d))
        return made

    def load(self, indices: Any) -> ExprHandle:
        """The element at indices."""
        return Load(self, _indices(indices))

    def store(self, indices: Any, value: Any) -> Any:
        """The statement that writes the element at indices."""
        from torchjit._tensorexpr.statements import Store

        return Store(self, _indices(indices), expression(value))


def _indices(indices: Any) -> list[ExprHandle]:
    return [expression(i, wide=True) for i in (indices if isinstance(indices, (list, tuple)) else [indices])]


class Binary(ExprHandle):
    """An operator of two numbers of one type."""

    def __init__(self, operator: str, a: ExprHandle, b: ExprHandle) -> None:
        self.operator, self._parts, self.dtype = operator, (a, b), a.dtype
        self.rank = _RANKS[operator]

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return binary(self.operator, *parts)


_RANKS = {"*": 5, "/": 5, "%": 5, "+": 6, "-": 6, "<<": 7, ">>": 7, "==": 9, "!=": 9, "<": 9, "<=": 9, ">": 9, ">=": 9, "&": 11, "^": 12, "|": 13}


class Compare(ExprHandle):
    """One value where two numbers compare, and another where they do not."""

    rank = 9

    def __init__(self, operator: str, a: ExprHandle, b: ExprHandle, yes: ExprHandle, no: ExprHandle) -> None:
        self.operator, self._parts, self.dtype = operator, (a, b, yes, no), yes.dtype

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Compare(self.operator, *parts)


class Conversion(ExprHandle):
    """A value as another type."""

    rank = 2

    def __init__(self, x: ExprHandle, dtype: Dtype) -> None:
        self._parts, self.dtype = (x,), dtype

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return cast(parts[0], self.dtype)


class Load(ExprHandle):
    """An element of a buffer."""

    def __init__(self, buf: BufHandle, indices: Sequence[ExprHandle]) -> None:
        self.buf, self._parts, self.dtype = buf, tuple(indices), buf.dtype

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Load(self.buf, parts)


class Call(ExprHandle):
    """A function of numbers."""

    def __init__(self, function: str, args: Sequence[ExprHandle], dtype: Dtype) -> None:
        self.function, self._parts, self.dtype = function, tuple(args), dtype

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Call(self.function, parts, self.dtype)


class Select(ExprHandle):
    """One of two values, by a condition."""

    def __init__(self, condition: ExprHandle, yes: ExprHandle, no: ExprHandle) -> None:
        self._parts, self.dtype = (condition, yes, no), yes.dtype

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Select(*parts)


class Extreme(ExprHandle):
    """The larger or the smaller of two numbers."""

    def __init__(self, function: str, a: ExprHandle, b: ExprHandle, propagates: bool = True) -> None:
        self.function, self._parts, self.dtype, self.propagates = function, (a, b), a.dtype, propagates

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Extreme(self.function, parts[0], parts[1], self.propagates)


class Reduction(ExprHandle):
    """What a step of a reduction writes, with the variables over which it goes."""

    def __init__(self, body: ExprHandle, over: Sequence[VarHandle], reducer: Any) -> None:
        self._parts, self.dtype, self.over, self.reducer = (body,), body.dtype, list(over), reducer

    def with_parts(self, parts: Sequence[ExprHandle]) -> ExprHandle:
        """The same of other expressions."""
        return Reduction(parts[0], self.over, self.reducer)


# How expressions are made.


def expression(x: Any, wide: bool = False) -> ExprHandle:
    """An expression of an expression or a number; wide says that integers become ints."""
    if isinstance(x, ExprHandle):
        return x
    if isinstance(x, bool):
        return Immediate(x, Dtype.Bool)
    if isinstance(x, int):
        for dtype in _INTEGERS[3 if wide else 0 :]:
            limits = torchjit.iinfo(dtype.torch)
            if limits.min <= x <= limits.max:
                return Immediate(x, dtype)
    if isinstance(x, float):
        return Immediate(x, Dtype.Float)
    raise TypeError(f"an expression is an ExprHandle or a number, not {x!r}")


def _number(name: str, dtype: Dtype) -> Callable[[Any], ExprHandle]:
    def make(value: Any) -> ExprHandle:
        if dtype.floats:
            return Immediate(float(value), dtype)
        if dtype != Dtype.Bool:
            limits = torchjit.iinfo(dtype.torch)
            if isinstance(value, float) or not limits.min <= value <= limits.max:
                raise TypeError(f"{name}(): no {dtype.text} is {value!r}")
            return Immediate(int(value), dtype)
        return Immediate(bool(value), dtype)

    make.__name__, make.__doc__ = name, f"A number of type {dtype.text}."
    return make


for _of in [*_INTEGERS, Dtype.Float, Dtype.Double]:
    setattr(ExprHandle, _of.text, staticmethod(_number(_of.text, _of)))
for _name in ("BFloat16", "Bool", "Half"):
    _called = f"decltype(::c10::impl::ScalarTypeToCPPType< ::c10::ScalarType::{_name}>::t)"  # so PyTorch calls it
    setattr(ExprHandle, _called, staticmethod(_number(_called, getattr(Dtype, _name))))


def cast(x: ExprHandle, dtype: Dtype) -> ExprHandle:
    """A value as a type; itself where it has the type."""
    return x if x.dtype == dtype else Conversion(x, dtype)


def _same(a: Any, b: Any) -> tuple[ExprHandle, ExprHandle]:
    a, b = expression(a), expression(b)
    dtype = promoted(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


def binary(operator: str, a: Any, b: Any) -> ExprHandle:
    """An operator of two expressions or numbers."""
    a, b = _same(a, b)
    if a.dtype.floats and operator in ("&", "|", "^", "<<", ">>"):
        raise RuntimeError(f"UNSUPPORTED DTYPE: {operator} of {a.dtype.text}")
    return Binary(operator, a, b)


def compare(operator: str, a: Any, b: Any) -> ExprHandle:
    """1 where two expressions or numbers compare, and 0 where they do not."""
    return Compare(operator, *_same(a, b), Immediate(1, Dtype.Int), Immediate(0, Dtype.Int))


def call(function: str, *args: Any) -> ExprHandle:
    """A function of expressions or numbers."""
    given = [expression(a) for a in args]
    dtype = given[0].dtype
    for a in given[1:]:
        dtype = promoted(dtype, a.dtype)
    given = [cast(a, dtype) for a in given]
    if function == "isnan":
        dtype = Dtype.Int
    elif not dtype.floats and function not in ("abs", "fmod", "remainder", "pow"):
        dtype = Dtype.Float
    return Call(function, given, dtype)


def select(condition: Any, yes: Any, no: Any) -> ExprHandle:
    """One of two values, by a condition."""
    return Select(expression(condition), *_same(yes, no))


def extreme(function: str, a: Any, b: Any) -> ExprHandle:
    """The larger or the smaller of two expressions or numbers: "Max" or "Min"."""
    return Extreme(function, *_same(a, b))


FUNCTIONS = """
    sin cos tan asin acos atan sinh cosh tanh sigmoid exp expm1 abs log log2 log10 log1p erf erfc sqrt rsqrt ceil floor round trunc frac
    lgamma isnan
""".split()
OF_TWO = "atan2 pow fmod remainder".split()
_FAST = {"fast_log": "log", "log_vml": "log", "fast_tanh": "tanh", "fast_sigmoid": "sigmoid"}  # here they are as exact as any


def _method(name: str) -> Callable[[Any], ExprHandle]:
    def method(self: Any) -> ExprHandle:
        return call(_FAST.get(name, name), self)

    method.__name__, method.__doc__ = name, f"{_FAST.get(name, name)} of the value."
    return method


for _name in [*FUNCTIONS, *_FAST]:
    setattr(ExprHandle, _name, _method(_name))


# What is done with expressions.


def walk(x: ExprHandle) -> Iterator[ExprHandle]:
    """The expression and all that it is made of."""
    yield x
    for part in x.parts():
        yield from walk(part)


def rebuilt(x: ExprHandle, change: Callable[[ExprHandle], ExprHandle | None]) -> ExprHandle:
    """The expression in which what change returns stands for a part; None leaves the part."""
    parts = x.parts()
    if parts:
        new = [rebuilt(p, change) for p in parts]
        if any(n is not p for n, p in zip(new, parts)):
            x = x.with_parts(new)
    changed = change(x)
    return x if changed is None else changed


def substituted(x: ExprHandle, values: dict[int, ExprHandle]) -> ExprHandle:
    """The expression with values for variables, by their ids."""
    return rebuilt(x, lambda v: values.get(id(v)))


class Names:
    """Names of variables and buffers in a text: those that are taken get numbers."""

    def __init__(self) -> None:
        self._given: dict[int, str] = {}
        self._taken: set[str] = set()
        self._kept: list[Any] = []

    def of(self, x: Any) -> str:
        """The name of a variable or a buffer."""
        if id(x) not in self._given:
            name, number = x.name, 0
            while name in self._taken:
                number += 1
                name = f"{x.name}_{number}"
            self._given[id(x)] = name
            self._taken.add(name)
            self._kept.append(x)
        return self._given[id(x)]


def _number_text(x: Immediate) -> str:
    if x.dtype.floats:
        v = float(torchjit.tensor(x.value, dtype=x.dtype.torch))
        if not math.isfinite(v):
            return "NAN" if math.isnan(v) else "POS_INFINITY" if v > 0 else "NEG_INFINITY"
        ending = {Dtype.Float: "f", Dtype.Half: "h"}.get(x.dtype, "")
        if v == math.floor(v) and abs(v) < 1e16:
            return f"{v:.0f}.{ending}" if ending else f"{v:.1f}"
        return f"{v:.16g}{ending}"
    return f"{int(x.value)}ll" if x.dtype == Dtype.Long else str(int(x.value))


def text(x: ExprHandle, names: Names) -> str:
    """The expression as text."""

    def of(part: ExprHandle, rank: int | None = None) -> str:
        made = text(part, names)
        return f"({made})" if rank is not None and part.rank >= rank else made

    p = x.parts()
    if isinstance(x, Immediate):
        return _number_text(x)
    if isinstance(x, VarHandle):
        return names.of(x)
    if isinstance(x, BufHandle):
        dims, strides = ", ".join(of(d) for d in x.dims), ", ".join(of(s) for s in x.strides())
        return f"{names.of(x)}(dtype={x.dtype.text}, sizes=[{dims}], strides=[{strides}])"
    if isinstance(x, Binary):
        return f"{of(p[0], x.rank)} {x.operator} {of(p[1], x.rank)}"
    if isinstance(x, Compare):
        return f"{of(p[0], x.rank)}{x.operator}{of(p[1], x.rank)} ? {of(p[2], x.rank)} : {of(p[3], x.rank)}"
    if isinstance(x, Conversion):
        return f"{x.dtype.text}({of(p[0])})"
    if isinstance(x, Load):
        return f"{names.of(x.buf)}[{', '.join(of(i) for i in p)}]"
    if isinstance(x, Select):
        return f"IfThenElse({', '.join(of(i) for i in p)})"
    if isinstance(x, Extreme):
        return f"{x.function}({of(p[0])}, {of(p[1])}, {int(x.propagates)})"
    if isinstance(x, Reduction):
        return f"ReduceOp({of(p[0])}, reduce_args={{{', '.join(names.of(v) for v in x.over)}}})"
    assert isinstance(x, Call)
    return f"{x.function}({', '.join(of(i) for i in p)})"
