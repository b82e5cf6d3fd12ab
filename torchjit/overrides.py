"""torch.overrides: classes and modes that take part in functions of tensors by their method __torch_function__."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType as _FunctionType
from typing import Any

from torchjit import _native, _operator_names, _overridable, _override
from torchjit._native import Function
from torchjit._native import has_torch_function_unary as has_torch_function_unary
from torchjit._native import has_torch_function_variadic as has_torch_function_variadic
from torchjit._override import handle_torch_function as handle_torch_function
from torchjit._override import overriding as _get_overloaded_args
from torchjit._override import pop_mode as _pop_mode
from torchjit._override import push_mode as _push_mode
from torchjit._tensor import Tensor

_has_torch_function_unary, _has_torch_function_variadic = has_torch_function_unary, has_torch_function_variadic


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether an argument has a class with __torch_function__, or a mode is active."""
    if not _native.torch_function_enabled():
        return False
    return bool(_get_overloaded_args(relevant_args)) or _override.has_mode()


_has_torch_function = has_torch_function


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function one that arguments can override; dispatcher gives the arguments that count."""

    def decorate(func: Any) -> Any:
        import functools

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or has a class with __torch_function__."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is a method of Tensor, or reads a property."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or _tensor_methods().get(func) is not None


# ---- modes ----


class TorchFunctionMode:
    """A context in which __torch_function__ of the mode sees every call of a function of tensors.

    Within __torch_function__ the mode is not active; func(*args, **kwargs) goes on with the modes around it.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Raises NotImplementedError: a class derived from this one says what is to happen."""
        raise NotImplementedError()

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Kept for old programs: makes a mode."""
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls the functions as they are."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Calls the function."""
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list[Any]:
    """The modes that are active in this thread, the innermost last."""
    return list(_override.mode_stack())


def _get_current_function_mode() -> Any:
    """The innermost mode, None where there is none."""
    stack = _override.mode_stack()
    return stack[-1] if stack else None


def _len_torch_function_stack() -> int:
    """How many modes are active in this thread."""
    return len(_override.mode_stack())


def _get_function_stack_at(index: int) -> Any:
    """The mode at a place, 0 the outermost."""
    return _override.mode_stack()[index]


_is_torch_function_mode_enabled = _override.has_mode
_push_on_torch_function_stack, _pop_torch_function_stack = _push_mode, _pop_mode


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """A context in which the innermost mode is not active; gives it."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _no_torch_function_mode() -> Iterator[None]:
    """A context in which no mode is active."""
    stopped = [_pop_mode() for _ in _get_current_function_mode_stack()]
    try:
        yield
    finally:
        for mode in reversed(stopped):
            _push_mode(mode)


# ---- names ----


def get_default_nowrap_functions() -> set[Any]:
    """What gives tensors that do not become instances of a subclass by Tensor.__torch_function__."""
    cls: Any = Tensor
    return {cls._base.__get__, cls.grad.__get__}


_methods: dict[Any, str] = {}


def _tensor_methods() -> dict[Any, str]:
    """The methods of Tensor with their names."""
    if not _methods:
        for cls in reversed(Tensor.__mro__[:-1]):
            for name, f in vars(cls).items():
                if isinstance(f, (Function, _FunctionType)) or type(f).__name__ in ("method_descriptor", "wrapper_descriptor"):
                    # Of the names of one operator the plain one counts.
                    if not (f in _methods and name.startswith("__")):
                        _methods[f] = name
    return _methods


def _get_tensor_methods() -> set[Any]:
    """The methods of Tensor that can be overridden."""
    return set(_tensor_methods())


# Where the functions stand that programs call, and what stands in them for operators when it is first asked for.
_NAMESPACES = ("torch", "torch.functional", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
_PREFIXES = {"torch": "", "torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}


def _namespace(name: str) -> Any:
    import importlib

    return importlib.import_module(name.replace("torch", "torchjit", 1))


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions of torch, its submodules and Tensor that can be overridden, by the module or class that they are in."""
    found: dict[Any, list[Any]] = {}
    for name in _NAMESPACES:
        module, prefix = _namespace(name), _PREFIXES.get(name)
        names = {n for n in vars(module) if not n.startswith("_")}
        if prefix is not None:
            names |= {n.removeprefix(prefix) for n in _native.operator_names("aten") if n.startswith(prefix) and not n.startswith("_")}
            names = {n for n in names if not _operator_names.is_of_python(n)}
        members = [getattr(module, n, None) for n in sorted(names)]
        own = module.__name__
        found[module] = [
            m for m in members if (isinstance(m, Function) or isinstance(m, _FunctionType) and m.__module__ == own) and m not in _overridable.ignored()
        ]
    found[Tensor] = sorted(_get_tensor_methods() - _overridable.ignored(), key=lambda f: _tensor_methods()[f])
    for cls in Tensor.__mro__[:-1]:
        for name, member in vars(cls).items():
            if hasattr(type(member), "__set__") and not name.startswith("__"):
                found[member] = [member.__get__]
    return found


def _get_overridable_functions() -> tuple[dict[Any, list[Any]], dict[Any, str | None]]:
    """get_overridable_functions, and the names of the functions."""
    found = get_overridable_functions()
    return found, {f: resolve_name(f) for functions in found.values() for f in functions}


def get_ignored_functions() -> set[Any]:
    """The public functions that __torch_function__ is not asked about: those that take no tensors or work on any."""
    return set(_overridable.ignored())


def get_testing_overrides() -> dict[Any, Any]:
    """For each function that can be overridden one with the same parameters that returns -1, to be a test's implementation."""
    return dict(_overridable.testing())


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A context within __torch_dispatch__ in which operators are recorded and dispatched as where the operator was called.

    Raises RuntimeError elsewhere.
    """
    if not _native.enter_above():
        raise RuntimeError("Accessing torch dispatch state outside of '__torch_dispatch__' is not allowed.")
    try:
        yield
    finally:
        _native.leave_above()


def resolve_name(f: Any) -> str | None:
    """The name of a function that __torch_function__ was given, such as torch.add, None for one that it is not given."""
    method = _tensor_methods().get(f) if _is_hashable(f) else None
    if method is not None:
        return "torch.Tensor." + method
    owner = getattr(f, "__self__", None)
    if getattr(f, "__name__", "") in ("__get__", "__set__", "__delete__") and owner is not None:
        for cls in Tensor.__mro__:
            for name, member in vars(cls).items():
                if member is owner:
                    return f"torch.Tensor.{name}.{f.__name__}"
    own = getattr(f, "__name__", None)
    if own is None:
        return None
    for namespace in _NAMESPACES:
        short = own.removeprefix(_PREFIXES.get(namespace, ""))
        if vars(_namespace(namespace)).get(short) is f:
            return f"{namespace}.{short}"
    return None


def _is_hashable(f: Any) -> bool:
    return getattr(type(f), "__hash__", None) is not None
