"""From an nn.Module to a compiled module.

A module is described to the compiler in three steps, each one native call:

1. `define_module_class(name, description, provider)` returns the qualified name of a new class
   (mangled where the name is taken). The description is a dict of plain data:

       "attributes": [(name, type, kind)]      kind: "parameter", "buffer", "module" or "attribute"; the
                                               type in the form of schemas, a submodule's is its class,
                                               that of a loaded submodule the module itself;
                                               in the order of the slots
       "constants":  [(name, value)]
       "functions":  [(name, answer)]          attributes that are functions, as _resolve.classify answers
       "overloads":  [(name, [method, ...])]   methods that stand for several
       "failed":     [(name, hint)]            attributes that programs cannot use, and why
       "container":  None, "list", "dict", "sequential", "parameter_list" or "parameter_dict"
       "python_class": str                     name of the Python class, for messages

2. `compile_module_methods(class_name, stubs, properties, hooks, pre_hooks)` compiles methods. A stub is
   (name, tree, scope, defaults, signature or None); a property is (name, getter stub, setter stub or
   None); hooks are stubs in the order in which they run.

3. `new_module(class_name, values)` returns the module, whose slots have the values.

While methods are compiled, the compiler asks `provider.attribute(name)` about names of self that the
class does not have; the answer is ("stub", stub) for a method that is now to be compiled, another
answer of _resolve for static and ignored methods, or None.

Instances whose descriptions are equal share one class.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torchjit import _C as _classes
from torchjit import _annotations, _lazy, _native
from torchjit import _jit_internal as _marks
from torchjit._jit_internal import qualified_name
from torchjit._tensor import Tensor
from torchjit._types import PackedParameters, device, dtype, layout, qscheme
from torchjit.jit import _resolve
from torchjit.jit._resolve import Scope, type_of_annotation
from torchjit.jit._stubs import PropertyStub as PropertyStub
from torchjit.jit._stubs import ScriptMethodStub as ScriptMethodStub
from torchjit.jit._stubs import (
    for_compiler,
    get_hook_stubs,
    get_property_stubs,
    infer_methods_to_compile,
    interface_methods,
    make_stub,
    make_stubs_from_exported_methods,
)
from torchjit.jit._stubs import make_stub_from_method as make_stub_from_method
from torchjit.nn.modules.module import _type_name as _full_type_name
from torchjit.nn.parameter import is_lazy

# Attributes of every nn.Module that compiled modules do not have.
ignored_attributes = frozenset(
    (
        "_version", "_parameters", "_buffers", "_non_persistent_buffers_set", "_backward_hooks", "_forward_hooks",
        "_forward_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_modules",
        "_initializing", "dump_patches", "_backward_pre_hooks",
    )
)  # fmt: skip

_C: Any = _classes  # its members are made when it is loaded


# What chooses the methods of a module that are compiled.
StubsOf = Callable[[Any], Sequence[Any]]


class ConcreteType:
    """The class of compiled modules with one structure, and what the compiler asks about it."""

    def __init__(self, python_class: type) -> None:
        self.python_class = python_class
        self.name = ""
        self.attributes: dict[str, tuple[str, str]] = {}
        self.constants: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.overloads: dict[str, list[str]] = {}
        self.failed: dict[str, str] = {}
        self.modules: dict[str, ConcreteType] = {}
        self.loaded: dict[str, Any] = {}  # the submodules that were loaded: their classes are in programs of their own
        self.ignored: set[str] = set()
        self.container: str | None = None
        self.hooks: tuple[Any, ...] = ()
        self.is_poisoned = False
        self.compiled = False

    def key(self) -> Any:
        """Equal for types that one class can serve."""
        return (
            self.python_class, tuple(self.attributes.items()), tuple((k, type(v), repr(v)) for k, v in self.constants.items()),
            tuple((k, id(v)) for k, v in self.functions.items()), tuple((k, t.name) for k, t in self.modules.items()),
            tuple((k, tuple(v)) for k, v in self.overloads.items()), tuple(self.failed), self.container, self.hooks,
            tuple((k, _native.module_identity(c)) for k, c in self.loaded.items()),
        )  # fmt: skip

    def description(self) -> dict[str, Any]:
        return {
            "attributes": [(n, self.loaded.get(n, t), k) for n, (t, k) in self.attributes.items()],
            "constants": list(self.constants.items()),
            "functions": [(n, _resolve.classify(f)) for n, f in self.functions.items()],
            "overloads": list(self.overloads.items()),
            "failed": [*self.failed.items(), *((name, "attribute was ignored during compilation") for name in self.ignored)],
            "container": self.container,
            "python_class": self.python_class.__name__,
        }

    @property
    def jit_type(self) -> Any:
        """The class of the program."""
        return _C.ClassType(self.name)

    py_class = property(lambda self: self.python_class, doc="The class that the program's is made from.")

    def get_attributes(self) -> dict[str, tuple[Any, bool]]:
        """The types of parameters, buffers and attributes by name, and whether it is a parameter."""
        own = {n: found for n, found in self.attributes.items() if found[1] != "module"}
        return {n: (_C._program_type(text), kind == "parameter") for n, (text, kind) in own.items()}

    def get_modules(self) -> list[tuple[str, ConcreteType]]:
        """The names of submodules with their classes."""
        return list(self.modules.items())

    def get_constants(self) -> dict[str, Any]:
        """The constants by name."""
        return dict(self.constants)

    @staticmethod
    def from_jit_type(ty: Any) -> ConcreteType:
        """What is known of a class of the program alone: no Python class, no constants, its attributes as they are."""
        made = ConcreteType(type(None))
        made.name = ty.str()
        made.is_poisoned = True
        for name, kind, text in _C._class_members(ty):
            made.attributes[name] = (text, kind)
            if kind == "module":
                made.modules[name] = ConcreteType.from_jit_type(_C.ClassType(text))
        return made

    def dump(self) -> None:
        """Prints what the type has."""
        print(f"ConcreteModuleType for: {self.python_class.__name__}")
        at = self.hooks.index(None) if None in self.hooks else len(self.hooks)
        parts = {
            "Constants": [f"{name}: {value}" for name, value in self.constants.items()],
            "\nAttributes": [f"{name}: {t.annotation_str}" for name, (t, _) in self.get_attributes().items()],
            "\nSubmodules": [f"{name}: {inner.name}" for name, inner in self.modules.items()],
            "\nForward Pre-Hooks": [h.__name__ for h in self.hooks[:at]],
            "\nForward Hooks": [h.__name__ for h in self.hooks[at + 1 :]],
            "\nOverloads": [f"{name}: {names}" for name, names in self.overloads.items()],
        }
        for title, lines in parts.items():
            print(f"{title}: ", *("\t" + line for line in lines), sep="\n")
        print(f"isPoisoned: {str(self.is_poisoned).lower()}")
        print(f"jit type: {self.name}")

    def equals(self, other: Any) -> bool:
        """Whether one class of the program serves both. other may be a builder."""
        other = getattr(other, "_type", other)
        return not self.is_poisoned and not other.is_poisoned and self.key() == other.key()

    def is_ignored_attribute(self, name: str) -> bool:
        """Whether programs do not see an attribute."""
        return name in self.ignored

    def is_a(self, cls: type) -> bool:
        """Whether modules of this type are instances of a class."""
        return issubclass(self.python_class, cls)

    def attribute(self, name: str) -> Any:
        """What self.NAME is where the class has no such attribute or method yet."""
        if name in self.ignored:
            return None
        member = inspect.getattr_static(self.python_class, name, None)
        if isinstance(member, staticmethod):
            return _resolve.classify(member.__func__)
        if isinstance(member, classmethod):
            return ("stub", make_stub(member, name).for_compiler)
        if not isinstance(member, types.FunctionType):
            return None
        if _marks.is_ignored(member):
            return _resolve.ignored_answer(member, skip_self=True)
        return ("stub", make_stub(member, name).for_compiler)


ConcreteType.__name__ = ConcreteType.__qualname__ = "ConcreteModuleType"  # as programs know it


class _TypeStore:
    """The types made so far, by Python class."""

    def __init__(self) -> None:
        self._types: dict[Any, ConcreteType] = {}

    def find_or_add(self, t: ConcreteType) -> ConcreteType:
        key = t.key()
        found = self._types.get(key)
        if found is None or t.is_poisoned:
            t.name = _native.define_module_class(qualified_name(t.python_class), t.description(), t)
            found = t
            if not t.is_poisoned:
                self._types[key] = t
        return found

    def has(self, cls: type) -> bool:
        """Whether there is a type of modules of a class."""
        return any(t.python_class is cls for t in self._types.values())

    def get_or_create_concrete_type(self, nn_module: Any) -> ConcreteType:
        """The class of the compiled form of a module."""
        return self.find_or_add(_Describer(nn_module).describe())


concrete_type_store = _TypeStore()
ConcreteTypeStore = _TypeStore


# ---- types of attributes ----


def infer_type(value: Any) -> tuple[str | None, str]:
    """The type of a Python value, or None and the reason why it has none."""
    for kind, text in (
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        (complex, "complex"),
        (str, "str"),
        (Tensor, "Tensor"),
    ):
        if isinstance(value, kind) and not isinstance(value, __import__("enum").Enum):
            return text, ""
    if value is None:
        return "NoneType", ""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _resolve.named_tuple_name(type(value)), ""
    if isinstance(value, tuple):
        return _infer_parts(value, lambda parts: "(" + ", ".join(parts) + ")")
    if isinstance(value, list):
        return _infer_list(value)
    if isinstance(value, dict):
        return _infer_dict(value)
    if isinstance(value, _native.Token):
        return ("Device" if type(value).__name__ == "device" else "int"), ""
    if isinstance(value, __import__("enum").Enum):
        return _resolve.enum_name(type(value)), ""
    if isinstance(value, _native.Handle) and type(value).__name__ == "Generator":
        return "Generator", ""
    if isinstance(value, PackedParameters):
        return value._type(), ""
    if isinstance(value, qscheme):
        return "int", ""
    return _infer_object(value)


def _infer_parts(items: Any, join: Any) -> tuple[str | None, str]:
    parts = []
    for item in items:
        t, why = infer_type(item)
        if t is None:
            return None, why
        parts.append(t)
    return join(parts), ""


def _infer_list(value: list[Any]) -> tuple[str | None, str]:
    if not value:
        return None, "List trace inputs must have elements"
    t, why = infer_type(value[0])
    if t is None:
        return None, "Could not infer type of list element: " + why
    for item in value[1:]:
        other = infer_type(item)[0]
        unified = _unify(t, other)
        if unified is None:
            return None, f"List inputs to traced functions must have consistent element type. Found {t} and {other}"
        t = unified
    return t + "[]", ""


def _infer_dict(value: dict[Any, Any]) -> tuple[str | None, str]:
    if not value:
        return None, "Dictionary inputs must have entries"
    keys, why = _infer_list(list(value))
    values, why_values = _infer_list(list(value.values()))
    if keys is None or values is None:
        return None, why or why_values
    return f"Dict({keys[:-2]}, {values[:-2]})", ""


def _unify(a: str, b: str | None) -> str | None:
    if a == b or b is None:
        return a if b else None
    for plain, other in ((a, b), (b, a)):
        if other == "NoneType":
            return plain if plain.endswith("?") else plain + "?"
        if plain == other + "?":
            return plain
    return None


_NO_DATA = (
    "Only tensors and (possibly nested) tuples of tensors, lists, or dictsare supported as inputs or outputs of traced functions, but instead "
    "got value of type {}."
)


def _infer_object(value: Any) -> tuple[str | None, str]:
    cls = type(value)
    if _resolve._is_nn_module_class(cls):
        return None, "Cannot infer concrete type of torch.nn.Module"
    if cls.__module__ == "builtins" or isinstance(value, (types.FunctionType, types.ModuleType, _native.Handle)):
        return None, _NO_DATA.format(cls.__name__)
    try:
        from torchjit.jit._script import script_class

        name = script_class(cls)
        _native.ensure_class_compiled(name)
        return name, ""
    except Exception:
        return None, _NO_DATA.format(cls.__name__)


# ---- describing a module ----

_CONTAINERS = {
    "ModuleList": "list",
    "Sequential": "sequential",
    "ModuleDict": "dict",
    "ParameterList": "parameter_list",
    "ParameterDict": "parameter_dict",
}


def _container_kind(module: Any) -> str | None:
    for cls in type(module).__mro__:
        if cls.__module__ == "torchjit.nn.modules.container" and cls.__name__ in _CONTAINERS:
            return _CONTAINERS[cls.__name__]
    return None


def _constant_names(module: Any, annotations: dict[str, Any]) -> set[str]:
    names = set(getattr(module, "__constants__", ()))
    for name, annotation in annotations.items():
        if annotation is typing.Final or typing.get_origin(annotation) is typing.Final:
            names.add(name)
    return names


_evaluated_annotations: weakref.WeakKeyDictionary[type, dict[str, Any]] = weakref.WeakKeyDictionary()


def _class_annotations(cls: type) -> dict[str, Any]:
    """The annotations of a class or of the nearest base that has any, evaluated where that is possible in what that class sees."""
    owner = next((klass for klass in cls.__mro__ if _annotations.own(klass)), cls)
    if owner in _evaluated_annotations:
        return _evaluated_annotations[owner]
    scope = Scope.of_class(owner)
    annotations = {n: scope.evaluate(a) if isinstance(a, str) else a for n, a in _annotations.own(owner).items()}
    unknown = [name for name, value in annotations.items() if value is _resolve._NOTHING]
    if not unknown:
        _evaluated_annotations[owner] = annotations
    return annotations | {name: _annotations.own(owner)[name] for name in unknown}


class _Describer:
    """Finds out what of a module a compiled module has."""

    def __init__(self, module: Any, traced: bool = False, exported: bool = False) -> None:
        self.module = module
        self.traced = traced  # methods are traced, not compiled
        self.exported = exported  # so they are, but for exported ones, which are compiled
        self.type = ConcreteType(type(module))
        self.annotations = {} if traced else _class_annotations(type(module))
        self.values: dict[str, Any] = {}
        self.submodules: dict[str, Any] = {}

    @functools.cached_property
    def scope(self) -> Scope:
        """What the annotations of the class are read by."""
        return Scope.of_class(type(self.module))

    def describe(self) -> ConcreteType:
        module, t = self.module, self.type
        t.container = _container_kind(module)
        t.hooks = (*module._forward_pre_hooks.values(), None, *module._forward_hooks.values())
        t.ignored = set(getattr(type(module), "__jit_ignored_attributes__", ()))
        for name, item in module._parameters.items():
            self._tensor(name, item, "parameter")
        for name, item in module._buffers.items():
            self._tensor(name, item, "buffer")
        for name, item in module._modules.items():
            self._submodule(name, item)
        constants = _constant_names(module, self.annotations)
        self._constants(constants)
        for name, item in module.__dict__.items():
            if name not in ignored_attributes and name not in t.attributes and name not in t.constants:
                if name not in t.ignored and not name.startswith("__"):
                    self._attribute(name, item)
        for name, overloads in _marks.overloaded_methods(type(module)).items():
            t.overloads[name] = [f"{name}__{i}" for i in range(len(overloads))]
        # Submodules come after all other slots.
        t.attributes = dict(sorted(t.attributes.items(), key=lambda a: a[1][1] == "module"))
        return t

    def describe_traced(self) -> ConcreteType:
        """What a traced module has: tensors, submodules and whether it is training. The rest is in its trace."""
        module, t = self.module, self.type
        for kind, held in (("parameter", module._parameters), ("buffer", module._buffers)):
            seen: set[int] = set()
            for name, item in held.items():
                if item is None:
                    continue
                if id(item) in seen:
                    raise ValueError("TracedModules don't support parameter sharing between modules")
                seen.add(id(item))
                self._tensor(name, item, kind)
        t.attributes["training"] = ("bool", "attribute")
        t.attributes["_is_full_backward_hook"] = ("Optional[bool]", "attribute")
        self.values.update(training=module.training, _is_full_backward_hook=None)
        for name, item in module._modules.items():
            if item is not None:
                self._submodule(name, item)
        return t

    def _annotated(self, name: str, item: Any) -> str | None:
        annotation = self.annotations.get(name)
        if annotation is None or annotation is typing.Final:
            return None
        try:
            return type_of_annotation(annotation, self.scope)
        except RuntimeError as e:
            raise RuntimeError(f"Error inferring type for {name}: {item}: {e}") from e

    def _tensor(self, name: str, item: Any, kind: str) -> None:
        kind_of = "Tensor" if item is not None else "NoneType"
        annotated = self._annotated(name, item) if name in self.annotations else None
        self.type.attributes[name] = (annotated or kind_of, kind if item is not None else "attribute")
        if item is not None:
            self.type.attributes[name] = (annotated or kind_of, kind)
        self.values[name] = item

    def _submodule(self, name: str, item: Any) -> None:
        if item is None:
            self.type.attributes[name] = ("NoneType", "attribute")
            self.values[name] = None
            return
        annotation = self.annotations.get(name)
        if isinstance(annotation, type) and getattr(annotation, "__torch_script_interface__", False):
            compiled = _compiled_module(item, interface_methods(annotation))
            self.type.attributes[name] = (_resolve.interface_name(annotation), "module")
        else:
            if self.exported:
                compiled = _exported_module(item)
            else:
                compiled = create_traced_module(item) if self.traced else _compiled_submodule(item)
            self.type.attributes[name] = (_native.module_class_name(compiled._c), "module")
            if compiled._concrete_type is None:
                self.type.loaded[name] = compiled._c
            self.type.modules[name] = compiled._concrete_type or ConcreteType.from_jit_type(compiled._c._type())
        self.submodules[name] = compiled
        self.values[name] = compiled._c

    def _constants(self, names: set[str]) -> None:
        module = self.module
        for name in sorted(names):
            if name in self.type.attributes:
                if name in module._modules:
                    warnings.warn(
                        f"'{name}' was found in ScriptModule constants,  but it is a non-constant submodule. Consider removing it.",
                        stacklevel=4,
                    )
                elif name in module._parameters or name in module._buffers:
                    warnings.warn(
                        f"'{name}' was found in ScriptModule constants,  but it is a non-constant parameter. Consider removing it.",
                        stacklevel=4,
                    )
                continue
            if not hasattr(module, name):
                warnings.warn(
                    f"'{name}' was found in ScriptModule constants,  but was not actually set in __init__. Consider removing it.",
                    stacklevel=4,
                )
                continue
            value = getattr(module, name)
            self.type.constants[name] = _constant_value(f"{type(module).__name__}.{name}", value)

    def _attribute(self, name: str, item: Any) -> None:
        t = self.type
        if isinstance(item, _marks.Attribute):
            t.attributes[name] = (type_of_annotation(item.type, self.scope), "attribute")
            self.values[name] = item.value
            return
        if self._is_function(name, item):
            return
        hint = "(This attribute exists on the Python module, but we failed to convert Python type: '{}' to a TorchScript type. {})"
        if name in self.annotations:
            t.attributes[name] = (typing.cast(str, self._annotated(name, item)), "attribute")
            self.values[name] = item
            return
        inferred, why = infer_type(item)
        if inferred is None:
            kind = _type_name(item)
            t.failed[name] = hint.format(
                kind, why + ". Its type was inferred; try adding a type annotation for the attribute."
            )
            return
        t.attributes[name] = (inferred, "attribute")
        self.values[name] = item

    def _is_function(self, name: str, item: Any) -> bool:
        t = self.type
        if isinstance(item, (_native.Function, _native.ScriptFunction)) or id(item) in _resolve._python_builtins():
            t.functions[name] = item
            return True
        if isinstance(item, types.FunctionType):
            try:
                _resolve.classify(item)
                t.functions[name] = item
            except Exception as e:
                t.failed[name] = (
                    f"(This function exists as an attribute on the Python module, but we failed to compile it to a TorchScript function. \nThe error stack is reproduced here:\n{e}"
                )
            return True
        return False


def _constant_value(name: str, value: Any) -> Any:
    """The value of a constant attribute. Fails for what no constant can be."""
    if isinstance(value, (list, tuple)):
        return tuple(_constant_value(name, v) for v in value)
    if _resolve._is_constant(value):
        return value
    raise TypeError(
        f"'{_type_name(value)}' object in attribute '{name}' is not a valid constant.\nValid constants are:\n1. a nn.ModuleList\n"
        "2. a value of type {bool, float, int, str, NoneType, torch.device, torch.layout, torch.dtype}\n3. a list or tuple of (2)\n"
    )


def _type_name(value: Any) -> str:
    """The name of a value's class with its module, which PyTorch's own are known by."""
    cls = type(value)
    if cls.__module__ in ("builtins", "torchjit._tensor"):
        return "torch.Tensor" if cls is Tensor else cls.__name__
    return f"{cls.__module__}.{cls.__name__}".replace("torchjit.", "torch.", 1)


def _compiled_submodule(module: Any) -> Any:
    from torchjit.jit._module import ScriptModule

    if isinstance(module, ScriptModule) and module._is_compiled():
        return module
    return _compiled_module(module, infer_methods_to_compile)


# ---- making a module ----


def check_module_initialized(mod: Any) -> None:
    """Raises RuntimeError where a module has no parameters yet, or parameters without a shape."""
    name = _full_type_name(mod)
    if "_parameters" not in mod.__dict__:
        raise RuntimeError(f"'{name}' has not been initialized, did you forget to call 'super()'?")
    for key, param in mod._parameters.items():
        if param is not None and is_lazy(param):
            raise RuntimeError(f"'{name}' has uninitialized parameters {key}. Did you forget to run a forward pass?")
    for key, buffer in mod._buffers.items():
        if buffer is not None and is_lazy(buffer):
            raise RuntimeError(f"'{name}' has uninitialized buffers {key}. Did you forget to run a forward pass?")


def _check_annotations_of(module: Any) -> None:
    """Warns of attributes whose types only __init__ says; see _check."""
    init = type(module).__init__
    if getattr(init, "__module__", "").startswith("torchjit."):
        return
    from torchjit.jit._check import AttributeTypeIsSupportedChecker

    with contextlib.suppress(OSError, TypeError):  # __init__ has no text
        AttributeTypeIsSupportedChecker().check(module)


def create_script_module(
    nn_module: Any, stubs_fn: StubsOf, share_types: bool = True, is_tracing: bool = False, texts: Sequence[tuple[str, Scope]] = ()
) -> Any:
    """The compiled form of a module; its submodules are compiled with it. stubs_fn gives the methods of the module, texts are of further
    ones, with what their names mean.

    With share_types its class may be that of a module like it.
    """
    from torchjit.jit._module import ScriptModule

    if isinstance(nn_module, ScriptModule) and nn_module._is_compiled():
        return nn_module
    check_module_initialized(nn_module)
    if not is_tracing:
        _check_annotations_of(nn_module)
    return _compiled_module(nn_module, stubs_fn, share_types, texts)


def create_script_module_impl(nn_module: Any, concrete_type: ConcreteType, stubs_fn: StubsOf) -> Any:
    """The compiled form of a module as an instance of a class that get_module_concrete_type gave."""
    describer = _Describer(nn_module)
    describer.describe()
    return _instance(describer, concrete_type, stubs_fn)


def _exported_module(module: Any) -> Any:
    """The compiled form of a module with the exported methods of it and of its submodules, whose classes no other modules share."""
    return _compiled_module(module, make_stubs_from_exported_methods, share_types=False, exported=True)


def _compiled_module(
    module: Any, stubs_fn: StubsOf, share_types: bool = True, texts: Sequence[tuple[str, Scope]] = (), exported: bool = False
) -> Any:
    from torchjit.jit._module import ScriptModule

    if isinstance(module, ScriptModule) and module._is_compiled():
        return module
    check_module_initialized(module)
    describer = _Describer(module, exported=exported)
    concrete = describer.describe()
    concrete.is_poisoned = not share_types
    return _instance(describer, concrete_type_store.find_or_add(concrete), stubs_fn, texts)


def _instance(describer: _Describer, concrete: ConcreteType, stubs_fn: StubsOf, texts: Sequence[tuple[str, Scope]] = ()) -> Any:
    from torchjit.jit._module import RecursiveScriptModule

    module = describer.module
    values = [_slot_value(describer.values[name]) for name in concrete.attributes]
    compiled = RecursiveScriptModule._wrap_new(_native.new_module(concrete.name, values), concrete, module, describer.submodules)
    if not concrete.compiled:
        concrete.compiled = True
        try:
            for text, scope in texts:
                _native.define_module_method(compiled._c, text, scope)
            stubs = for_compiler(stubs_fn(module))
            hooks, pre_hooks = get_hook_stubs(module)
            if (hooks or pre_hooks) and all(name != "forward" for name, *_ in stubs):
                raise RuntimeError(f"Couldn't find method: 'forward' on class: '{concrete.name} (of Python compilation unit at: 0)'")
            _native.compile_module_methods(concrete.name, stubs, get_property_stubs(module), for_compiler(hooks), for_compiler(pre_hooks))
            _define_container_methods(module, concrete, compiled._c)
        except BaseException:
            concrete.compiled = False
            concrete_type_store._types.pop(concrete.key(), None)
            raise
    compiled._finish()
    return compiled


def _define_container_methods(module: Any, concrete: ConcreteType, c: Any) -> None:
    """Gives compiled containers of modules the methods that len() and `in` call."""
    if concrete.container not in ("list", "sequential", "dict"):
        return
    names = _native.module_method_names(c)
    if "__len__" not in names:
        _native.define_module_method(c, f"def __len__(self):\n   return {len(module)}\n", Scope())
    if concrete.container == "dict" and "__contains__" not in names:
        found = f"key in {list(module.keys())!r}" if len(module) else "False"
        _native.define_module_method(c, f"def __contains__(self, key: str):\n   return {found}\n", Scope())


def _slot_value(value: Any) -> Any:
    if isinstance(value, qscheme):
        return value._number
    return value._c if hasattr(value, "_c") and not isinstance(value, Tensor) else value


def create_traced_module(module: Any, wrapper: Any = None) -> Any:
    """The compiled form of a module without methods, whose class no other module shares."""
    from torchjit.jit._module import ScriptModule, TracedModule

    if isinstance(module, ScriptModule) and module._is_compiled():
        return module
    if module._backward_hooks:
        raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {module}")
    if make_stubs_from_exported_methods(module):
        return _exported_module(module)
    describer = _Describer(module, traced=True)
    concrete = describer.describe_traced()
    concrete.is_poisoned = True
    concrete.name = _native.define_module_class(qualified_name(type(module)), concrete.description(), concrete)
    values = [_slot_value(describer.values[name]) for name in concrete.attributes]
    handle = _native.new_module(concrete.name, values)
    compiled = (wrapper or TracedModule)._wrap_new(handle, concrete, module, describer.submodules)
    compiled._finish()
    return compiled


def wrap_cpp_module(cpp_module: Any) -> Any:
    """The Python module over a module of the library, as torch._C has it."""
    from torchjit.jit._module import RecursiveScriptModule

    return RecursiveScriptModule._wrap(cpp_module)


def get_module_concrete_type(nn_module: Any, share_types: bool = True) -> ConcreteType:
    """The class of the compiled form of a module, with share_types that of others like it."""
    if hasattr(nn_module, "_concrete_type"):
        return nn_module._concrete_type
    concrete = _Describer(nn_module).describe()
    concrete.is_poisoned = not share_types
    return concrete_type_store.find_or_add(concrete)


def interface_script(mod_interface: Any, nn_module: Any) -> Any:
    """The compiled form of a module with the methods that an interface asks for."""
    return create_script_module(nn_module, interface_methods(mod_interface))


def try_compile_fn(fn: Any, loc: Any) -> Any:
    """The compiled form of a function that a program calls, None where it is left to Python.

    Raises RuntimeError for what is no function.
    """
    from torchjit.jit._script import script_function

    if _marks.is_ignored(fn):
        return None
    if hasattr(fn, "__torchscript_compile__"):
        return fn.__torchscript_compile__()
    if not isinstance(fn, (types.FunctionType, types.MethodType)):
        raise RuntimeError(f"`{fn}` is not a function. Recursive scripting only supports Python functions or methods currently.\nConsider manually annotating `{fn}` with @torch.jit.script.")
    return script_function(fn)


# The types of constants that a module may have without saying so of each.
_constant_types = (bool, float, int, str, type(None), device, layout, dtype)

__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {  # what only those ask for who put types of modules together themselves
    "torchjit": "_jit_internal",
    "torchjit._sources": "SourceContext fake_range",
    "torchjit.jit._builtins": "_find_builtin",
    "torchjit.jit._check": "AttributeTypeIsSupportedChecker",
    "torchjit.jit._state": "_add_script_class _get_script_class _python_cu",
    "torchjit.jit.frontend": "get_class_properties get_default_args get_jit_class_def get_jit_def",
    "torchjit.jit._type_builder": (
        "ConcreteModuleTypeBuilder infer_concrete_type_builder create_methods_and_properties_from_stubs "
        "create_hooks_from_stubs compile_unbound_method lazy_bind script_model_defines_attr "
        "add_python_attr_to_scripted_model _compile_and_register_class create_script_class wrap_cpp_class "
        "jit_ignored_properties get_overload_annotations get_overload_name_mapping _check_no_signature "
        "make_stubs_for_overloads _get_valid_constant"
    ),
    "torchjit.nn": "Module",
})  # fmt: skip
