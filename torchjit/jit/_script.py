"""torch.jit.script: compiles functions, classes and modules."""

from __future__ import annotations

import inspect
import types
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from torchjit import _C as _C
from torchjit import _annotations, _lazy, _native
from torchjit import _jit_internal as _marks
from torchjit._jit_internal import qualified_name
from torchjit._other_names import emitted
from torchjit._tensor import Tensor
from torchjit.jit import _resolve, _state
from torchjit.jit._resolve import CallbackScope, Scope
from torchjit.jit._serialization import itself, reduce_function, reduce_method, save_to_buffer, save_to_path

if TYPE_CHECKING:
    from torchjit.jit._module import RecursiveScriptModule
    from torchjit.nn.modules.module import Module

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Class = TypeVar("_Class", bound=type)

ScriptFunction = _native.ScriptFunction
ScriptMethod = _native.ScriptMethod


def _graph_for(self: Any, *args: Any, **kwargs: Any) -> Any:
    """A copy of the optimized graph of a call. The profiling executor has one for all calls after the first ones, which is shown without a call."""
    graph = self._specialized_graph() if _native.profiles() else None
    if graph is None:
        self(*args, **kwargs)
        graph = last_executed_optimized_graph()
    return graph.copy()


def last_executed_optimized_graph() -> Any:
    """The graph that the call of a compiled function ran which was made last.

    Calls are inlined, constants folded, equal nodes merged and small loops unrolled. Groups of elementwise operators, which run as
    one kernel each, are shown as their operators unless the profiling executor groups them; torch.jit.explain shows the groups.

    >>> f = torch.jit.script(nn.ReLU())
    >>> _ = f(torch.rand(3))
    >>> "aten::relu" in str(torch.jit.last_executed_optimized_graph())
    True
    """
    return _C._last_executed_optimized_graph()


def _get_debug_state(self: Any) -> Any:
    """What the function runs now, as a GraphExecutorState. Raises RuntimeError before the first call."""
    from torchjit.jit import _executor_state

    self._executed_graph()
    return _executor_state.state_of(self)


class _Signature:
    """What inspect.signature and help say of a compiled function or method: the signature of the function it was made of, else that of its schema."""

    def __get__(self, f: Any, owner: type) -> inspect.Signature:
        if f is None:
            raise AttributeError("__signature__")
        made_of = getattr(f, "_torchdynamo_inline", None)
        if made_of is not None:
            return inspect.signature(made_of)
        schema = f.schema
        parameters = [
            inspect.Parameter(
                a.name,
                inspect.Parameter.KEYWORD_ONLY if a.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=a.default_value if a.has_default_value() else inspect.Parameter.empty,
                annotation=a.type.annotation_str,
            )
            for a in schema.arguments
            if a.name != "self"
        ]
        results = [r.type.annotation_str for r in schema.returns]
        return inspect.Signature(parameters, return_annotation=results[0] if len(results) == 1 else f"Tuple[{', '.join(results)}]")


ScriptFunction.__signature__ = ScriptMethod.__signature__ = _Signature()  # type: ignore[attr-defined]
ScriptFunction.get_debug_state = _get_debug_state  # type: ignore[attr-defined]
ScriptMethod.get_debug_state = _get_debug_state  # type: ignore[attr-defined]
ScriptFunction.graph_for = _graph_for  # type: ignore[attr-defined]
ScriptMethod.graph_for = _graph_for  # type: ignore[attr-defined]
ScriptFunction.save = save_to_path  # type: ignore[attr-defined]
ScriptFunction.save_to_buffer = save_to_buffer  # type: ignore[attr-defined]

ScriptFunction.__reduce__ = reduce_function  # type: ignore[method-assign, assignment]
ScriptFunction.__copy__ = ScriptFunction.__deepcopy__ = itself  # type: ignore[attr-defined]
ScriptMethod.__reduce__ = reduce_method  # type: ignore[method-assign, assignment]

_compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


# What a type checker knows of script: a class stays itself, a function keeps its parameters and its result.
@overload
def script(obj: _Class, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> _Class: ...  # type: ignore[overload-overlap]
@overload
def script(obj: Module, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> RecursiveScriptModule: ...  # type: ignore[overload-overlap]
@overload
def script(obj: Callable[_P, _R], optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> ScriptFunction[_P, _R]: ...
@overload
def script(obj: list[Any] | dict[Any, Any], optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any: ...
def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """Compiles a function, a class or a module.

    A function gives a ScriptFunction; a module a ScriptModule that shares its parameters; a class
    is returned as it is and can be used in compiled functions. optimize changes nothing. Parameters without annotation have the
    types that they have when the object is called with example_inputs: a list of tuples, or such lists by callable.

    >>> @torch.jit.script
    ... def positive(x, count: int):
    ...     for _ in range(count):
    ...         x = x.relu()
    ...     return x
    >>> positive(torch.tensor([-1.0, 2.0]), 2)
    tensor([0., 2.])
    """
    from torchjit.jit._module import ScriptModule
    from torchjit.nn import Module

    if not _state._enabled:
        return obj
    if optimize is not None:
        warnings.warn("`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution() instead", stacklevel=2)
    if isinstance(obj, (ScriptFunction, ScriptMethod)) or isinstance(obj, ScriptModule):
        return obj
    if example_inputs is not None:
        from torchjit.jit import _monkeytype_config

        with _monkeytype_config.types_from(_monkeytype_config.call_with(obj, example_inputs)):
            return script(obj)
    if isinstance(obj, Module):
        from torchjit.jit import _recursive

        obj = call_prepare_scriptable_func(obj)
        return emitted(_recursive.create_script_module(obj, _recursive.infer_methods_to_compile))
    if isinstance(obj, list):
        return create_script_list(obj)
    if isinstance(obj, dict):
        return create_script_dict(obj)
    if inspect.isclass(obj):
        return _script_a_class(obj, _caller(_frames_up + 1))
    if isinstance(obj, (types.FunctionType, types.MethodType)):
        if hasattr(obj, "__script_unsupported"):
            raise RuntimeError("TorchScript error: " + obj.__script_unsupported)
        return _script_a_function(obj)
    raise AttributeError(f"Could not compile {obj!r}: it is neither a function, a class nor a module")


def call_prepare_scriptable_func(obj: Any) -> Any:
    """What stands for an object when it is compiled: what its __prepare_scriptable__ gives, for the modules in it too."""
    return _prepared(obj, {})


def _prepared(obj: Any, memo: dict[int, Any]) -> Any:
    from torchjit.jit._module import ScriptModule
    from torchjit.nn import Module

    if not isinstance(obj, Module) or isinstance(obj, ScriptModule):
        return obj
    if id(obj) in memo:
        return memo[id(obj)]
    made = obj.__prepare_scriptable__() if hasattr(obj, "__prepare_scriptable__") else obj
    memo[id(obj)] = memo[id(made)] = made
    modules = made.__dict__.get("_modules", {})
    for name, module in modules.items():
        modules[name] = _prepared(module, memo)
    return made


def call_prepare_scriptable_func_impl(obj: Any, memo: dict[int, Any]) -> Any:
    """call_prepare_scriptable_func that keeps what stands for which object in memo."""
    return _prepared(obj, memo)


def _is_new_style_class(cls: Any) -> bool:
    """Whether a class is one of Python 3."""
    return hasattr(cls, "__class__") and ("__dict__" in dir(cls) or hasattr(cls, "__slots__"))


def _get_function_from_type(cls: type, name: str) -> Any:
    """The attribute of a class, None where it has none of the name."""
    return getattr(cls, name, None)


def _recursive_compile_class(obj: type, loc: Any) -> Any:
    """The class of the program that is made from a Python class which a program uses."""
    from torchjit.jit._type_builder import _compile_and_register_class

    return _compile_and_register_class(obj, None, qualified_name(obj))


def create_script_list(obj: Any, type_hint: Any = None) -> Any:
    """A list of a program with the items, whose type is theirs. An empty one is of tensors."""
    return _C._script_list(obj, _parts_of_container("list", obj or [Tensor(0)])[0])


def create_script_dict(obj: Any) -> Any:
    """A dictionary of a program with the items, whose types are theirs. An empty one maps strings to tensors."""
    return _C._script_dict(obj, *_parts_of_container("dictionary", obj or {"": Tensor(0)}))


def _parts_of_container(kind: str, obj: Any) -> list[Any]:
    inferred = _C._jit_try_infer_type(obj)
    if not inferred.success():
        raise _error_class()(f"Unable to infer type of {kind}: {inferred.reason()}")
    return list(inferred.type().containedTypes())


def _error_class() -> type[Exception]:
    from torchjit import jit

    return jit.Error


def _caller(frames_up: int) -> Any:
    """The frame so many callers above the function that asks."""
    frame = inspect.currentframe()
    for _ in range(frames_up + 1):
        frame = frame.f_back if frame is not None else None
    return frame


def _script_a_class(cls: type, frame: Any) -> type:
    from torchjit.nn import Module

    if issubclass(cls, Module):
        raise RuntimeError(
            f"Type '{cls}' cannot be compiled since it inherits from nn.Module, pass an instance instead"
        )
    if issubclass(cls, __import__("enum").Enum) or hasattr(cls, "_fields"):
        return cls
    if "__dict__" not in dir(cls) and not hasattr(cls, "__slots__"):
        raise RuntimeError("TorchScript classes must be new-style classes. Please inherit from 'object'.")
    if len(cls.mro()) > 2 and not _is_dataclass_like(cls):
        raise RuntimeError(
            "TorchScript classes does not support inheritance yet. Please directly inherit from 'object'.\n\n"
            f"Type '{cls}' inherits from '{cls.__bases__[0].__name__}'"
        )
    _native.ensure_class_compiled(script_class(cls, frame))
    return cls


def _is_dataclass_like(cls: type) -> bool:
    return hasattr(cls, "__dataclass_fields__")


def _script_a_function(fn: Any) -> Any:
    if getattr(fn, "__script_if_tracing_wrapper", False):
        fn = fn.__original_fn
    if _marks.overloads_of(fn):
        from torchjit.jit import _overloads

        _overloads._check_directly_compile_overloaded(fn)
    compiled = script_function(fn)
    try:
        _native.ensure_compiled(compiled)
    except BaseException:
        _compiled.pop(fn, None)
        raise
    return emitted(compiled)


def script_function(fn: Any) -> Any:
    """The compiled form of a Python function, the same each time. It is compiled when it is needed."""
    found = _compiled.get(fn)
    if found is not None:
        return found
    compiled = _compile(fn, fn)
    _compiled[fn] = compiled
    return compiled


def script_overload(fn: Any, declaration: Any) -> Any:
    """Compiles fn with the signature of one of its overload declarations."""
    found = _compiled.get(declaration)
    if found is None:
        from torchjit.jit import _overloads

        _overloads.check_declaration(fn, declaration)
        found = _compiled[declaration] = _compile(fn, declaration)
    return found


def _compile(fn: Any, declaration: Any) -> Any:
    from torchjit.frontend import get_default_args, get_jit_def

    name = qualified_name(fn)
    tree = get_jit_def(fn, fn.__name__, unused=_marks.is_unused(fn))
    signature = None if declaration is fn else get_jit_def(declaration, fn.__name__).data
    defaults = {**get_default_args(fn), **get_default_args(declaration)}
    if declaration is not fn:
        given = _annotations.signature(declaration).parameters
        defaults = {k: v for k, v in defaults.items() if k not in given or given[k].default is not inspect.Parameter.empty}
    compiled = _native.compile_function(name, tree.data, Scope.of_function(fn), defaults, signature)
    compiled.__doc__ = fn.__doc__
    compiled._torchdynamo_inline = fn
    return compiled


def script_class(cls: type, frame: Any = None) -> str:
    """The qualified name of a class, which is compiled when first needed. Its methods see the names of the frame."""
    if (known := _resolve.known_name(cls)) is not None:
        return known
    from torchjit.frontend import FrontendError, get_default_args, get_jit_class_def

    try:
        tree = get_jit_class_def(cls, cls.__name__)
    except FrontendError as e:
        e.compiled_class = qualified_name(cls)  # type: ignore[attr-defined]
        raise
    defaults = {m: get_default_args(f) for m, f in inspect.getmembers(cls, inspect.isfunction) if m in vars(cls)}
    name = _resolve._unique(cls)
    statics = [(n, script_function(m.__func__)) for n, m in vars(cls).items() if isinstance(m, staticmethod)]
    _native.compile_class(name, tree.data, Scope.of_class(cls, frame), defaults, statics)
    return name


class CompilationUnit:
    """Functions that are compiled from source text.

    >>> unit = torch.jit.CompilationUnit("def twice(x): return 2 * x")
    >>> unit.twice(torch.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._functions: dict[str, Any] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb: Any = None, _frames_up: int = 0) -> CompilationUnit:
        """Adds the functions of a source text; rcb gives the values of names, the frame of the caller does where it is None."""
        for f in _native.compile_source(lang, Scope.of_frame(_caller(_frames_up + 1)) if rcb is None else CallbackScope(rcb)):
            if f.__name__ in self._functions:
                raise RuntimeError(f"method '{f.__name__}' already defined.")
            self._functions[f.__name__] = f
        return self

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("_functions", {}).get(name)
        if found is None:
            raise AttributeError(f"'CompilationUnit' has no attribute '{name}'")
        return found

    def find_function(self, name: str) -> Any:
        """The function of that name, None where there is none."""
        return self._functions.get(name)

    def get_functions(self) -> list[Any]:
        return list(self._functions.values())

    def create_function(self, qualified_name: str, graph: Any, should_mangle: bool = False) -> Any:
        """A function of the unit whose body is a copy of a graph."""
        name = qualified_name
        if name in self._functions:
            if not should_mangle:
                raise RuntimeError(f"method '{name}' already defined.")
            name = _native.mangle(name)
        made = self._functions[name] = _C._create_function_from_graph(name, graph)
        return made

    def set_optimized(self, optimized: bool) -> None:
        """Accepted; functions are always optimized the same way."""

    def drop_all_functions(self) -> None:
        """Forgets the functions."""
        self._functions.clear()

    def get_class(self, name: str) -> Any:
        """The class of a qualified name in the program, None where there is none."""
        return _found(_C.ClassType, name)

    def get_interface(self, name: str) -> Any:
        """The interface of a qualified name in the program, None where there is none."""
        return _found(_C.InterfaceType, name)


def _found(make: Any, name: str) -> Any:
    try:
        return make(name)
    except TypeError:
        return None


# The methods that compiled classes may have with a meaning for Python, and those of a Module that stay as they are.
_magic_methods = [f"__{name}__" for name in (
    "iter", "len", "neg", "mul", "contains", "add", "sub", "pow", "truediv", "mod", "ne", "eq", "lt", "gt", "le", "ge", "and", "or", "xor",
    "getitem", "setitem", "call", "int", "float", "bool", "str", "enter", "exit",
)]  # fmt: skip


def _get_methods(cls: type) -> list[tuple[str, Any]]:
    """The functions of a class by name, in alphabetical order."""
    return inspect.getmembers(cls, predicate=lambda m: inspect.isfunction(m) or inspect.ismethod(m))


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "_jit_internal classes",
    "torchjit._C": "ConstMap",
    "torchjit._jit_internal": "Attribute interface _unwrap_optional",
    "torchjit._six": "with_metaclass",
    "torchjit.jit": "ScriptWarning set_module",
    "torchjit.jit._builtins": "_register_builtin",
    "torchjit.jit._callables": "_qualified_name",
    "torchjit.jit._fuser": "_script_method_graph_for",
    "torchjit.jit._module": "RecursiveScriptClass RecursiveScriptModule ScriptMeta ScriptModule _CachedForward _compiled_methods_allowlist _make_fail script_method",
    "torchjit.jit._module_dicts": "OrderedDictWrapper OrderedModuleDict",
    "torchjit.jit._monkeytype_config": "JitTypeTraceStore _get_type_trace_db monkeytype_trace type_trace_db",
    "torchjit.jit._overloads": "_check_directly_compile_overloaded _check_overload_defaults _compile_function_with_overload _get_overloads",
    "torchjit.jit._profile": "_ScriptProfile _ScriptProfileColumn _ScriptProfileTable pad",
    "torchjit.jit._recursive": "wrap_cpp_module",
    "torchjit.jit._type_builder": "_compile_and_register_class",
    "torchjit.jit._serialization": "validate_map_location",
    "torchjit.jit._state": "_enabled _python_cu _set_jit_function_cache _set_jit_overload_cache _try_get_jit_cached_function _try_get_jit_cached_overloads",
    "torchjit.jit._stubs": "ScriptMethodStub infer_methods_to_compile",
    "torchjit.jit.frontend": "get_default_args get_jit_class_def get_jit_def",
    "torchjit.nn": "Module",
    "torchjit.overrides": "has_torch_function has_torch_function_unary has_torch_function_variadic",
    "torchjit.package": "PackageExporter PackageImporter",
    "torchjit.package._scripted": "unpackage_script_module",
})  # fmt: skip
