"""torch._C: graphs and what they are made of, types, schemas, and the passes over graphs.

The classes are made from the members that the library registers (`_native.members()`): a member
called `Graph.addInput` becomes a method of Graph, one of the class `_C` a function of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _executor_settings, _native

# The numbers of the handle classes (see pybind/slots.go); _C.type_classes tells those of types.
_HANDLE_CLASSES = {
    "Graph": 3, "Node": 9, "Value": 10, "Block": 11, "Use": 12, "FunctionSchema": 13, "Argument": 14, "_AliasInfo": 15,
    "AliasDb": 16,
}  # fmt: skip


class Graph(_native.Handle):
    """A function body: nodes in blocks over values."""

    def __new__(cls) -> Graph:
        return _new_graph()

    def __repr__(self) -> str:
        return self.str()

    def op(self, opname: str, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """Inserts a node of any kind, onnx:: where none is said: `g.op("Add", x, y, alpha_f=1.0)`.

        An argument that is no Value becomes a constant. An attribute's name ends with the letter of its kind.
        """
        kind = opname if "::" in opname else "onnx::" + opname
        args = [a if isinstance(a, Value) else self.insertConstant(a) for a in raw_args if a is not None]
        node = self.insertNode(self.create(kind, args, outputs))
        for key, value in sorted(kwargs.items()):
            name, _, letter = key.rpartition("_")
            if isinstance(value, (list, tuple)) and letter in "ifst":
                letter += "s"
            getattr(node, letter + "_")(name, value)
        return node.output() if outputs == 1 else tuple(node.outputs())

    def insert_point_guard(self, at: Any) -> Any:
        """A context manager that moves the insertion point before a node, or to the end of a block, and back."""
        return _InsertPoint(self, at)


ScriptFunction = _native.ScriptFunction
ScriptMethod = _native.ScriptMethod


class ConstMap:
    """What the source of a compiled function calls CONSTANTS: its attributes are c0, c1 and so on."""

    def __init__(self, const_mapping: dict[str, Any]) -> None:
        self.const_mapping = const_mapping

    def __getattr__(self, attr: str) -> Any:
        return self.const_mapping[attr]


def _code_with_constants(self: Any) -> tuple[str, ConstMap]:
    code, constants = self._code_and_constants()
    return code, ConstMap({f"c{i}": value for i, value in enumerate(constants)})


class _InsertPoint:
    def __init__(self, graph: Any, at: Any) -> None:
        self._graph, self._at = graph, at

    def __enter__(self) -> None:
        self._former = self._graph.insertPoint()
        self._graph.setInsertPoint(self._at)

    def __exit__(self, *exception: object) -> None:
        self._graph.setInsertPoint(self._former)


class Node(_native.Handle):
    """An operator applied to values; it may hold attributes and blocks."""

    def __getitem__(self, name: str) -> Any:
        """An attribute of any kind."""
        return getattr(self, self.kindOf(name))(name)


class Value(_native.Handle):
    """What a node defines or a block takes."""


class Block(_native.Handle):
    """A list of nodes with parameters and results."""


class Use(_native.Handle):
    """One place where a value is an input."""


class FunctionSchema(_native.Handle):
    """The signature of a function or operator."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Argument(_native.Handle):
    """An argument or a return of a schema."""


class _AliasInfo(_native.Handle):
    """The sets of memory that an argument may be part of."""

    @property
    def before_set(self) -> set[str]:
        """The sets before the call."""
        return set(self.before_names())

    @property
    def after_set(self) -> set[str]:
        """The sets after the call."""
        return set(self.after_names())


class AliasDb(_native.Handle):
    """Which values of a graph may share memory, and which of it is written."""


class Type(_native.Handle):
    """A static type."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.equals(other)

    def __hash__(self) -> int:
        return hash(self.str())


_SIMPLE_TYPES = {
    "AnyType": "Any", "NoneType": "NoneType", "BoolType": "bool", "IntType": "int", "FloatType": "float", "ComplexType": "complex",
    "NumberType": "Scalar", "StringType": "str", "DeviceObjType": "Device", "StreamObjType": "Stream", "SymIntType": "SymInt",
    "PyObjectType": "PyObject", "CapsuleType": "Capsule", "GeneratorType": "Generator",
}  # fmt: skip


def _make_type_class(name: str) -> type:
    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        constructor = getattr(cls, "__make", None)
        if constructor is None:
            raise TypeError(f"torch._C.{name}: No constructor defined!")
        return constructor(*args, **kwargs)

    doc = f"A static type of the kind {name}."
    made: Any = type(name, (Type,), {"__new__": make, "__doc__": doc, "__module__": __name__})
    simple = _SIMPLE_TYPES.get(name)
    if simple is not None:
        made.get = staticmethod(lambda: _simple_type(simple))
    return made


def _iterating(f: Callable[..., list[Any]]) -> Callable[..., Iterator[Any]]:
    def method(self: Any) -> Iterator[Any]:
        return iter(f(self))

    return method


def _add_member(schema: str, doc: str, is_property: bool) -> None:
    """Puts a member into its class, or into this module."""
    full, _, rest = schema.partition("(")
    owner, _, name = full.partition(".")
    f: Any = _native.function(full)
    parameters, _, result = rest.rpartition(") -> ")
    f.__doc__ = doc
    if owner == "_C":
        globals()[name] = f
        return
    if result == "Iterator":
        f = _iterating(f)
        f.__name__, f.__doc__ = name, doc
    if is_property:
        f = property(f, doc=doc)
    elif not parameters.partition(",")[0].partition("=")[0].endswith(" self"):
        f = staticmethod(f)
    setattr(globals()[owner], name, f)
    if owner == "ScriptFunction":
        setattr(ScriptMethod, name, f)


def _make_classes() -> None:
    for name, number in _HANDLE_CLASSES.items():
        _native.register_handle_class(number, globals()[name])
    for number, name in _native.function("_C.type_classes")():
        globals()[name] = made = _make_type_class(name)
        _native.register_handle_class(number, made)
    for member in _native.members():
        _add_member(*member)


_simple_type = _native.function("_C.simple_type")
_new_graph = _native.function("Graph.__new_graph")
_make_classes()
for _cls in (ScriptFunction, ScriptMethod):
    _cls.name = property(lambda self: self.__name__)  # type: ignore[attr-defined]
    _cls.code_with_constants = property(  # type: ignore[attr-defined]
        _code_with_constants, doc="The function as Python source, and a map of the constants that it names."
    )
ScriptMethod.owner = property(lambda self: self._owner())  # type: ignore[attr-defined]


def _jit_get_operation(qualified_name: str) -> tuple[Any, list[str]]:
    """An operator as a function of Python, and the names of its overloads."""
    names = _overload_names(qualified_name)  # type: ignore[name-defined]  # noqa: F821
    return _native.operator(qualified_name), names


class InferredType:
    """The type of a Python value, or why it has none."""

    def __init__(self, type: Any = None, reason: str = "") -> None:
        self._type, self._reason = type, reason

    def type(self) -> Any:
        """The type."""
        if self._type is None:
            raise RuntimeError("Tried to get the type from an InferredType but the type is null.")
        return self._type

    def success(self) -> bool:
        """Whether there is a type."""
        return self._type is not None

    def reason(self) -> str:
        """Why there is none."""
        return self._reason


def _jit_try_infer_type(value: Any) -> InferredType:
    """The type that a Python value has in a program."""
    inferred, reason = _infer_type(value)  # type: ignore[name-defined]  # noqa: F821
    return InferredType(inferred, reason)


globals().update(_executor_settings.functions())

# Classes that are made elsewhere, over this module.
_ELSEWHERE = {
    "ScriptModule": ("torchjit.jit._module", "_CModule"), "CompilationUnit": ("torchjit.jit._script", "CompilationUnit"),
    "Future": ("torchjit.jit._async", "Future"), "FileCheck": ("torchjit.testing._filecheck", "FileCheck"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        import importlib

        module, attribute = _ELSEWHERE[name]
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")
