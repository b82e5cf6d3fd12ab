"""What a schema says of memory once the values of arguments are known: torch._C._SchemaInfo."""

from __future__ import annotations

import enum
from typing import Any

from torchjit import _native


class _SchemaArgType(enum.IntEnum):
    """Whether an argument of a schema is one that is taken or one that is returned."""

    input = 0
    output = 1


class _SchemaArgument:
    """The argument or the return of a number."""

    def __init__(self, type: _SchemaArgType, index: int) -> None:
        self.type, self.index = type, index


def _share(a: Any, b: Any) -> bool:
    """Whether two values have the memory of one tensor among them."""
    from torchjit import _C

    first, second = (x[0] for x in (_C._jit_flatten(_plain(a)), _C._jit_flatten(_plain(b))))
    return any(_native.tensor_shares_storage(x, y) for x in first for y in second)


def _plain(x: Any) -> Any:
    """A value whose numbers are left out."""
    if isinstance(x, (list, tuple)):
        return [_plain(item) for item in x]
    return x if isinstance(x, _native.TensorBase) else None


class _SchemaInfo:
    """A schema with the values of some of its arguments."""

    def __init__(self, schema: Any) -> None:
        self._schema, self._values = schema, {}  # type: Any, dict[int, Any]

    def _index(self, name: str) -> int:
        for i, argument in enumerate(self._schema.arguments):
            if argument.name == name:
                return i
        raise RuntimeError(f"Schema has no argument named {name}")

    def has_argument(self, name: str) -> bool:
        """Whether the schema has an argument of that name."""
        return any(argument.name == name for argument in self._schema.arguments)

    def add_argument_value(self, name: str, value: Any) -> None:
        """Says what an argument is. Raises RuntimeError where the schema has none of that name."""
        self._values[self._index(name)] = value

    def add_argument_values(self, values: dict[str, Any]) -> None:
        """Says what arguments are; others are left out."""
        for name, value in values.items():
            if self.has_argument(name) and value is not None:
                self.add_argument_value(name, value)

    def _argument(self, a: _SchemaArgument) -> Any:
        of = self._schema.arguments if a.type == _SchemaArgType.input else self._schema.returns
        if not 0 <= a.index < len(of):
            raise RuntimeError("Invalid index for schema.")
        return of[a.index]

    def is_mutable(self, argument: Any = None) -> bool:
        """Whether an argument, given by its name or as a _SchemaArgument, is written; without one, whether any is."""
        if argument is None:
            return any(a.alias_info is not None and a.alias_info.is_write for a in self._schema.arguments)
        a = _SchemaArgument(_SchemaArgType.input, self._index(argument)) if isinstance(argument, str) else argument
        inputs = [_SchemaArgument(_SchemaArgType.input, i) for i in range(len(self._schema.arguments))]
        written = [b for b in (*inputs, a) if (info := self._argument(b).alias_info) is not None and info.is_write]
        return any(b is a or self.may_alias(a, b) for b in written)

    def _sets(self, a: _SchemaArgument) -> set[str]:
        info = self._argument(a).alias_info
        return set() if info is None else info.before_set | info.after_set

    def _same_memory(self, a: _SchemaArgument, b: _SchemaArgument) -> bool:
        """Whether the values of two arguments share memory."""
        known = a.type == b.type == _SchemaArgType.input and a.index in self._values and b.index in self._values
        return known and _share(self._values[a.index], self._values[b.index])

    def _sources(self, a: _SchemaArgument) -> list[_SchemaArgument]:
        """The arguments whose memory one may have."""
        if a.type == _SchemaArgType.input:
            return [a]
        inputs = [_SchemaArgument(_SchemaArgType.input, i) for i in range(len(self._schema.arguments))]
        return [i for i in inputs if self._sets(i) & self._sets(a)]

    def may_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument) -> bool:
        """Whether two arguments or returns may share memory."""
        if self._sets(lhs) & self._sets(rhs):
            return True
        return any(self._same_memory(a, b) for a in self._sources(lhs) for b in self._sources(rhs))

    def may_contain_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument, bidirectional: bool = True) -> bool:
        """Whether two arguments or returns may share memory, or one may hold what shares memory with the other."""
        return self.may_alias(lhs, rhs) or self._wild(lhs) and self._holds(rhs) or bidirectional and self._wild(rhs) and self._holds(lhs)

    def _wild(self, a: _SchemaArgument) -> bool:
        return "*" in self._sets(a)

    def _holds(self, a: _SchemaArgument) -> bool:
        return "[" in self._argument(a).type.annotation_str
