"""Dims: sizes that are to be symbols, and the linear expressions over them."""

from __future__ import annotations

from typing import Any

from torchjit.export._symbolic import int_oo


class _DimHint:
    """What is to become of a size that has no name: AUTO, DYNAMIC or STATIC; a call gives it a range."""

    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.kind: str = kind
        self.min: int | None = min
        self.max: int | None = max

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        """The hint with a range. Raises AssertionError for STATIC, TypeError where it has a range already."""
        if self.min is not None or self.max is not None:
            raise TypeError(f"'{type(self).__name__}' object is not callable")
        assert self.kind != "STATIC", "a size that is static has no range"
        assert min is None or min >= 0, "min must be non-negative"
        assert max is None or max >= 0, "max must be non-negative"
        assert min is None or max is None or min <= max, "min must be <= max"
        return _DimHint(self.kind, min, max)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DimHint) and (self.kind, self.min, self.max) == (other.kind, other.min, other.max)

    def __hash__(self) -> int:
        return hash((self.kind, self.min, self.max))

    def __repr__(self) -> str:
        bounds = [f"{name}={n}" for name, n in (("min", self.min), ("max", self.max)) if n is not None]
        return f"Dim.{self.kind}" + (f"({', '.join(bounds)})" if bounds else "")


class Dim:
    """A size that is to be dynamic, by a name, with the range that it is in.

    `2*dim`, `dim + 1` and `dim - 1` are sizes that follow from it. Dim.AUTO lets the export decide, Dim.DYNAMIC asks for a dynamic size and
    Dim.STATIC for one that is that of the example. Raises AssertionError for an empty range and for what is no name.

    >>> batch = torch.export.Dim("batch")
    >>> program = torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),), dynamic_shapes=({0: batch},))
    >>> program.module()(torch.rand(7, 3)).shape
    torch.Size([7, 2])
    """

    AUTO = _DimHint("AUTO")
    DYNAMIC = _DimHint("DYNAMIC")
    STATIC = _DimHint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min: int = 0 if min is None else min
        self.max: int = int_oo if max is None else max
        assert self.max > self.min, f"Cannot create Dim with inconsistent min={min}, max={max}"
        assert name.isidentifier(), f"Dim name must be a valid identifier, got {name}"
        self.__name__ = name

    def _derived(self, factor: int, rest: int) -> _DerivedDim:
        return _DerivedDim(self, factor, rest)

    def __add__(self, other: Any) -> _DerivedDim:
        _expect(type(other) is int, f"Attempted to add {other} to {self.__name__}, where an integer was expected.")
        return self._derived(1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> _DerivedDim:
        _expect(type(other) is int, f"Attempted to subtract {other} from {self.__name__}, where an integer was expected.")
        return self._derived(1, -other)

    def __rsub__(self, other: Any) -> _DerivedDim:
        raise NotImplementedError(f"Attempted to negate {self.__name__}." + _LINEAR)

    def __mul__(self, other: Any) -> _DerivedDim:
        ok = type(other) is int and other > 0
        _expect(ok, f"Attempted to multiply {other} with {self.__name__}, where a positive integer was expected.")
        return self._derived(other, 0)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        parts = [f"'{self.__name__}'"]
        if self.min != 0:
            parts.append(f"min={self.min}")
        if self.max is not int_oo:
            parts.append(f"max={self.max}")
        return f"Dim({', '.join(parts)})"


_LINEAR = " (Only increasing linear operations with integer coefficients are supported.)"


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise NotImplementedError(message + _LINEAR)


class _DerivedDim(Dim):
    """factor*root + rest."""

    def __init__(self, root: Dim, factor: int, rest: int) -> None:
        self.root: Dim = root
        self.factor: int = factor
        self.rest: int = rest
        text = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        if rest:
            text += f" + {rest}" if rest > 0 else f" - {-rest}"
        self.__name__ = text

    @property
    def min(self) -> int:  # type: ignore[override]
        return self.fn(self.root.min)

    @property
    def max(self) -> int:  # type: ignore[override]
        return int_oo if self.root.max is int_oo else self.fn(self.root.max)

    def fn(self, n: int) -> int:
        """What it is where its root is n."""
        return self.factor * n + self.rest

    def _derived(self, factor: int, rest: int) -> _DerivedDim:
        return _DerivedDim(self.root, factor * self.factor, factor * self.rest + rest)

    def __repr__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim for each name, all of one range.

    >>> height, width = torch.export.dims("height", "width", min=2)
    >>> height.__name__, width.__name__
    ('height', 'width')
    """
    return tuple(Dim(name, min=min, max=max) for name in names)
