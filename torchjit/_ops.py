"""Operators as torch.ops has them: a packet for each name, whose attributes are its overloads."""

from __future__ import annotations

import functools
from typing import Any

from torchjit import _lazy, _native


def _is_refused(error: TypeError) -> bool:
    """Whether an operator says that arguments fit none of its overloads."""
    return "invalid combination of arguments" in str(error)


def _refusal(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RuntimeError:
    """What is wrong with arguments for a schema."""
    from torchjit import _C

    name, parameters = schema.name, schema.arguments
    if len(args) + len(kwargs) > len(parameters):
        return RuntimeError(f"{name}() expected at most {len(parameters)} argument(s) but received {len(args) + len(kwargs)} argument(s). Declaration: {schema}")
    positional = [p for p in parameters if not p.kwarg_only]
    if len(args) > len(positional):
        return RuntimeError(f"{name}() takes {len(positional)} positional argument(s) but {len(args)} was/were given.  Declaration: {schema}")
    for unknown in kwargs.keys() - {p.name for p in parameters}:
        return RuntimeError(f"Unknown keyword argument '{unknown}' for operator '{name}'. Schema: {schema}")
    given = {**{p.name: value for p, value in zip(positional, args, strict=False)}, **kwargs}
    for p in parameters:
        if p.name not in given:
            if not p.has_default_value():
                return RuntimeError(f"{name}() is missing value for argument '{p.name}'. Declaration: {schema}")
            continue
        infer: Any = _C._jit_try_infer_type
        found = infer(given[p.name])
        if not found.success() or not found.type().isSubtypeOf(p.type):
            wrong = p, type(given[p.name]).__name__
            break
    else:
        wrong = parameters[0], type(given[parameters[0].name]).__name__
    return RuntimeError(
        f"{name}() Expected a value of type '{wrong[0].type.annotation_str}' for argument '{wrong[0].name}' but instead found type '{wrong[1]}'.\n"
        f"Declaration: {schema}"
    )


def _lists_of(schema: Any) -> list[bool]:
    """Which of an operator's results are lists."""
    return [r.type.kind() == "ListType" for r in schema.returns]


def _results(found: tuple[Any, ...], lists: list[bool]) -> Any:
    """What programs get of the results that a function of torch gives as tuples, lists of tensors too."""
    if lists == [True]:
        return list(found)
    if any(lists) and len(lists) == len(found):
        return tuple(list(x) if is_list and isinstance(x, tuple) else x for x, is_list in zip(found, lists, strict=True))
    return tuple(found)


class OpOverload:
    """One overload of an operator: torch.ops.aten.add.Tensor."""

    def __init__(self, overloadpacket: OpOverloadPacket, op: Any, overload: str) -> None:
        self._overloadpacket, self._op, self._overloadname = overloadpacket, op, overload
        op._public = self  # what __torch_function__ is told of
        self.__name__ = f"{overloadpacket.__name__}.{overload}"
        self.__module__ = overloadpacket.__module__

    @property
    def _schema(self) -> Any:
        from torchjit import _C

        key = "" if self._overloadname == "default" else self._overloadname
        found = _C._jit_get_schemas_for_operator(self._overloadpacket._qualified_op_name)
        return next(s for s in found if s.overload_name == key)

    @property
    def tags(self) -> list[Any]:
        """What torch.Tag says of the overload."""
        from torchjit._dispatch_keys import tags_of

        return list(tags_of(self._schema))

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator with all its overloads."""
        return self._overloadpacket

    @property
    def namespace(self) -> str:
        return self._overloadpacket._qualified_op_name.partition("::")[0]

    def name(self) -> str:
        """The name with the namespace and the overload."""
        full = self._overloadpacket._qualified_op_name
        return full if self._overloadname == "default" else f"{full}.{self._overloadname}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= self._parameters:
            raise _refusal(self._schema, args, kwargs)
        try:
            found = self._op(*args, **kwargs)
        except TypeError as e:
            if not _is_refused(e):
                raise
            raise _refusal(self._schema, args, kwargs) from None
        return _results(found, self._lists) if isinstance(found, tuple) else found

    @functools.cached_property
    def _parameters(self) -> set[str]:
        return {p.name for p in self._schema.arguments}

    @functools.cached_property
    def _lists(self) -> list[bool]:
        return _lists_of(self._schema)

    def __deepcopy__(self, memo: Any = None) -> OpOverload:
        return self

    def __repr__(self) -> str:
        namespace, _, name = self._overloadpacket._qualified_op_name.partition("::")
        return f"<OpOverload(op='{namespace}.{name}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self._overloadpacket}.{self._overloadname}"

    def __hash__(self) -> int:
        return hash(self.name())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self.name() == other.name()


class OpOverloadPacket:
    """An operator: torch.ops.aten.add. A call takes the overload that the arguments fit."""

    def __init__(self, qualified_op_name: str, op_name: str, op: Any) -> None:
        self._qualified_op_name, self._op = qualified_op_name, op
        op._public = self
        self.__name__ = op_name
        self.__module__ = f"torchjit._ops.{qualified_op_name.partition('::')[0]}"

    def overloads(self) -> list[str]:
        """The names of the overloads; that without a name is "default"."""
        from torchjit import _C

        return [s.overload_name or "default" for s in _C._jit_get_schemas_for_operator(self._qualified_op_name)]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{key}'")
        full = self._qualified_op_name if key == "default" else f"{self._qualified_op_name}.{key}"
        found = _native.operator_overload(full)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        overload = OpOverload(self, found, key)
        setattr(self, key, overload)
        return overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= self._parameters:
            raise self._refusal(args, kwargs, f"no overload has the parameters {sorted(kwargs)}")
        try:
            found = self._op(*args, **kwargs)
        except TypeError as e:
            if not _is_refused(e):
                raise
            raise self._refusal(args, kwargs, e) from None
        return _results(found, self._lists) if isinstance(found, tuple) else found

    def _refusal(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: object) -> RuntimeError:
        from torchjit import _C

        schemas = _C._jit_get_schemas_for_operator(self._qualified_op_name)
        if len(schemas) == 1:
            return _refusal(schemas[0], args, kwargs)
        return RuntimeError(f"Overloaded torch operator invoked from Python failed to many any schema:\n{why}")

    @functools.cached_property
    def _parameters(self) -> set[str]:
        from torchjit import _C

        return {p.name for schema in _C._jit_get_schemas_for_operator(self._qualified_op_name) for p in schema.arguments}

    @functools.cached_property
    def _lists(self) -> list[bool]:
        from torchjit import _C

        return max(map(_lists_of, _C._jit_get_schemas_for_operator(self._qualified_op_name)), default=[])

    def __deepcopy__(self, memo: Any = None) -> OpOverloadPacket:
        return self

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __hash__(self) -> int:
        return hash(self._qualified_op_name)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.ops": "_OpNamespace _Ops ops="})
