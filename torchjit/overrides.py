"""torch.overrides: classes that are no tensors and take part in functions of tensors by their method __torch_function__."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor


def _overriding(relevant_args: Iterable[Any]) -> list[Any]:
    """The arguments of different classes that have __torch_function__, subclasses before their bases."""
    found: list[Any] = []
    for arg in relevant_args:
        kind = type(arg)
        if isinstance(arg, _native.TensorBase) and not hasattr(kind, "__torch_function__") or not hasattr(kind, "__torch_function__"):
            continue
        if any(type(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, arg)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether an argument has a class with __torch_function__."""
    return bool(_overriding(relevant_args))


def has_torch_function_unary(relevant_arg: Any) -> bool:
    """has_torch_function for one argument."""
    return has_torch_function((relevant_arg,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """has_torch_function for several arguments."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the arguments' __torch_function__ makes of a call. Raises TypeError where none takes it."""
    found = _overriding(relevant_args)
    kinds = tuple(map(type, found))
    for arg in found:
        result = arg.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(kinds)}")


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
    """Whether a function is a method of Tensor."""
    return getattr(Tensor, getattr(func, "__name__", ""), None) is func or getattr(func, "__name__", "") == "__get__"
