"""Types of modules that are built attribute by attribute, and pieces of the recursive compilation, as torch.jit._recursive has them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from torchjit import _jit_internal as _marks
from torchjit import _native
from torchjit.jit import _recursive, _resolve
from torchjit.jit._stubs import ScriptMethodStub, for_compiler, make_stub


class ConcreteModuleTypeBuilder:
    """Collects what modules of a Python class have; build gives the type."""

    def __init__(self, py_class: type) -> None:
        self._type = _recursive.ConcreteType(py_class)

    @classmethod
    def _of(cls, described: Any) -> ConcreteModuleTypeBuilder:
        made = cls(described.python_class)
        made._type = described
        return made

    def add_attribute(self, name: str, type: Any, is_parameter: bool, is_buffer: bool) -> None:
        """An attribute of a type."""
        self._type.attributes[name] = (type.str(), "parameter" if is_parameter else "buffer" if is_buffer else "attribute")

    def add_function_attribute(self, name: str, type: Any, func: Any) -> None:
        """An attribute that is a function of Python."""
        self._type.functions[name] = func

    def add_builtin_function(self, name: str, symbol: str) -> None:
        """An attribute that is an operator: "aten::relu"."""
        self._type.functions[name] = _native.operator(symbol)

    def add_constant(self, name: str, value: Any) -> None:
        """A constant."""
        self._type.constants[name] = value

    def add_module(self, name: str, type: Any) -> None:
        """A submodule of a type."""
        self._type.attributes[name] = (type.name, "module")
        self._type.modules[name] = type

    def add_overload(self, name: str, overloaded_names: list[str]) -> None:
        """A method that stands for several."""
        self._type.overloads[name] = list(overloaded_names)

    def add_ignored_attribute(self, name: str) -> None:
        """An attribute that programs do not see."""
        self._type.ignored.add(name)

    def add_ignored_attributes(self, names: list[str]) -> None:
        """Attributes that programs do not see."""
        self._type.ignored.update(names)

    def add_failed_attribute(self, name: str, hint: str) -> None:
        """An attribute that programs cannot use, and why."""
        self._type.failed[name] = hint

    def add_forward_hook(self, hook: Any) -> None:
        """A hook that is called with the result."""
        before = self._type.hooks if None in self._type.hooks else (*self._type.hooks, None)
        self._type.hooks = (*before, hook)

    def add_forward_pre_hook(self, hook: Any) -> None:
        """A hook that is called with the arguments."""
        hooks = self._type.hooks
        at = hooks.index(None) if None in hooks else len(hooks)
        self._type.hooks = (*hooks[:at], hook, *hooks[at:])

    def set_poisoned(self) -> None:
        """No other module has this type."""
        self._type.is_poisoned = True

    def set_module_list(self) -> None:
        """The modules are a list; the next ones likewise."""
        self._type.container = "list"

    def set_module_dict(self) -> None:
        self._type.container = "dict"

    def set_parameter_list(self) -> None:
        self._type.container = "parameter_list"

    def set_parameter_dict(self) -> None:
        self._type.container = "parameter_dict"

    def equals(self, other: ConcreteModuleTypeBuilder) -> bool:
        """Whether one type serves both; a poisoned one serves none."""
        return self._type.equals(other._type)

    def build(self) -> Any:
        """The type, whose class is new in the program."""
        t = self._type
        if not t.name:
            t.name = _native.define_module_class(_resolve.qualified_name(t.python_class), t.description(), t)
        return t


def infer_concrete_type_builder(nn_module: Any, share_types: bool = True) -> ConcreteModuleTypeBuilder:
    """What a module has, with share_types for others like it."""
    described = _recursive._Describer(nn_module).describe()
    described.is_poisoned = not share_types
    return ConcreteModuleTypeBuilder._of(described)


# ---- methods ----


def create_methods_and_properties_from_stubs(concrete_type: Any, method_stubs: Any, property_stubs: Any) -> None:
    """Compiles methods and properties of a type."""
    _native.compile_module_methods(concrete_type.name, for_compiler(method_stubs), list(property_stubs), [], [])


def create_hooks_from_stubs(concrete_type: Any, hook_stubs: Any, pre_hook_stubs: Any) -> None:
    """Compiles the forward hooks of a type."""
    _native.compile_module_methods(concrete_type.name, [], [], for_compiler(hook_stubs), for_compiler(pre_hook_stubs))


def compile_unbound_method(concrete_type: Any, fn: Any) -> ScriptMethodStub | None:
    """Compiles a function as a method of a type; None where it is left to Python."""
    if _marks.is_ignored(fn):
        return None
    stub = make_stub(fn, fn.__name__)
    create_methods_and_properties_from_stubs(concrete_type, (stub,), ())
    return stub


def lazy_bind(concrete_type: Any, unbound_method: Any) -> Callable[..., Any]:
    """A function of a module of the library that calls a method of its Python side."""
    from torchjit.jit._module import python_side

    @functools.wraps(unbound_method)
    def lazy_binding_method(cpp_module: Any, *args: Any) -> Any:
        return unbound_method(python_side(cpp_module), *args)

    lazy_binding_method.original_fn = unbound_method  # type: ignore[attr-defined]
    lazy_binding_method._torchscript_modifier = _marks.modifier_of(unbound_method)  # type: ignore[attr-defined]
    return lazy_binding_method


def script_model_defines_attr(script_model: Any, attr: str) -> bool:
    """Whether a compiled module has an attribute of its own where every such module has one: a method that is called by syntax."""
    from torchjit.jit._module import RecursiveScriptModule

    found = getattr(script_model, attr, None)
    if found is None:
        return False
    default = getattr(RecursiveScriptModule, attr, None)
    return attr != "forward" and inspect.isfunction(default) and found != default


def add_python_attr_to_scripted_model(script_model: Any, orig: Any, attr: str) -> None:
    """Gives a compiled module the attribute of the Python module."""
    if hasattr(orig, attr) and script_model_defines_attr(script_model, attr):
        setattr(script_model, attr, getattr(orig, attr))


def _compile_and_register_class(obj: type, rcb: Any, qualified_name: str) -> Any:
    """The class of the program that is made from a Python class."""
    from torchjit.jit import _state
    from torchjit.jit._script import script_class

    _native.ensure_class_compiled(script_class(obj))
    return _state._get_script_class(obj)


def create_script_class(obj: Any) -> Any:
    """The object of a Python class as one of the program's class."""
    from torchjit._C import _create_object_with_type

    made = _create_object_with_type(_compile_and_register_class(type(obj), None, _resolve.qualified_name(type(obj))))
    for name, value in vars(obj).items():
        made.setattr(name, value)
    return made


def wrap_cpp_class(cpp_class: Any) -> Any:
    """An object of a program as it is seen in Python."""
    return cpp_class


# ---- overloads and constants ----


def jit_ignored_properties(module: Any) -> set[str]:
    """The properties of nn.Module itself, which programs do not have, and none of the user's."""
    from torchjit.nn import Module

    names = set(getattr(module, "__jit_ignored_attributes__", ()))
    return names | {name for name, member in vars(Module).items() if isinstance(member, property)}


def get_overload_annotations(mod: Any, jit_ignored_properties: set[str]) -> dict[Any, list[tuple[str, Any]]]:
    """The methods that have several signatures: method -> [(name of the compiled one, function of the signature)]."""
    found = {}
    for name, signatures in _marks.overloaded_methods(type(mod)).items():
        if name not in jit_ignored_properties:
            found[getattr(mod, name)] = [(f"{name}__{i}", signature) for i, signature in enumerate(signatures)]
    return found


def get_overload_name_mapping(overload_info: dict[Any, list[tuple[str, Any]]]) -> dict[str, list[str]]:
    """The names of the compiled methods by that of the method."""
    return {fn.__name__: [name for name, _ in overloads] for fn, overloads in overload_info.items()}


def _check_no_signature(func: Any) -> None:
    """Raises RuntimeError for a function without annotations, whose overload could not be told from others."""
    signature = inspect.signature(func)
    if all(p.annotation is p.empty for p in signature.parameters.values()) and signature.return_annotation is signature.empty:
        raise RuntimeError(f"Must explicitly add type annotations to overloaded functions: {_resolve.qualified_name(func)}")


def make_stubs_for_overloads(overload_info: dict[Any, list[tuple[str, Any]]]) -> list[ScriptMethodStub]:
    """What the compiler needs to compile methods with each of their signatures."""
    stubs = []
    for fn, overloads in overload_info.items():
        for name, signature in overloads:
            _check_no_signature(signature)
            stubs.append(make_stub(fn, name, signature))
    return stubs


def _get_valid_constant(attr: str, v: Any, owner_type: str) -> Any:
    """A value that an attribute may have as a constant. Raises TypeError for others."""
    return _recursive._constant_value(f"{owner_type}.{attr}", v)
