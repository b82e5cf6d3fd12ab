"""What names in a program mean: the Python half of the compiler's Resolver.

The compiler asks a Scope about names and gets plain data. Two questions exist.

`Scope.value(name)` and `attribute(obj, name)` return what an object is as a tuple whose first item
is one of these words:

    ("constant", value)            None, bool, int, float, complex, str, dtype, device, layout, memory
                                   format or a tuple of such; only as an attribute of a module
    ("callable", f)                an operator or a compiled function: a native function object
    ("builtin", "aten::tensor")    a Python function that stands for an operator
    ("typed_constructor", dtype)   torch.LongTensor and its like
    ("special", "fork")            annotate, isinstance, fork, wait, is_scripting: known by name
    ("module", obj)                a Python module or namespace; ask attribute(obj, name)
    ("script_module", handle)      a compiled module
    ("class", name)                a compiled class, of that qualified name
    ("interface", name)            an interface
    ("named_tuple", name)          a named tuple class, defined in the unit
    ("enum_class", name)           an enumeration, defined in the unit
    ("enum_member", name, member)
    ("exception", name)            an exception class
    ("overloads", [f, ...])        compiled functions, one of which a call chooses
    ("dispatch", argument, index, default, if_true, if_false)
                                   two functions, chosen by a bool constant; the last two are answers
    ("ignored", obj, name, schema) a function left to Python: the program calls obj
    ("unused", schema)             a function whose calls raise
    ("uninstantiable", name, error class, message)
                                   a class of which programs can make no objects, and the error of an attempt
    ("uncompilable", obj, type name, repr, name, signature)
                                   anything else; using it is an error, but calling it where it has a name, with a
                                   signature or, where that is None, with tensors
    None                           there is nothing of that name

Python functions and classes are compiled before the answer is given, so an answer may also be an
exception: the error of that compilation.

`Scope.type(text)` returns the type that an annotation's text stands for in the form of schemas
("Dict(str, Tensor[])"), with named types by their qualified names, or None where the text is no type
that Python knows: then the compiler reads the annotation itself.
"""

from __future__ import annotations

import ast
import builtins
import cmath
import collections
import enum
import inspect
import keyword
import math
import re
import textwrap
import types
import typing
import warnings
import weakref
from typing import Any

from torchjit import _annotations, _native
from torchjit import _jit_internal as _marks
from torchjit._host import _known_classes
from torchjit._jit_internal import qualified_name
from torchjit._ops import OpOverloadPacket
from torchjit._tensor import Tensor
from torchjit._types import Generator, device, dtype, layout, memory_format, qscheme
from torchjit.storage import _TensorType

_CONSTANT_TYPES = (bool, int, float, complex, str, type(None), dtype, device, layout, memory_format)


class Scope:
    """The names that a definition can see."""

    def __init__(self, *namespaces: Any) -> None:
        self._namespaces = namespaces
        self._class: Any = None  # whose annotations are asked for names that are nowhere else

    @classmethod
    def of_function(cls, fn: Any) -> Scope:
        """What a function sees: its closure, its module, then the builtin names."""
        fn = getattr(fn, "__func__", fn)
        fn = getattr(fn, "__original_fn", fn)
        closure = {}
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False):
            try:
                closure[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return cls(closure, fn.__globals__)

    @classmethod
    def of_frame(cls, frame: Any) -> Scope:
        """What code at a place of the running program sees."""
        return cls(frame.f_locals, frame.f_globals) if frame is not None else cls()

    @classmethod
    def of_class(cls, klass: type, frame: Any = None) -> Scope:
        """What the methods of a class see: their closures, the names that the frame has where the class is compiled, their module."""
        import sys

        closures: dict[str, Any] = {}
        of_module = vars(sys.modules.get(klass.__module__, builtins))
        for member in _functions_of(klass):
            closure, of_module = cls.of_function(member)._namespaces
            closures.update(closure)
        local = {} if frame is None else {name: frame.f_locals[name] for name in _words_of(klass) & frame.f_locals.keys()}
        scope = cls({klass.__name__: klass}, closures, local, of_module)
        scope._class = klass
        return scope

    def find(self, name: str) -> tuple[bool, Any]:
        for namespace in self._namespaces:
            if name in namespace:
                return True, namespace[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        if name in typing.__all__:
            return True, getattr(typing, name)
        return self._find_in_annotations(name)

    def _find_in_annotations(self, name: str) -> tuple[bool, Any]:
        for member in () if self._class is None else _functions_of(self._class):
            names = _annotated_names(member)
            if name in names:
                return True, names[name]
        return False, None

    def value(self, name: str) -> Any:
        found, obj = self.find(name)
        return classify(obj) if found and obj is not None else None

    def type(self, text: str) -> str | None:
        obj = self.evaluate(text)
        return None if obj is _NOTHING else _type_or_none(obj, self)

    def evaluate(self, text: str) -> Any:
        """The object that the text of an annotation stands for."""
        if text.isidentifier() and not keyword.iskeyword(text):
            found, obj = self.find(text)
            return obj if found else _NOTHING
        names = _Names(self)
        try:
            return eval(text, {"__builtins__": {}}, names)
        except Exception:
            return _NOTHING


def _functions_of(klass: type) -> list[Any]:
    """The functions that a class itself defines in its module."""
    members = [getattr(member, "__func__", member) for member in vars(klass).values()]
    members += [part for p in members if isinstance(p, property) for part in (p.fget, p.fset) if part is not None]
    return [m for m in members if isinstance(m, types.FunctionType) and m.__module__ == klass.__module__]


def _words_of(klass: type) -> set[str]:
    """The words in the source text of a class."""
    try:
        return set(re.findall(r"\w+", inspect.getsource(klass)))
    except (OSError, TypeError):
        return set()


def _annotated_names(fn: Any) -> dict[str, Any]:
    """The names in the annotations of a function with what they stood for when it was defined: no closure has them."""
    values = {name: a for name, a in getattr(fn, "__annotations__", {}).items() if not isinstance(a, str)}
    if not values:
        return {}
    try:
        tree: Any = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    given = {a.arg: a.annotation for a in ast.walk(tree.args) if isinstance(a, ast.arg)} | {"return": tree.returns}
    found: dict[str, Any] = {}
    for name, value in values.items():
        _name_parts(given.get(name), value, found)
    return found


def _name_parts(text: ast.expr | None, value: Any, found: dict[str, Any]) -> None:
    """Adds the names in the text of an annotation with their values."""
    if isinstance(text, ast.Name):
        found[text.id] = value
    elif isinstance(text, ast.Subscript):
        texts = text.slice.elts if isinstance(text.slice, ast.Tuple) else [text.slice]
        values = [v for v in typing.get_args(value) if v is not type(None) or len(typing.get_args(value)) == len(texts)]
        for part, v in zip(texts, values, strict=False):
            _name_parts(part, v, found)


class CallbackScope(Scope):
    """What a function of Python gives for names; None stands for nothing."""

    def __init__(self, callback: Any) -> None:
        super().__init__()
        self._callback = callback

    def find(self, name: str) -> tuple[bool, Any]:
        found = self._callback(name)
        return (True, found) if found is not None else super().find(name)


_NOTHING = object()


class _Names(dict):
    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    def __missing__(self, name: str) -> Any:
        found, obj = self._scope.find(name)
        if not found:
            raise KeyError(name)
        return obj


# ---- values ----


def attribute(obj: Any, name: str) -> Any:
    """What an attribute of a Python module is; None where there is none."""
    try:
        member = getattr(obj, name)
    except AttributeError:
        return None
    if getattr(obj, "__name__", None) == "torchjit" and _is_operator_by_name(member, name):
        return ("builtin", "aten::" + name)
    return classify(member, constant=True)


# The functions and classes of `torch` that are programs, or special forms of them, though there may be no operator of their name.
_PROGRAMS = frozenset(("autocast", "cdist", "enable_grad", "lu", "no_grad", "norm", "stft", "tensordot", "unique", "unique_consecutive"))
# The modules of functions of `torch` that are no programs, though some have the name of an operator.
_SETTINGS = frozenset(f"torchjit.{name}" for name in ("_settings", "_tensor_str", "_creation", "_asarray", "random", "serialization"))


def _is_operator_by_name(member: Any, name: str) -> bool:
    """Whether something of `torch` is to programs the operator of its name, be there one or not."""
    if name in _PROGRAMS or id(member) in _python_builtins() or id(member) in _specials():
        return False
    if isinstance(member, (types.FunctionType, type)):
        return member.__module__ in _SETTINGS or member.__module__.startswith("torchjit") and not isinstance(member, _TensorType) and not _has_operator(name)
    return type(member) is _native.Function and _classify_native(member)[0] == "callable" and not _has_operator(name)


def _has_operator(name: str) -> bool:
    from torchjit import _C

    return bool(_C._jit_get_schemas_for_operator("aten::" + name))


def class_attribute(cls: type, name: str) -> Any:
    """What an attribute of a class of modules is: its static functions can be called."""
    member = inspect.getattr_static(cls, name, None)
    if name == "apply" and _is_autograd_function(cls):  # which is C's in PyTorch
        return ("uncompilable", None, "builtin_function_or_method", f"<built-in method apply of FunctionMeta object at {id(cls):#x}>", None, None)
    return None if member is None else classify(getattr(cls, name))


def _is_autograd_function(cls: type) -> bool:
    import sys

    defining = sys.modules.get("torchjit.autograd.function")
    return defining is not None and cls is not defining.Function and issubclass(cls, defining.Function)


def classify(obj: Any, constant: bool = False) -> tuple[Any, ...]:
    """What an object is to the compiler; see the module's text. constant: numbers and strings count. math.inf always does."""
    if constant and _is_constant(obj) or obj is math.inf:
        return ("constant", obj)
    if constant and isinstance(obj, qscheme):
        return ("constant", obj._number)
    if isinstance(obj, (_native.Function, _native.ScriptFunction)):
        return _classify_native(obj)
    if isinstance(obj, OpOverloadPacket):
        return _classify_native(obj._op)
    if isinstance(obj, types.ModuleType):
        return ("module", obj)
    found = _by_identity(obj)
    if found is not None:
        return found
    if isinstance(obj, enum.Enum):
        return ("enum_member", enum_name(type(obj)), obj.name or str(obj))
    if isinstance(obj, type) and obj is not typing.Any:  # which is a class since Python 3.11
        return _classify_class(obj)
    answer = _classify_module_instance(obj)
    if answer is not None:
        return answer
    if obj in _marks.boolean_dispatched if _is_hashable(obj) else False:
        d = _marks.boolean_dispatched[obj]
        return ("dispatch", d["arg_name"], d["index"], d["default"], classify(d["if_true"]), classify(d["if_false"]))
    if isinstance(obj, (types.FunctionType, types.MethodType)):
        return _classify_function(obj)
    if isinstance(obj, _marks.Namespace):
        return ("module", obj)
    return _uncompilable(obj)


def _uncompilable(obj: Any) -> tuple[Any, ...]:
    """The answer for an object that is nothing to the compiler but, perhaps, something to call in Python."""
    kind, text = type(obj).__name__, repr(obj)
    if not callable(obj) or kind == "builtin_function_or_method":
        return ("uncompilable", obj, kind, text, None, None)
    if _is_nn_module_class(type(obj)):
        return ("uncompilable", obj, kind, text, "<python_value>", None)
    name = getattr(obj, "__name__", "<python_value>")
    try:
        signature = None if isinstance(obj, type) else signature_text(obj)
    except (TypeError, ValueError, AttributeError):
        signature = None
    return ("uncompilable", obj, kind, text, name, signature)


def _is_hashable(obj: Any) -> bool:
    return isinstance(obj, types.FunctionType)


def _is_constant(obj: Any) -> bool:
    if isinstance(obj, tuple) and not hasattr(obj, "_fields"):
        return all(_is_constant(x) for x in obj)
    return isinstance(obj, _CONSTANT_TYPES) and not isinstance(obj, enum.Enum)


def _classify_native(obj: Any) -> tuple[Any, ...]:
    name = _python_builtins().get(id(obj))
    return ("builtin", name) if name else ("callable", obj)


def _by_identity(obj: Any) -> tuple[Any, ...] | None:
    name = _specials().get(id(obj))
    if name is not None:
        return ("special", name)
    name = _python_builtins().get(id(obj))
    return None if name is None else ("builtin", name)


def _classify_class(cls: type) -> tuple[Any, ...]:
    if issubclass(cls, BaseException):
        return ("exception", f"{cls.__module__.replace('__main__', '__torch__')}.{cls.__name__}")
    if issubclass(cls, enum.Enum):
        return ("enum_class", enum_name(cls))
    if hasattr(cls, "_fields") and issubclass(cls, tuple):
        return ("named_tuple", named_tuple_name(cls))
    if getattr(cls, "__torch_script_interface__", False):
        return ("interface", interface_name(cls))
    if _is_nn_module_class(cls) and cls.__mro__[1] is not object:
        from torchjit.jit._recursive import concrete_type_store

        return ("module_class", cls, qualified_name(cls), concrete_type_store.has(cls))
    if _is_autograd_function(cls):
        return ("module_class", cls, qualified_name(cls), True)
    if isinstance(cls, _TensorType):
        return ("typed_constructor", cls._dtype)
    if cls.__module__ == "builtins" or cls is Tensor:
        return _uncompilable(cls)
    from torchjit.jit._callables import can_compile_class
    from torchjit.jit._script import script_class

    if _marks.is_ignored(cls) or issubclass(cls, Tensor) or not can_compile_class(cls):
        return _uninstantiable(cls)

    return ("class", script_class(cls))


def _uninstantiable(cls: type) -> tuple[Any, ...]:
    """The answer for a class that is left to Python, whose objects programs cannot make."""
    from torchjit.frontend import read_source

    try:
        read_source(cls)
    except OSError as e:
        return ("uninstantiable", repr(cls), "OSError", str(e))
    except TypeError:  # of an extension
        return _uncompilable(cls)
    return ("uninstantiable", repr(cls), "FrontendError", f"Cannot instantiate class '{cls.__name__}' in a script function")


def _is_nn_module_class(cls: type) -> bool:
    import sys

    nn = sys.modules.get("torchjit.nn")
    return nn is not None and issubclass(cls, nn.Module)


def _classify_module_instance(obj: Any) -> tuple[Any, ...] | None:
    if not _is_nn_module_class(type(obj)):
        return None
    from torchjit.jit._module import ScriptModule

    if isinstance(obj, ScriptModule) and obj._is_compiled():
        return ("script_module", obj._c)
    return _uncompilable(obj)


def _classify_function(fn: Any) -> tuple[Any, ...]:
    from torchjit.jit import _script

    if _marks.is_ignored(fn):
        return ignored_answer(fn)
    overloads = _marks.overloads_of(fn)
    if overloads:
        from torchjit.jit import _overloads

        _overloads.check_implementation("function", fn, overloads)
        return ("overloads", [_script.script_overload(fn, o) for o in overloads])
    if isinstance(fn, types.MethodType):
        return _uncompilable(fn)
    fn = getattr(fn, "__original_fn", fn)
    return ("callable", _script.script_function(fn))


def ignored_answer(fn: Any, skip_self: bool = False) -> tuple[Any, ...]:
    """The answer for a function that is marked @ignore or @unused."""
    signature = signature_text(fn, skip_self)
    return ("unused", signature) if _marks.is_unused(fn) else ("ignored", fn, fn.__name__, signature)


_tables: dict[str, dict[int, str]] = {}


def _specials() -> dict[int, str]:
    table = _tables.get("specials")
    if table is None:
        from torchjit.jit import _async, _await

        table = _tables["specials"] = {
            id(_marks.annotate): "annotate",
            id(_marks.isinstance): "jit_isinstance",
            id(_marks.is_scripting): "is_scripting",
            id(_async.fork): "fork",
            id(_async.wait): "wait",
            id(_await._awaitable): "awaitable",
            id(_await._awaitable_wait): "awaitable_wait",
            id(_await._awaitable_nowait): "awaitable_nowait",
        }
    return table


def _python_builtins() -> dict[int, str]:
    """Python functions, by identity, that stand for operators."""
    table = _tables.get("builtins")
    if table is None:
        table = _tables["builtins"] = {id(f): operator for f, operator in _builtin_ops()}
    return table


def _builtin_ops() -> list[tuple[Any, str]]:
    """Python functions and the operators that they stand for."""
    if not _known_builtins:
        import torchjit
        from torchjit import _C, _creation, _functions, _sparse, sparse

        table: list[tuple[Any, str]] = [(f, "aten::" + f.__name__) for f in _functions.OPERATORS]
        table += [(constructor, "aten::" + constructor.__name__) for constructor in _sparse.CONSTRUCTORS]
        table += [(function, "aten::" + operator) for function, operator in sparse.OPERATORS.items()]
        for f in ("tensor", "as_tensor"):
            table.append((getattr(_creation, f), "aten::" + f))
        for f in ("is_floating_point", "is_complex", "numel", "manual_seed"):
            table.append((getattr(torchjit, f), "aten::" + f))
        for name in _native.operators_with("math"):
            if hasattr(math, name):
                table.append((getattr(math, name), "aten::" + name))
        table.append((math.remainder, "aten::mathremainder"))
        for name in _native.operators_with("cmath"):
            table.append((getattr(cmath, name), "aten::" + name))
        table += [(cmath.phase, "aten::angle"), (cmath.rect, "aten::polar")]
        table.append((collections.OrderedDict, "aten::dict"))
        from torchjit.autograd import grad_mode
        from torchjit.backends import cudnn
        from torchjit.nn import functional, init
        from torchjit.nn.modules import utils

        table.append((_functions._assert, "aten::_assert"))
        table.append((cudnn.is_acceptable, "aten::cudnn_is_acceptable"))
        table.append((functional.assert_int_or_pair, "aten::_assert_int_or_pair"))
        table.append((vars(functional)["_no_grad_embedding_renorm_"], "aten::_no_grad_embedding_renorm_"))
        table.append((utils._list_with_default, "aten::list_with_default"))
        for name in ("_single", "_pair", "_triple", "_quadruple"):
            table.append((getattr(utils, name), "aten::" + name))
        for name in ("_no_grad_fill_", "_no_grad_normal_", "_no_grad_uniform_", "_no_grad_zero_"):
            table.append((getattr(init, name), "aten::" + name))
        for name in ("_infer_size", "_get_tracing_state"):
            table.append((getattr(_C, name), "aten::" + name))
        table.append((device, "aten::device"))
        table.append((Generator, "aten::Generator"))
        table.append((torchjit.Size, "aten::Size"))
        table.append((_marks._unwrap_optional, "aten::_unwrap_optional"))
        table.append((torchjit.is_autocast_enabled, "aten::is_autocast_enabled"))
        table.append((torchjit.is_autocast_cpu_enabled, "aten::is_autocast_cpu_enabled"))
        table.append((grad_mode.is_grad_enabled, "aten::is_grad_enabled"))
        table.append((grad_mode.set_grad_enabled, "aten::set_grad_enabled"))
        table.append((torchjit.autograd.grad, "aten::grad"))
        for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"):
            table.append((getattr(torchjit.overrides, name), "aten::has_torch_function"))
        table.append((torchjit.autograd.backward, "aten::backward"))
        table.append((torchjit.save, "aten::save"))
        table.append((warnings.warn, "aten::warn"))
        _known_builtins.extend(table)
    return _known_builtins


_known_builtins: list[tuple[Any, str]] = []


# ---- types ----


_SIMPLE_TYPES = {
    Tensor: "Tensor", int: "int", float: "float", bool: "bool", complex: "complex", str: "str", type(None): "NoneType",
    None: "NoneType", typing.Any: "Any", device: "Device", dtype: "int", Generator: "Generator", layout: "int",
    memory_format: "int", list: "list", tuple: "tuple",
}  # fmt: skip


def type_of_annotation(annotation: Any, scope: Scope) -> str:
    """The type of an annotation in the form of schemas. Fails on one that is no type."""
    found = _type_or_none(annotation, scope)
    if found is None:
        raise ValueError(f"Unknown type annotation: '{annotation}' at ")
    return found


def _type_or_none(annotation: Any, scope: Scope) -> str | None:
    from torchjit.jit import _async, _await

    if isinstance(annotation, str):
        annotation = scope.evaluate(annotation)
    if isinstance(annotation, typing.ForwardRef):
        annotation = scope.evaluate(annotation.__forward_arg__)
    try:
        simple = _SIMPLE_TYPES.get(annotation)
    except TypeError:
        return None
    if simple is not None:
        return simple
    if annotation in (typing.List, typing.Dict, typing.Tuple, typing.Optional):  # noqa: UP006
        _marks.refuse_unparametrized(annotation)
    if annotation is _marks.Future or annotation is _async.Future:
        raise RuntimeError("Attempted to use Future without a contained type. Please add a contained type, e.g. Future[int]")
    if annotation is _await._Await:
        raise RuntimeError("Attempted to use _Await without a contained type. Please add a contained type, e.g. _Await[int]")
    if isinstance(annotation, _marks._FutureType):
        return _wrap_type("Await({})" if annotation.__origin__ is _await._Await else "Future({})", annotation.__args__, scope)
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is not None:
        return _generic_type(origin, args, scope)
    if isinstance(annotation, type):
        return _class_type(annotation)
    return None


def _wrap_type(form: str, args: Any, scope: Scope) -> str | None:
    parts = [_type_or_none(a, scope) for a in args]
    return None if None in parts else form.format(*parts)


def _generic_type(origin: Any, args: Any, scope: Scope) -> str | None:
    if origin is list and args:
        return _wrap_type("{}[]", args, scope)
    if origin is dict and args:
        return _wrap_type("Dict({}, {})", args, scope)
    if origin is tuple:
        args = () if args == ((),) else args
        return _wrap_type("(" + ", ".join(["{}"] * len(args)) + ")", args, scope)
    if origin is typing.Final and args:
        return _type_or_none(args[0], scope)
    if origin in (typing.Union, types.UnionType):
        plain = [a for a in args if a is not type(None)]
        if len(plain) == 1 and len(args) == 2:
            return _wrap_type("{}?", plain, scope)
        return _wrap_type("Union(" + ", ".join(["{}"] * len(args)) + ")", args, scope)
    return None


def _class_type(cls: type) -> str | None:
    if issubclass(cls, enum.Enum):
        return enum_name(cls)
    if hasattr(cls, "_fields") and issubclass(cls, tuple):
        return named_tuple_name(cls)
    if getattr(cls, "__torch_script_interface__", False):
        return interface_name(cls)
    if issubclass(cls, Tensor):
        return "Tensor"
    if isinstance(cls, _TensorType):
        warnings.warn(
            "TorchScript will treat type annotations of Tensor dtype-specific subtypes as if they are normal Tensors. dtype constraints are not "
            "enforced in compilation either.",
            stacklevel=2,
        )
        return "Tensor"
    if cls.__module__ in ("builtins", "typing") or issubclass(cls, BaseException) or _is_nn_module_class(cls):
        return None
    from torchjit.jit._script import script_class

    return script_class(cls)


# ---- definitions of named types ----

_names: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()
_forgotten: weakref.WeakSet[type] = weakref.WeakSet()  # of these classes, which are defined again where a program names them


def known_name(cls: type) -> str | None:
    """The name of a class in the unit, None where it is not defined there."""
    return None if cls in _forgotten else _names.get(cls)


def forget_classes() -> None:
    """Has every class be defined again where a program names it; programs that have been compiled keep theirs."""
    _forgotten.update(_names)


def _unique(cls: type) -> str:
    """The name of a class in the unit, mangled where another class has it."""
    name = _native.free_name(qualified_name(cls))
    _known_classes[name] = cls
    _names[cls] = name
    _forgotten.discard(cls)
    return name


def named_tuple_name(cls: Any) -> str:
    """The qualified name of a named tuple class, which is defined in the unit on first use."""
    if (known := known_name(cls)) is not None:
        return known
    scope = Scope.of_class(cls)
    annotations = _annotations.of_class(cls)
    fields = list(cls._fields)
    field_types = [type_of_annotation(annotations.get(f, Tensor), scope) for f in fields]
    defaults = [cls._field_defaults[f] for f in fields if f in cls._field_defaults]
    name = _unique(cls)
    _native.define_named_tuple(name, fields, field_types, defaults)
    return name


def _enum_kind(member: Any) -> str:
    """The type of what a member of an enumeration holds, for messages about those that cannot be compiled."""
    if isinstance(member, (tuple, list, dict)):
        return "Any"
    return "Tensor" if isinstance(member, Tensor) else type(member).__name__


def enum_name(cls: type[enum.Enum]) -> str:
    """The qualified name of an enumeration, which is defined in the unit on first use."""
    if (known := known_name(cls)) is not None:
        return known
    values = [member.value for member in cls]
    if not values:
        raise ValueError(f"No enum values defined for: '{type(cls)}'")
    kinds = list(dict.fromkeys(_enum_kind(v) for v in values))
    if len(kinds) > 1 and not {"Any", "NoneType"} & set(kinds):
        raise RuntimeError(
            f"Could not unify type list since element 1 of type {kinds[1]} did not match the types before it ({kinds[0]})"
        )
    if kinds[0] not in ("int", "float", "str") or len(kinds) > 1:
        kind = kinds[0]
        if len(kinds) > 1:
            kind = "Any" if "Any" in kinds else f"{next(k for k in kinds if k != 'NoneType')}?"
        raise RuntimeError(f"Cannot create Enum with value type '{kind}', only int, float and string are supported")
    name = _unique(cls)
    _native.define_enum(name, [member.name for member in cls], values)
    return name


def script_class_of(obj: Any) -> tuple[str, Any] | None:
    """The qualified name of the script class that an object is an instance of, with the object; None for other objects."""
    name = _names.get(type(obj))
    return None if name is None else (name, obj)


def interface_name(cls: type) -> str:
    """The qualified name of an interface."""
    return _names.get(cls) or qualified_name(cls)


def define_interface(cls: type, scope: Scope) -> str:
    """Defines an interface in the unit."""
    from torchjit.frontend import get_jit_class_def

    if (known := known_name(cls)) is not None:
        return known
    name = _unique(cls)
    tree = get_jit_class_def(cls, cls.__name__)
    _native.define_interface(name, tree.data, scope, _is_nn_module_class(cls))
    return name


# ---- signatures ----


def _commented_types(fn: Any, scope: Scope, count: int) -> tuple[list[Any], Any] | None:
    """The annotations of count parameters and of the result in a function's type comment, None where it has none."""
    import inspect
    import textwrap

    from torchjit.jit.annotations import EvalEnv, get_type_line, split_type_line

    try:
        line = get_type_line(textwrap.dedent(inspect.getsource(fn)))
    except (TypeError, OSError):
        return None
    if line is None:
        return None
    names: Any = EvalEnv(lambda name: scope.find(name)[1])
    parts = split_type_line(line) if "->" in line else (line[len("# type:") :], "")
    parameters, result = (eval(text, {}, names) if text else inspect.Signature.empty for text in parts)
    given = list(parameters) if isinstance(parameters, tuple) else [parameters]
    if len(given) != count:
        raise RuntimeError(f"The type comment of {fn.__name__} has {len(given)} types for {count} parameters")
    return given, result


def signature_text(fn: Any, skip_self: bool = False) -> str:
    """The signature of a Python function as a schema's text, from its annotations or its type comment."""
    scope = Scope.of_function(fn)
    signature = _annotations.signature(fn)
    parameters = list(signature.parameters.values())[skip_self:]
    kinds = [p.annotation for p in parameters]
    result = signature.return_annotation
    untyped = result is signature.empty and all(k is signature.empty for k in kinds)
    if untyped and (commented := _commented_types(fn, scope, len(parameters))):
        kinds, result = commented
        untyped = False
    texts = ["Tensor" if k is signature.empty else type_of_annotation(k, scope) for k in (*kinds, result)]
    parts = [f"{kind} {p.name}" for kind, p in zip(texts, parameters, strict=False)]
    # In parentheses, for a tuple is one result; where no type is written, there are as many results as a call's are given names.
    return f"{fn.__name__}({', '.join(parts)}) -> {'...' if untyped else f'({texts[-1]})'}"
