"""torch.overrides: classes that are no tensors and take part in functions of tensors by their method __torch_function__."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType as _FunctionType
from typing import Any

from torchjit._native import Function, has_torch_function_unary, has_torch_function_variadic  # noqa: F401
from torchjit._tensor import Tensor


def _overriding(relevant_args: Iterable[Any]) -> list[Any]:
    """The arguments of different classes that have __torch_function__, subclasses before their bases."""
    found: list[Any] = []
    for arg in relevant_args:
        kind = type(arg)
        if not hasattr(kind, "__torch_function__"):
            continue
        if any(type(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, arg)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether an argument has a class with __torch_function__."""
    return bool(_overriding(relevant_args))


# Arguments that PyTorch's functions in Python pass on by name where they are operators here.
_DEFAULTS: dict[str, dict[str, Any]] = {"cdist": {"p": 2.0, "compute_mode": "use_mm_for_euclid_dist_if_necessary"}}


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the arguments' __torch_function__ makes of a call. Raises TypeError where none takes it."""
    if isinstance(public_api, Function):
        public_api = getattr(public_api, "_public", public_api)
        kwargs = {**_DEFAULTS.get(public_api.__name__, {}), **kwargs}
    found = _overriding(relevant_args)
    kinds = tuple(map(type, found))
    for arg in found:
        result = arg.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{_public_name(public_api)}' on types that implement __torch_function__: {list(kinds)}"
    )


def _public_name(public_api: Any) -> str:
    module = "torch" if isinstance(public_api, Function) else public_api.__module__
    return f"{module}.{public_api.__name__}"


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


_methods: dict[Any, str] = {}


def _tensor_methods() -> dict[Any, str]:
    """The methods of Tensor with their names."""
    if not _methods:
        for cls in reversed(Tensor.__mro__):
            _methods.update({f: name for name, f in vars(cls).items() if isinstance(f, (Function, _FunctionType))})
    return _methods
