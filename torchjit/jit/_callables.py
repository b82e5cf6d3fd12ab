"""What torch._jit_internal tells about functions, classes and annotations. It is looked at from outside; the compiler asks _resolve."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _annotations
from torchjit import _jit_internal as _marks
from torchjit._tensor import Tensor
from torchjit.jit import _resolve
from torchjit.jit._async import Future

T = typing.TypeVar("T")


# ---- names that a function sees ----


def createResolutionCallbackFromEnv(lookup_base: Any) -> Callable[[str], Any]:
    """A function that gives the value of a dotted name, starting from the attributes of an object."""

    def lookup(name: str) -> Any:
        found = lookup_base
        for part in name.split("."):
            found = getattr(found, part, None)
        return found

    return lookup


class _FrameNames:
    def __init__(self, local: dict[str, Any], of_module: dict[str, Any]) -> None:
        self._namespaces = (local, of_module, vars(builtins))

    def __getattr__(self, key: str) -> Any:
        for namespace in self._namespaces:
            if key in namespace:
                return namespace[key]
        return None


def createResolutionCallbackFromFrame(frames_up: int = 0) -> Callable[[str], Any]:
    """A function that gives the value of a name as it is seen where this is called, or frames_up callers above."""
    frame = inspect.currentframe()
    for _ in range(frames_up + 1):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    return createResolutionCallbackFromEnv(_FrameNames(frame.f_locals, frame.f_globals))


def get_closure(fn: Any) -> dict[str, Any]:
    """The names that a function sees outside of itself: those of its module and of the functions around it."""
    captures = dict(fn.__globals__)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):  # not assigned yet
            captures[name] = cell.cell_contents
    return captures


def createResolutionCallbackFromClosure(fn: Any) -> Callable[[str], Any]:
    """A function that gives the value of a name as a function sees it."""
    return createResolutionCallbackFromEnv(_FrameNames(get_closure(fn), {}))


def createResolutionCallbackForClassMethods(cls: Any) -> Callable[[str], Any]:
    """A function that gives the value of a name as the methods of a class see it."""
    captures: dict[str, Any] = {}
    for member in vars(cls).values():
        if isinstance(member, types.FunctionType):
            captures.update({k: v for k, v in get_closure(member).items() if k in member.__code__.co_names or k in member.__code__.co_freevars})
    return lambda key: captures.get(key, getattr(builtins, key, None))


# ---- functions and classes ----


def get_callable_argument_names(fn: Any) -> list[str]:
    """The names of a function's parameters, [] where it has others than plain ones."""
    from torchjit.jit._trace import _argument_names

    return _argument_names(fn)


def get_torchscript_modifier(fn: Any) -> Any:
    """How a function is compiled: a value of FunctionModifiers, None for what is no function."""
    return _marks.modifier_of(fn) if callable(fn) else None


def copy_torchscript_modifier(orig: Any, new: Any) -> None:
    """Gives a function the mark of another."""
    if hasattr(orig, "_torchscript_modifier"):
        new._torchscript_modifier = orig._torchscript_modifier


def is_ignored_fn(fn: Any) -> bool:
    """Whether a function is marked @ignore or @unused."""
    return _marks.is_ignored(fn)


def should_drop(fn: Any) -> bool:
    """Whether a function is marked @unused."""
    return _marks.is_unused(fn)


def is_static_fn(cls: Any, fn: str) -> bool:
    """Whether a member of a class is a static method."""
    return isinstance(inspect.getattr_static(cls, fn, None), staticmethod)


def get_static_fn(cls: Any, fn: str) -> Any:
    """The function of a static method."""
    return inspect.getattr_static(cls, fn).__func__


def module_has_exports(mod: Any) -> bool:
    """Whether a member of a module is marked @export."""
    return any(
        callable(getattr(mod, name, None)) and get_torchscript_modifier(getattr(mod, name)) == _marks.FunctionModifiers.EXPORT
        for name in dir(mod)
    )


def can_compile_class(cls: Any) -> bool:
    """Whether all that a class defines are functions of Python that may be compiled, and it is a class of neither modules, tuples, lists nor errors."""
    from torchjit.nn import Module

    if is_ignored_fn(cls) or issubclass(cls, (Module, tuple, list, Exception)):
        return False
    own = [getattr(cls, name) for name in vars(cls) if inspect.isroutine(getattr(cls, name, None))]
    return all(hasattr(f, "__code__") for f in own)


def _qualified_name(obj: Any, mangle_name: bool = True) -> str:
    """The name of a function or class in programs."""
    return _resolve.qualified_name(obj)


def _get_named_tuple_properties(obj: Any, loc: Any = None, rcb: Any = None) -> tuple[str, Any, list[Any], list[Any]]:
    """Name, names of the fields, types of the fields and defaults of a class of named tuples."""
    from torchjit import _C
    from torchjit.jit.annotations import ann_to_type

    types_of = _annotations.own(obj)
    tensor = _C.TensorType.get()
    fields = [ann_to_type(types_of[name], loc) if name in types_of else tensor for name in obj._fields]
    return type(obj).__name__ if not isinstance(obj, type) else obj.__name__, obj._fields, fields, list(getattr(obj, "_field_defaults", {}).values())


def _create_named_tuple(t: Any, unqual_name: str, field_names: list[str], defaults: tuple[Any, ...] = ()) -> Any:
    """An instance of a new class of named tuples."""
    import collections

    return collections.namedtuple(unqual_name, field_names, defaults=defaults)(*t)


def _is_exception(obj: Any) -> bool:
    """Whether an object is a class of exceptions."""
    return inspect.isclass(obj) and issubclass(obj, Exception)


@contextlib.contextmanager
def _disable_emit_hooks() -> Iterator[None]:
    """A context without hooks of the compiler: there are none."""
    yield


_disable_emit_hooks_decorator = _disable_emit_hooks


def get_class_name_lineno(method: Any) -> tuple[str, int]:
    """The name of the class whose body calls this two functions above, and the line at which it begins."""
    frame = inspect.currentframe()
    for _ in range(2):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    return frame.f_code.co_name, frame.f_code.co_firstlineno


def _get_fn_overloads(qual_name: str) -> Any:
    """The declared signatures of a function, None where it has one."""
    return _marks._overloads.get(qual_name)


def _clear_fn_overloads(qual_name: str) -> None:
    del _marks._overloads[qual_name]


def _get_overloaded_methods(method: Any, mod_class: Any) -> Any:
    """The declared signatures of a method, None where it has one."""
    return _marks.overloaded_methods(mod_class).get(method.__name__)


def _try_get_dispatched_fn(fn: Any) -> Any:
    """What boolean_dispatch knows of a function, None of another."""
    return _marks.boolean_dispatched.get(fn) if callable(fn) else None


# ---- annotations ----


def _origin(ann: Any) -> Any:
    return typing.get_origin(ann)


def is_tuple(ann: Any) -> bool:
    """Whether an annotation is Tuple[...]. Raises RuntimeError for one without parts; so do the next ones."""
    if ann is typing.Tuple:  # noqa: UP006
        _marks.refuse_unparametrized(ann)
    return _origin(ann) is tuple


def is_list(ann: Any) -> bool:
    """Whether an annotation is List[...]."""
    if ann is typing.List:  # noqa: UP006
        _marks.refuse_unparametrized(ann)
    return _origin(ann) is list


def is_dict(ann: Any) -> bool:
    """Whether an annotation is Dict[...]."""
    if ann is typing.Dict:  # noqa: UP006
        _marks.refuse_unparametrized(ann)
    return _origin(ann) is dict


def is_union(ann: Any) -> bool:
    """Whether an annotation is Union[...], Optional[...] among them."""
    if ann is typing.Union:
        raise RuntimeError("Attempted to use Union without a contained type. Please add a contained type, e.g. Union[int, str]")
    return _origin(ann) in (typing.Union, types.UnionType)


def is_optional(ann: Any) -> bool:
    """Whether an annotation is Optional[...]."""
    if ann is typing.Optional:
        _marks.refuse_unparametrized(ann)
    return is_union(ann) and type(None) in typing.get_args(ann) and len(typing.get_args(ann)) == 2


def is_future(ann: Any) -> bool:
    """Whether an annotation is Future[...]."""
    if ann is Future:
        raise RuntimeError("Attempted to use Future without a contained type. Please add a contained type, e.g. Future[int]")
    return isinstance(ann, _marks._FutureType) and not is_await(ann)


def is_await(ann: Any) -> bool:
    """Whether an annotation is _Await[...]."""
    return isinstance(ann, _marks._FutureType) and getattr(ann.__origin__, "__name__", "") == "_Await"


def is_final(ann: Any) -> bool:
    """Whether an annotation is Final or Final[...]."""
    return ann is typing.Final or _origin(ann) is typing.Final


def get_annotation_str(annotation: Any) -> str | None:
    """The text of an annotation that is an expression of ast."""
    import ast

    return ast.unparse(annotation) if isinstance(annotation, ast.AST) else None


def get_type_hint_captures(fn: Any) -> dict[str, Any]:
    """The types in the signature of a function by the text that stands for them."""
    signature = inspect.signature(fn)
    given = [p.annotation for p in signature.parameters.values()] + [signature.return_annotation]
    return {getattr(t, "__name__", str(t)): t for t in given if t is not inspect.Signature.empty and not isinstance(t, str)}


# ---- values and types ----


def check_args_exist(target_type: Any) -> None:
    """Raises RuntimeError for List, Tuple, Dict and Optional without what they hold."""
    if target_type in (typing.List, list, typing.Tuple, tuple, typing.Dict, dict, None, typing.Optional):  # noqa: UP006
        raise_error_container_parameter_missing(str(getattr(target_type, "_name", None) or getattr(target_type, "__name__", target_type)))


def raise_error_container_parameter_missing(target_type: str) -> None:
    """Says that a container's type lacks what it holds: raises RuntimeError."""
    name = target_type.capitalize()
    parts = "[int, int]" if name == "Dict" else "[int]"
    raise RuntimeError(f"Attempted to use {name} without {'contained types' if name == 'Dict' else 'a contained type'}. Please add contained type, e.g. {name}{parts}")


def check_empty_containers(obj: Any) -> None:
    """Warns of an empty container, which isinstance says to be of any type."""
    if isinstance(obj, (list, dict, tuple)) and not obj:
        warnings.warn(
            "The inner type of a container is lost when calling torch.jit.isinstance in eager mode. For example, List[int] would "
            "become list and therefore falsely return True for List[float] or List[str].",
            stacklevel=2,
        )


def container_checker(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a container's type."""
    return _marks._is_instance(obj, target_type)


def _isinstance(obj: Any, target_type: Any) -> bool:
    """torch.jit.isinstance."""
    return _marks._is_instance(obj, target_type)


def _extract_tensors(obj: Any) -> list[Tensor]:
    """The tensors in what can be pickled, each as often as it occurs."""
    import io

    from torchjit.jit._sources_kept import _TensorExtractor

    tensors: list[Tensor] = []
    _TensorExtractor(io.BytesIO(), protocol=-1, tensors=tensors).dump(obj)
    return tensors


class BroadcastingListCls:
    """Stands for a list of a fixed number of numbers, or one number for all."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList4, BroadcastingList5, BroadcastingList6 = BroadcastingListCls(), BroadcastingListCls(), BroadcastingListCls()
_copy_to_script_wrapper = _marks.copy_to_script_wrapper

get_origin, get_args = typing.get_origin, typing.get_args


def is_rref(ann: Any) -> bool:
    """Whether an annotation is RRef[...], of which there is none here."""
    return False


def is_rref_instance(obj: Any) -> bool:
    """Whether an object is a reference to one of another process: there is none."""
    return False
