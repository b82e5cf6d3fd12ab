"""Sizes that are not known: symbols, expressions over them, their ranges, and tensors that have such sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit._types import Size


class Symbol:
    """An integer that is known when the program runs. Symbols of one name are equal."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return str(other) == self.name if isinstance(other, (Symbol, str)) or type(other).__name__ == "Symbol" else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)


class _Infinity(int):
    """Stands for no upper end of a range."""

    def __repr__(self) -> str:
        return "int_oo"

    __str__ = __repr__


int_oo = _Infinity(2**63 - 1)


class ValueRanges:
    """The integers from lower to upper, both included."""

    def __init__(self, lower: int, upper: int) -> None:
        self.lower, self.upper = lower, upper

    @property
    def min_val(self) -> int:
        return self.lower

    @property
    def max_val(self) -> int:
        return self.upper

    def __contains__(self, x: int) -> bool:
        return self.lower <= x <= self.upper

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueRanges) and (self.lower, self.upper) == (other.lower, other.upper)

    def __hash__(self) -> int:
        return hash((self.lower, self.upper))

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"


# What operations on sizes compute, how Python writes them, and how tightly they bind.
_OPERATIONS: dict[str, tuple[Callable[[int, int], int], int]] = {
    "+": (lambda a, b: a + b, 1), "*": (lambda a, b: a * b, 2), "//": (lambda a, b: a // b, 2), "%": (lambda a, b: a % b, 2),
    "max": (max, 3), "min": (min, 3),
}  # fmt: skip


class SymInt:
    """An integer expression over symbols, with the value that it had when the program was captured.

    Comparisons and arithmetic with numbers give what they give for that value.
    """

    def __init__(self, form: Any, hints: dict[str, int]) -> None:
        self._form, self._hints = form, hints

    @property
    def node(self) -> SymInt:
        return self

    @property
    def hint(self) -> int:
        """The value in the example."""
        return _evaluate(self._form, self._hints)

    @property
    def expr(self) -> Any:
        """The expression: a Symbol where it is one, else its text."""
        return Symbol(self._form) if isinstance(self._form, str) else _text(self._form)[0]

    def evaluate(self, values: dict[str, int]) -> int:
        """The value where symbols have the given ones. Raises KeyError for a symbol without one."""
        return _evaluate(self._form, values)

    def free_symbols(self) -> set[Symbol]:
        return {Symbol(name) for name in _symbols(self._form)}

    def __int__(self) -> int:
        return self.hint

    __index__ = __int__

    def __bool__(self) -> bool:
        return self.hint != 0

    def __float__(self) -> float:
        return float(self.hint)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymInt):
            return bool(self._form == other._form)
        return self.hint == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return _text(self._form)[0]

    def __lt__(self, other: Any) -> bool:
        return self.hint < int(other)

    def __le__(self, other: Any) -> bool:
        return self.hint <= int(other)

    def __gt__(self, other: Any) -> bool:
        return self.hint > int(other)

    def __ge__(self, other: Any) -> bool:
        return self.hint >= int(other)

    def _with(self, operation: str, other: Any, swapped: bool = False) -> Any:
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        form = other._form if isinstance(other, SymInt) else int(other)
        hints = {**self._hints, **(other._hints if isinstance(other, SymInt) else {})}
        made = _combined(operation, *((form, self._form) if swapped else (self._form, form)))
        return made if isinstance(made, int) else SymInt(made, hints)

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with("+", -other if isinstance(other, int) else SymInt(_combined("*", -1, other._form), other._hints))

    def __rsub__(self, other: Any) -> Any:
        return SymInt(_combined("*", -1, self._form), self._hints) + other

    def __neg__(self) -> Any:
        return self * -1

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._with("//", other)

    def __mod__(self, other: Any) -> Any:
        return self._with("%", other)


def _evaluate(form: Any, values: dict[str, int]) -> int:
    if isinstance(form, str):
        return values[form]
    if isinstance(form, int):
        return form
    return _OPERATIONS[form[0]][0](_evaluate(form[1], values), _evaluate(form[2], values))


def _combined(operation: str, a: Any, b: Any) -> Any:
    """An operation on two expressions, with its constants together: in front of products, behind sums."""
    if isinstance(a, int) and isinstance(b, int):
        return _OPERATIONS[operation][0](a, b)
    if operation == "*" and isinstance(b, int) or operation == "+" and isinstance(a, int):
        a, b = b, a
    neutral, constant, rest = {"*": (1, a, b), "+": (0, b, a)}.get(operation, (1, b, a))
    if isinstance(constant, int):
        if constant == neutral and operation != "%":
            return rest
        inner = rest if isinstance(rest, list) and rest[0] == operation else None
        if operation == "*" and inner is not None and isinstance(inner[1], int):
            return _combined("*", a * inner[1], inner[2])
        if operation == "+" and inner is not None and isinstance(inner[2], int):
            return _combined("+", inner[1], b + inner[2])
    if operation == "*" and isinstance(a, list) and a[0] == "*" and isinstance(a[1], int):
        return _combined("*", a[1], _combined("*", a[2], b))
    return [operation, a, b]


def _symbols(form: Any) -> set[str]:
    if isinstance(form, list):
        return _symbols(form[1]) | _symbols(form[2])
    return {form} if isinstance(form, str) else set()


def affine(form: Any) -> tuple[str, int, int] | None:
    """(symbol, m, c) of an expression that is m*symbol + c with m > 0; None for others."""
    if isinstance(form, str):
        return form, 1, 0
    if not isinstance(form, list):
        return None
    operation, left, right = form
    if operation == "+" and isinstance(right, int):
        inner = affine(left)
        return inner and (inner[0], inner[1], inner[2] + right)
    if operation == "*" and isinstance(left, int) and left > 0:
        inner = affine(right)
        return inner and (inner[0], left * inner[1], left * inner[2])
    return None


def _text(form: Any) -> tuple[str, int]:
    """An expression as Python writes it, and how tightly it binds."""
    if not isinstance(form, list):
        return str(form), 3
    operation, left, right = form
    binds = _OPERATIONS[operation][1]
    if binds == 3:
        return f"{operation}({_text(left)[0]}, {_text(right)[0]})", 3
    a, b = _text(left), _text(right)
    if operation == "//":
        return f"({a[0] if a[1] > 1 else '(' + a[0] + ')'}//{b[0] if b[1] == 3 else '(' + b[0] + ')'})", 3
    if operation == "+":
        if isinstance(right, int) and right < 0:
            return f"{a[0]} - {-right}", 1
        return f"{a[0]} + {b[0]}", 1
    sides = [text if binding >= 2 else f"({text})" for text, binding in (a, b)]
    return f"{sides[0]}{operation}{sides[1]}", 2


def size_of(form: Any, hints: dict[str, int]) -> Any:
    """A size of a program: an int where it is constant."""
    return form if isinstance(form, int) else SymInt(form, hints)


class SymbolicSize(tuple[Any, ...]):
    """The shape of a tensor that has sizes which are symbols."""

    __slots__ = ()

    def numel(self) -> Any:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(str(n) for n in self)}])"


class FakeTensor(Tensor):
    """A tensor without elements: sizes, which may be symbols, an element type and a device."""

    _sizes: tuple[Any, ...]
    _place: Any
    _steps: tuple[Any, ...] | None

    @staticmethod
    def make(sizes: list[Any], strides: list[Any] | None, dtype: Any, device: Any, requires_grad: bool = False) -> FakeTensor:
        """A tensor of those sizes, strides, element type and device."""
        import torchjit as torch

        known = [int(n) for n in sizes]
        with torch.no_grad():
            base = torch.empty(known, dtype=dtype, device="meta")
            if strides is not None and len(strides) == len(sizes):
                base = torch.empty_strided(known, [int(n) for n in strides], dtype=dtype, device="meta")
        made = _native.TensorBase.__new__(FakeTensor, base)
        made._sizes, made._place = tuple(sizes), device
        made._steps = None if strides is None else tuple(strides)
        if requires_grad:
            made.requires_grad = True
        return made

    @property
    def shape(self) -> Any:
        return SymbolicSize(self._sizes) if any(isinstance(n, SymInt) for n in self._sizes) else Size(self._sizes)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self._sizes[dim]

    def stride(self, dim: int | None = None) -> Any:
        steps = self._steps if self._steps is not None else super().stride()
        return steps if dim is None else steps[dim]

    def numel(self) -> Any:
        return math.prod(self._sizes)

    @property
    def device(self) -> Any:
        return self._place

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        import torchjit as torch

        sizes = ", ".join(str(n) for n in self._sizes) + ("," if len(self._sizes) == 1 else "")
        text = f"FakeTensor(..., size=({sizes})"
        if str(self._place) != "cpu":
            text += f", device='{self._place}'"
        if self.dtype != torch.get_default_dtype():
            text += f", dtype={self.dtype}"
        return text + (", requires_grad=True)" if self.requires_grad else ")")

    __str__ = __repr__
