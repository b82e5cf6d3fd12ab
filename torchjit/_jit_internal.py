"""Marks on Python functions and classes that say how they are compiled."""

from __future__ import annotations

import types
import typing
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from torchjit import _lazy

F = typing.TypeVar("F", bound=Callable[..., Any])


class Namespace:
    """Base of objects whose attributes programs may use as they use a module's."""


class FunctionModifiers:
    """The values of a function's `_torchscript_modifier`."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"


def _mark(fn: Any, modifier: str) -> None:
    fn._torchscript_modifier = modifier


def export(fn: F) -> F:
    """Compiles the method though nothing calls it.

    >>> class Two(nn.Module):
    ...     def forward(self, x):
    ...         return x
    ...     @torch.jit.export
    ...     def twice(self, x):
    ...         return 2 * x
    >>> torch.jit.script(Two()).twice(torch.ones(2))
    tensor([2., 2.])
    """
    _mark(fn, FunctionModifiers.EXPORT)
    return fn


def unused(fn: Any) -> Any:
    """Replaces the function, when it is compiled, by one that raises.

    >>> class Choice(nn.Module):
    ...     @torch.jit.unused
    ...     def only_in_python(self, x):
    ...         return [i for i in x if i > 0]
    ...     def forward(self, x):
    ...         return x
    >>> torch.jit.script(Choice())(torch.ones(2))
    tensor([1., 1.])
    """
    if isinstance(fn, property):
        for part in (fn.fget, fn.fset):
            if part is not None:
                _mark(part, FunctionModifiers.UNUSED)
        return fn
    _mark(fn, FunctionModifiers.UNUSED)
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Leaves the function to Python: a compiled program calls it there.

    >>> class Noisy(nn.Module):
    ...     @torch.jit.ignore
    ...     def note(self, n: int) -> None:
    ...         self.seen = n
    ...     def forward(self, x):
    ...         self.note(x.numel())
    ...         return x
    >>> torch.jit.script(Noisy())(torch.ones(2))
    tensor([1., 1.])
    """
    if callable(drop):
        _mark(drop, FunctionModifiers.IGNORE)
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    kept = kwargs.pop("drop_on_export", None)
    for name, given in (("drop_on_export=True", kept), ("True", drop)):
        if given:
            warnings.warn(
                f"ignore({name}) has been deprecated. TorchScript will now drop the function call on compilation. Use torch.jit.unused now. {{}}",
                category=FutureWarning,
                stacklevel=2,
            )
    drop = drop if kept is None else kept

    def decorate(fn: Any) -> Any:
        _mark(fn, FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE)
        return fn

    return decorate


class _IgnoreContextManager:
    """A with statement whose body a compiled program leaves to Python: _IgnoreContextManager(a="inp:int", b="out:List[int]").

    The keywords name what the body reads of the program and what it sets, with their types.
    """

    def __init__(self, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


def copy_to_script_wrapper(fn: F) -> F:
    """Copies the Python method onto scripted modules."""
    _mark(fn, FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)
    return fn


def modifier_of(fn: Any) -> str:
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "_torchscript_modifier", FunctionModifiers.DEFAULT)


def is_ignored(fn: Any) -> bool:
    return modifier_of(fn) in (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE)


def is_unused(fn: Any) -> bool:
    return modifier_of(fn) == FunctionModifiers.UNUSED


def is_left_to_python(fn: Any) -> bool:
    return modifier_of(fn) == FunctionModifiers.IGNORE


Final = typing.Final


class Attribute(typing.NamedTuple):
    """A module attribute with its type: self.x = torch.jit.Attribute({}, Dict[str, int]).

    >>> torch.jit.Attribute(0.5, float).value
    0.5
    """

    value: Any
    type: Any


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value, which compiled programs take to have the type.

    >>> from typing import Dict
    >>> @torch.jit.script
    ... def f():
    ...     names = torch.jit.annotate(Dict[str, int], {})
    ...     names["a"] = 1
    ...     return names
    >>> f()
    {'a': 1}
    """
    return the_value


def _unwrap_optional(x: Any) -> Any:
    """x, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


def is_scripting() -> bool:
    """False; in compiled programs, True.

    >>> def f(x):
    ...     if torch.jit.is_scripting():
    ...         return x + 1
    ...     return x
    >>> f(torch.zeros(1)), torch.jit.script(f)(torch.zeros(1))
    (tensor([0.]), tensor([1.]))
    """
    return False


def is_tracing() -> bool:
    """Whether a trace is being recorded. In compiled programs, False.

    >>> torch.jit.is_tracing()
    False
    """
    if is_scripting():
        return False
    return _is_recording()


is_tracing.__module__ = "torchjit.jit._trace"  # where programs have it


def _is_recording() -> bool:
    from torchjit import _native

    return _native.is_tracing()


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether obj is of a type such as List[int], as compiled programs tell. Warns of empty containers, which are of any.

    >>> from typing import Any, List
    >>> @torch.jit.script
    ... def f(x: Any) -> int:
    ...     if torch.jit.isinstance(x, List[int]):
    ...         return len(x)
    ...     return 0
    >>> f([1, 2]), f("text")
    (2, 0)
    """
    from torchjit.jit._callables import check_empty_containers

    check_empty_containers(obj)
    return _is_instance(obj, target_type)


_builtin_isinstance = __builtins__["isinstance"] if type(__builtins__) is dict else __builtins__.isinstance


def _is_instance(obj: Any, target: Any) -> bool:
    origin, args = typing.get_origin(target), typing.get_args(target)
    if _builtin_isinstance(target, tuple):
        return any(_is_instance(obj, t) for t in target)
    if target is None or target is type(None):
        return obj is None
    if (origin or target) in _UNPARAMETRIZED and not hasattr(target, "__args__"):
        refuse_unparametrized(target)
    if origin is None:
        if target is float:
            return type(obj) is float
        return _builtin_isinstance(obj, target)
    if origin is list:
        return type(obj) is list and all(_is_instance(x, args[0]) for x in obj)
    if origin is dict:
        return type(obj) is dict and all(_is_instance(k, args[0]) and _is_instance(v, args[1]) for k, v in obj.items())
    if origin is tuple:
        if not _builtin_isinstance(obj, tuple):
            return False
        args = () if args == ((),) else args
        return len(obj) == len(args) and all(_is_instance(x, t) for x, t in zip(obj, args, strict=True))
    return obj is None or any(_is_instance(obj, t) for t in args)


# What is said of types that do not say what they contain.
_UNPARAMETRIZED: dict[Any, str] = {
    **{
        t: f"{name} without a contained type. Please add a contained type, e.g. {name}[int]"
        for t, name in ((list, "List"), (tuple, "Tuple"), (typing.Optional, "Optional"))
    },
    dict: "Dict without contained types. Please add contained type, e.g. Dict[int, int]",
}


def refuse_unparametrized(target: Any) -> None:
    """Says that a type lacks what it contains: raises RuntimeError."""
    raise RuntimeError(f"Attempted to use {_UNPARAMETRIZED[typing.get_origin(target) or target]}")


def interface(obj: type) -> type:
    """Makes a class an interface: the methods that an object must have.

    >>> @torch.jit.interface
    ... class Layer(nn.Module):
    ...     def forward(self, x: torch.Tensor) -> torch.Tensor:
    ...         pass
    """
    import inspect

    from torchjit.jit import _resolve

    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    if obj.__mro__[1:] != (object,) and not _is_module_class(obj):
        raise RuntimeError(
            "TorchScript interface does not support inheritance yet. Please directly inherit from 'object' or 'nn.Module'."
        )
    frame = inspect.currentframe()
    obj.__torch_script_interface__ = True  # type: ignore[attr-defined]
    _resolve.define_interface(obj, _resolve.Scope.of_frame(frame.f_back if frame else None))
    return obj


def _is_module_class(cls: type) -> bool:
    from torchjit.nn import Module

    return issubclass(cls, Module)


def qualified_name(obj: Any, mangle: bool = True) -> str:
    """The name that a function or class has in programs: __torch__.pkg.module.Name."""
    if hasattr(obj, "_jit_override_qualname"):
        return obj._jit_override_qualname
    name = getattr(obj, "__name__", None) or type(obj).__name__
    if name == "<lambda>":
        name = "_lambda"
    module = getattr(obj, "__module__", None)
    if module is None and not hasattr(obj, "__name__"):
        raise RuntimeError("Could not get name of python class object")
    if module is None:
        raise RuntimeError(f"Could not get qualified name for class '{name}': __module__ can't be None.")
    if module == "torchjit" or module.startswith("torchjit."):
        module = "torch" + module[len("torchjit") :]
    if module == "__main__":
        module = "__torch__"
    else:
        module = "__torch__." + module.replace("<", "_").replace(">", "_")  # of packages: "<torch_package_0>.module"
    if "." in name:
        raise RuntimeError(f"Could not get qualified name for class '{name}': '{name}' is not a valid identifier")
    return f"{module}.{name}"


# Python functions that stand for several, one per signature: name -> functions.
_overloads: dict[str, list[Any]] = {}
_overload_users: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_method_overloads: dict[tuple[str, str], list[Any]] = {}
_overloading_classes: dict[tuple[str, str, str], int] = {}  # the lines of classes, by module, method and name


def _overload(fn: F) -> F:
    """Declares one signature of a function; the definition without the mark follows."""
    _check_body(fn)
    _overloads.setdefault(qualified_name(fn), []).append(fn)
    return fn


def _overload_method(fn: F) -> F:
    """Declares one signature of a method."""
    import inspect

    _check_body(fn)
    body = inspect.currentframe()
    body = None if body is None else body.f_back
    if body is not None:
        place = _overloading_classes.setdefault((fn.__module__, fn.__name__, body.f_code.co_name), body.f_code.co_firstlineno)
        if place != body.f_code.co_firstlineno:
            raise RuntimeError("Cannot currently overload the same method name in two different classes with the same name in the same module")
    key = (fn.__module__, fn.__qualname__)
    _method_overloads.setdefault(key, []).append(fn)
    return fn


def _check_body(fn: Any) -> None:
    """Looks at what a declaration has for a body, unless it is one of this package."""
    if not fn.__module__.startswith("torchjit."):
        from torchjit.jit import _overloads

        _overloads._check_overload_body(fn)


def overloads_of(fn: Any) -> list[Any] | None:
    return _overloads.get(qualified_name(fn)) if hasattr(fn, "__code__") and _overloads else None


def functions_of(cls: type) -> dict[str, types.FunctionType]:
    """The functions that a class and those it inherits from define, by name in alphabetical order."""
    return dict(sorted(_functions_of(cls)))


def _functions_of(cls: type) -> list[tuple[str, types.FunctionType]]:
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        members.update(vars(base))
    return [(name, member) for name, member in members.items() if type(member) is types.FunctionType]


def overloaded_methods(cls: type) -> dict[str, list[Any]]:
    """The declared signatures of the methods that have more than one."""
    if not _method_overloads:
        return {}
    names = {name for _, name in _method_overloads}
    found = [(name, _method_overloads.get((fn.__module__, fn.__qualname__))) for name, fn in _functions_of(cls) if fn.__qualname__ in names]
    return {name: signatures for name, signatures in sorted(found) if signatures}


def script_if_tracing(fn: F) -> F:
    """Compiles the function when it is first called in a trace.

    >>> @torch.jit.script_if_tracing
    ... def first(x):
    ...     return x[0] if x.dim() > 0 else x
    >>> torch.jit.trace(lambda x: first(x), torch.rand(2))(torch.tensor([4.0, 5.0]))
    tensor(4.)
    """
    import functools

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not is_tracing():
            return fn(*args, **kwargs)
        from torchjit.jit import script

        return script(wrapper.__original_fn)(*args, **kwargs)  # type: ignore[attr-defined]

    wrapper.__original_fn = fn  # type: ignore[attr-defined]
    wrapper.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return typing.cast(F, wrapper)


class Future:
    """The result of a forked call. `Future[T]` is its type in annotations."""

    def __class_getitem__(cls, item: Any) -> Any:
        return _FutureType(cls, (item,))


class _FutureType(types.GenericAlias):
    """`Future[T]`, which may stand in other annotations."""


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Any:
    """A function that is one of two, by the value of a bool argument that a program must fix."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = default
        if arg_name in kwargs:
            chosen = kwargs[arg_name]
        elif arg_index < len(args):
            chosen = args[arg_index]
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_false.__doc__ or if_true.__doc__
    fn.__module__, fn.__name__ = module_name, func_name
    boolean_dispatched[fn] = {
        "if_true": if_true, "if_false": if_false, "index": arg_index, "default": default, "arg_name": arg_name,
    }  # fmt: skip
    return fn


boolean_dispatched: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()

T = typing.TypeVar("T")


class BroadcastingList1(typing.List[T]):  # noqa: UP006
    """A list of one number, or the number."""


class BroadcastingList2(typing.List[T]):  # noqa: UP006
    """A list of two numbers, or one number for both."""


class BroadcastingList3(typing.List[T]):  # noqa: UP006
    """A list of three numbers, or one number for all."""


# What only those ask for who look at how functions are compiled.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "ast": "ast=", "builtins": "builtins=", "contextlib": "contextlib=", "inspect": "inspect=", "typing": "get_args get_origin",
    "torchjit._sources": "fake_range get_source_lines_and_file parse_def",
    "torchjit.jit._sources_kept": "FAKE_FILENAME_PREFIX LockType SourceLoader _TensorExtractor loader",
    "torchjit.jit._async": "CFuture=Future",
    "torchjit.jit._callables": (
        "createResolutionCallbackFromEnv _FrameNames createResolutionCallbackFromFrame get_closure "
        "createResolutionCallbackFromClosure createResolutionCallbackForClassMethods get_callable_argument_names "
        "get_torchscript_modifier copy_torchscript_modifier is_ignored_fn should_drop is_static_fn get_static_fn "
        "module_has_exports can_compile_class _qualified_name _get_named_tuple_properties _create_named_tuple "
        "_is_exception _disable_emit_hooks get_class_name_lineno _get_fn_overloads _clear_fn_overloads "
        "_get_overloaded_methods _try_get_dispatched_fn _origin is_tuple is_list is_dict is_union is_optional is_future is_await "
        "is_final get_annotation_str get_type_hint_captures check_args_exist raise_error_container_parameter_missing "
        "check_empty_containers container_checker _isinstance _extract_tensors BroadcastingListCls is_rref BroadcastingList4 BroadcastingList5 BroadcastingList6 "
        "is_rref_instance _copy_to_script_wrapper _disable_emit_hooks_decorator"
    ),
    "torchjit.jit._overloads": (
        "_check_overload_body get_overload_no_implementation_error_message check_implementation "
        "_check_overload_defaults _check_further_parameters check_declaration _compile_function_with_overload "
        "_get_overloads _check_directly_compile_overloaded _OVERLOAD_EXAMPLE"
    ),
    "torchjit.package": "package_mangling=_mangling",
})  # fmt: skip
