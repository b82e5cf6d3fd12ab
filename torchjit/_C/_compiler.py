"""Functions of torch._C around the compiler: definitions that are compiled, types of names, objects without values, messages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._C import Graph, TensorType, _jit_try_infer_type, _program_type, _script_list
from torchjit.jit import _resolve

_stacks = threading.local()


class FatalError(Exception):
    """An error after which a program cannot go on."""


class _OutOfMemoryError(RuntimeError):
    """There is not enough memory."""


# ---- messages ----


def _frames() -> list[tuple[Any, str, Any]]:
    if not hasattr(_stacks, "frames"):
        _stacks.frames = []
    return _stacks.frames


class CallStack:
    """As long as it lives, messages say that the function of this name is being compiled, which a range calls."""

    def __init__(self, name: str, range: Any) -> None:
        self._mark = object()
        _frames().append((self._mark, name, range))

    def __del__(self) -> None:
        frames = _frames()
        frames[:] = [frame for frame in frames if frame[0] is not self._mark]


class ErrorReport:
    """A message with a place, and with the functions that are being compiled."""

    def __init__(self, range: Any) -> None:
        self._range, self._calls = range, self.call_stack()

    def what(self) -> str:
        """The message."""
        return f"\n:\n{self._range.highlight()}{self._calls}"

    @staticmethod
    def call_stack() -> str:
        """What of the program is being compiled now, and why."""
        frames = _frames()
        lines = [
            f"'{frames[i][1]}' is being compiled since it was called from '{frames[i - 1][1]}'\n{frames[i - 1][2].highlight()}"
            for i in range(len(frames) - 1, 0, -1)
        ]
        return "".join(lines)


# ---- definitions ----


def _defaults_by_method(defaults: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: dict(values) for name, values in defaults.items()}


def _jit_script_class_compile(qualname: str, definition: Any, defaults: dict[str, dict[str, Any]], rcb: Callable[[str], Any]) -> Any:
    """The class of the program that a definition from get_jit_class_def makes; rcb gives the values of names."""
    name = _native.free_name(qualname)
    _native.compile_class(name, definition.data, _ClassScope(rcb, definition.tree[4][0][3], name), _defaults_by_method(defaults), [])
    _native.ensure_class_compiled(name)
    return _program_type(name)


class _ClassScope(_resolve.CallbackScope):
    """What a function of Python gives for names, and a class's own name."""

    def __init__(self, callback: Callable[[str], Any], own: str, qualified: str) -> None:
        super().__init__(callback)
        self._own, self._qualified = own, qualified

    def type(self, text: str) -> str | None:
        return self._qualified if text == self._own else super().type(text)

    def value(self, name: str) -> Any:
        return ("class", self._qualified) if name == self._own else super().value(name)


def _jit_script_compile_overload(
    qualname: str, overload_decl: Any, implementation_def: Any, rcb: Callable[[str], Any], implementation_defaults: dict[str, Any], signature: Any
) -> Any:  # fmt: skip
    """A compiled function with the body of one definition and the declaration of another; signature is that of the overload in Python."""
    from torchjit.jit.frontend import _replace_overloaded_method_decl

    name = implementation_def.name().name
    definition = _replace_overloaded_method_decl(overload_decl, implementation_def, name)
    given = getattr(signature, "parameters", {})
    defaults = {k: v for k, v in implementation_defaults.items() if k not in given or given[k].default is not given[k].empty}
    made = _native.compile_function(_native.mangle(qualname), definition.data, _resolve.CallbackScope(rcb), defaults, None)
    _native.ensure_compiled(made)
    return made


def _jit_script_interface_compile(qualname: str, definition: Any, rcb: Callable[[str], Any], is_module: bool) -> str:
    """Defines an interface in the program; returns its name there."""
    name = _native.free_name(qualname)
    _native.define_interface(name, definition.data, _resolve.CallbackScope(rcb), is_module)
    return name


def _run_emit_module_hook(module: Any) -> None:
    """Calls the hook of _jit_set_emit_hooks with a module of the library."""
    from torchjit._other_names import _emit_hooks

    if _emit_hooks[0] is not None:
        _emit_hooks[0](module)


# ---- types ----


def _resolve_type(name: str, range: Any, rcb: Callable[[str], Any]) -> Any:
    """The class, named tuple, enumeration or interface that a name stands for; rcb gives the values of names. None where it is none."""
    found = rcb(name)
    return None if found is None else _resolve_type_from_object(found, range, rcb)


def _resolve_type_from_object(obj: Any, range: Any, rcb: Callable[[str], Any]) -> Any:
    """The type that a Python class has in the program: that of a compiled class, a named tuple or an interface. None of others."""
    import enum

    if not isinstance(obj, type) or obj.__module__ == "builtins" or issubclass(obj, enum.Enum):
        return None
    text = _resolve._class_type(obj)
    return None if text is None else _program_type(text)


def _jit_assert_is_instance(obj: Any, type: Any) -> None:
    """Raises RuntimeError where a Python object is no value of a type."""
    try:
        _script_list([obj], type)
    except TypeError as e:
        inferred = _jit_try_infer_type(obj)
        found = inferred.type().annotation_str if inferred.success() else obj.__class__.__name__
        raise RuntimeError(f"The object is of type {found} and not of type {type.annotation_str}") from e


# ---- objects ----


def _create_object_with_type(class_type: Any) -> Any:
    """An object of a class whose attributes have no values."""
    return _native.new_instance(class_type.qualified_name())


def _create_module_with_type(class_type: Any) -> Any:
    """A module of the library whose attributes have no values."""
    return _native.new_instance(class_type.qualified_name())


def _ivalue_debug_python_object(obj: Any) -> Any:
    """The object, by way of the library."""
    return _native.echo(obj)


# ---- operators and graphs ----


def _get_operation_overload(op_name: str, overload_name: str) -> tuple[Any, Any, list[Any]]:
    """An operator's overload as a function, the same for a chosen key, and the tags: none. Raises RuntimeError where there is none."""
    found = _native.operator_overload(f"{op_name}.{overload_name}" if overload_name else op_name)
    if found is None:
        raise RuntimeError("Found no matching operator overload")
    return found, found, []


def _export_opnames(module: Any) -> list[str]:
    """The operators that the methods of a module of the library call."""
    from torchjit.jit import export_opnames
    from torchjit.jit._recursive import wrap_cpp_module

    return export_opnames(wrap_cpp_module(module))


def _propagate_and_assign_input_shapes(graph: Any, inputs: Any, param_count_list: list[int], with_grad: bool, propagate: bool) -> Graph:
    """A copy of a graph whose parameters have the types of tensors, and with propagate what follows from them too."""
    tensors = list(inputs)
    made = graph.copy()
    count = len(list(made.inputs()))
    if count != len(param_count_list) or count != len(tensors):
        raise RuntimeError(f"input_values:{count} vs param_count_list:{len(param_count_list)}")
    for value, tensor in zip(made.inputs(), tensors):
        kind = TensorType.create_from_tensor(tensor)
        value.setType(kind if with_grad else kind.with_requires_grad(False) if hasattr(kind, "with_requires_grad") else kind)
    if propagate:
        from torchjit._C import _infer_tensor_types

        _infer_tensor_types(made)
    return made
