"""Operations on a data frame that are noted, and done on one that is given later."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["CaptureDataFrame"]


def _value(x: Any, frame: Any) -> Any:
    return x._capture_of(frame) if isinstance(x, CaptureDataFrame) else x


class CaptureDataFrame:
    """What a data frame will be, or what operations on it will give. Assignments to columns are done in their order."""

    def __init__(self, of: Callable[[Any], Any] | None = None, assignments: list[Callable[[Any], None]] | None = None) -> None:
        object.__setattr__(self, "_capture_of", of or (lambda frame: frame))
        object.__setattr__(self, "_assignments", [] if assignments is None else assignments)

    def apply_ops(self, dataframe: Any) -> Any:
        """The noted operations on a data frame: the assignments, then the result."""
        for assign in self._assignments:
            assign(dataframe)
        return self._capture_of(dataframe)

    def _noted(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> CaptureDataFrame:
        def of(frame: Any) -> Any:
            return function(self._capture_of(frame), *(_value(x, frame) for x in args), **{name: _value(x, frame) for name, x in kwargs.items()})

        return CaptureDataFrame(of, self._assignments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._noted(getattr, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._assignments.append(lambda frame: setattr(self._capture_of(frame), name, _value(value, frame)))

    def __getitem__(self, key: Any) -> CaptureDataFrame:
        return self._noted(operator.getitem, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._assignments.append(lambda frame: operator.setitem(self._capture_of(frame), _value(key, frame), _value(value, frame)))

    def __call__(self, *args: Any, **kwargs: Any) -> CaptureDataFrame:
        return self._noted(lambda function, *given, **named: function(*given, **named), *args, **kwargs)


def _give(name: str) -> None:
    plain = getattr(operator, name)
    setattr(CaptureDataFrame, f"__{name.rstrip('_')}__", lambda self, other: self._noted(plain, other))
    setattr(CaptureDataFrame, f"__r{name.rstrip('_')}__", lambda self, other: self._noted(lambda x, y: plain(y, x), other))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    _give(_name)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _give(_name)
CaptureDataFrame.__hash__ = object.__hash__  # type: ignore[method-assign]
