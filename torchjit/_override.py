"""Calls that arguments or modes take over: __torch_function__. The public names are those of torch.overrides.

The library looks at this only where an argument has a class with __torch_function__, or a mode is active in some thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from torchjit import _native
from torchjit._native import Function
from torchjit._pytorch_tensors import converted, is_pytorchs, of_pytorch


class _Disabled:
    """The __torch_function__ of classes that want none: their tensors count as any other."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, cls: Any, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        with DisableTorchFunction():
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_function_impl>"


_disabled_torch_function_impl = _Disabled()


class DisableTorchFunction:
    """A context in which no call of this thread is taken over: tensors of subclasses count as any other."""

    def __enter__(self) -> None:
        self._was = _native.set_torch_function_enabled(False)

    def __exit__(self, *exception: object) -> None:
        _native.set_torch_function_enabled(self._was)


class _DisableFuncTorch:
    """A context without the transforms of functorch: there are none anywhere."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


# ---- modes ----

_local = threading.local()


def mode_stack() -> list[Any]:
    """The modes that are active in this thread, the innermost last."""
    if not hasattr(_local, "modes"):
        _local.modes = []
    return _local.modes


def has_mode() -> bool:
    """Whether a mode is active in this thread."""
    return bool(mode_stack())


def push_mode(mode: Any) -> None:
    """Makes a mode the innermost one."""
    mode_stack().append(mode)
    _native.count_modes(1)


def pop_mode() -> Any:
    """Ends the innermost mode."""
    _native.count_modes(-1)
    return mode_stack().pop()


def _call_mode(func: Any, kinds: tuple[type, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of a call; while it does so, the one around it is the innermost."""
    mode = pop_mode()
    try:
        return mode.__torch_function__(func, kinds, args, kwargs)
    finally:
        push_mode(mode)


# ---- calls ----


def overriding(relevant_args: Iterable[Any]) -> list[Any]:
    """The arguments of different classes that have __torch_function__, subclasses before their bases."""
    from torchjit._tensor import Tensor

    found: list[Any] = []
    for arg in relevant_args:
        kind = type(arg)
        if kind is Tensor or getattr(kind, "__torch_function__", _disabled_torch_function_impl) is _disabled_torch_function_impl:
            continue
        if any(type(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, arg)
    return found


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the innermost mode or the arguments' __torch_function__ makes of a call. Raises TypeError where none takes it."""
    is_syntax = getattr(public_api, "_is_syntax", False)
    found = overriding(relevant_args)
    if any(map(of_pytorch, found)):
        return public_api(*converted(args), **converted(kwargs))
    if isinstance(public_api, Function):
        public_api = getattr(public_api, "_public", public_api)
    kinds = tuple(map(type, found))
    if mode_stack():
        result = _call_mode(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in found:
        try:
            result = arg.__torch_function__(public_api, kinds, args, kwargs)
        except TypeError:
            if is_syntax and _native.foreign_in_use():
                return NotImplemented
            raise
        if result is not NotImplemented:
            return result
    if is_syntax:
        return NotImplemented
    raise TypeError(f"no implementation found for '{public_name(public_api)}' on types that implement __torch_function__: {list(kinds)}")


def public_name(public_api: Any) -> str:
    """The name of a function with its module, for messages."""
    from torchjit import overrides

    found = overrides.resolve_name(public_api)
    if found is not None:
        return found
    module = "torch" if isinstance(public_api, Function) else getattr(public_api, "__module__", None)
    return f"{module}.{getattr(public_api, '__name__', public_api)}"


# ---- subclasses of Tensor ----


def as_subclass(tensor: Any, cls: Any) -> Any:
    """A tensor that is the same one as another to autograd and in memory, as an instance of a class derived from Tensor."""
    with DisableTorchFunction():
        made = _native.operator("aten::alias")(tensor)
    return _native.recast(made, cls)


def default_torch_function(cls: type, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Calls the function as for tensors; tensors that it gives become instances of cls."""
    if not all(issubclass(cls, t) for t in types) or is_pytorchs(func):
        return NotImplemented
    with DisableTorchFunction():
        result = func(*args, **(kwargs or {}))
        return result if func in _kept() else _converted(result, cls)


def _kept() -> frozenset[Any]:
    """What gives tensors as they are."""
    from torchjit.overrides import get_default_nowrap_functions

    return frozenset(get_default_nowrap_functions())


def _converted(result: Any, cls: type) -> Any:
    """A tensor, and tensors in tuples and lists, as instances of cls."""
    from torchjit._tensor import Tensor

    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(result, cls)
    if isinstance(result, (tuple, list)):
        items = [_converted(item, cls) for item in result]
        make: Any = getattr(type(result), "_make", type(result))
        return make(items)
    return result


# Members of Tensor that no class takes over: what makes objects, and what others are made of.
_NEVER = frozenset((
    "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__torch_function__", "__class__", "__dict__", "__weakref__", "__getattribute__",
    "__setattr__", "__delattr__", "__hash__", "__dir__", "__doc__", "__module__", "__slots__", "__iter__", "__buffer__", "__release_buffer__",
    "_make_subclass", "_make_wrapper_subclass", "__torch_dispatch__", "as_subclass", "empty_of", "new", "_numbers", "_length", "_reduce", "__weaklistoffset__", "_backward_hooks",
))  # fmt: skip


def prepare_subclass(cls: Any) -> None:
    """Has a class derived from Tensor, unless it wants no __torch_function__, take over the members of Tensor that are not operators.

    Operators see by themselves that a tensor is of such a class.
    """
    from torchjit._tensor import Tensor

    if getattr(cls, "__torch_function__", None) is _disabled_torch_function_impl:
        return
    if any(base is not cls and base is not Tensor and issubclass(base, Tensor) and getattr(base, "_takes_over", False) for base in cls.__mro__):
        return
    cls._takes_over = True
    for name, member in _members(Tensor).items():
        if name not in _NEVER and _owner(cls, name) in Tensor.__mro__:
            setattr(cls, name, member)


def _owner(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in vars(base)), None)


_made: dict[str, Any] = {}


def _members(tensor: type) -> dict[str, Any]:
    """For each member of Tensor that is no operator, one that can be taken over."""
    if not _made:
        for base in reversed(tensor.__mro__[:-1]):
            for name, member in vars(base).items():
                _made.pop(name, None)
                if hasattr(type(member), "__set__"):
                    _made[name] = _property(member)
                elif callable(member) and not isinstance(member, staticmethod) and not (isinstance(member, Function) and not _is_helper(member)):
                    _made[name] = _method(getattr(member, "_public", member))
    return _made


def _is_helper(function: Function) -> bool:
    """Whether a function of the library is no operator: such a one does not look at the classes of tensors."""
    if hasattr(function, "_is_syntax") or hasattr(function, "_public"):
        return False
    return _native.operator_of_function(function) is None


def _method(original: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _native.has_torch_function_variadic(self, *args):
            return original(self, *args, **kwargs)
        return handle_torch_function(original, (self, *args, *kwargs.values()), self, *args, **kwargs)

    method.__name__ = method.__qualname__ = getattr(original, "__name__", "method")
    method.__doc__ = getattr(original, "__doc__", None)
    return method


def _property(original: Any) -> property:
    def access(how: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any) -> Any:
            function = getattr(original, how)
            if not _native.has_torch_function_unary(self):
                return function(self, *args)
            return handle_torch_function(function, (self,), self, *args)

        return call

    return property(access("__get__"), access("__set__"), access("__delete__"), getattr(original, "__doc__", None))
