"""Classes of tensors that run operators by their method __torch_dispatch__."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torchjit import _native


class _Disabled:
    """The __torch_dispatch__ of classes that want none."""

    __name__ = "_disabled_torch_dispatch_impl"

    def __call__(self, cls: Any, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_dispatch_impl>"


_disabled_torch_dispatch_impl = _Disabled()
_native.set_disabled_dispatch(_disabled_torch_dispatch_impl)


def dispatches(cls: Any) -> bool:
    """Whether a class has __torch_dispatch__ that counts."""
    return getattr(cls, "__torch_dispatch__", _disabled_torch_dispatch_impl) is not _disabled_torch_dispatch_impl


class _DisableTorchDispatch:
    """As long as it is there, no mode and no class sees the operators of this thread."""

    def __init__(self) -> None:
        self._was = _native.set_undispatched(True)

    def __del__(self) -> None:
        _native.set_undispatched(self._was)


class _AutoDispatchBelowAutograd:
    """As long as it is there, nothing is recorded for gradients."""

    def __init__(self) -> None:
        self._was = _native.set_below(True)

    def __del__(self) -> None:
        _native.set_below(self._was)


def _isTensorSubclassLike(tensor: Any) -> bool:
    """Whether a tensor is of a class that runs operators, or a mode is active."""
    from torchjit._dispatch_modes import mode_stack

    return bool(mode_stack()) or dispatches(type(tensor))


# ---- calls ----


def overriding(args: Iterable[Any]) -> list[Any]:
    """The tensors among arguments, of different classes, whose classes run operators; subclasses before their bases."""
    found: list[Any] = []
    for arg in args:
        for item in arg if isinstance(arg, (list, tuple)) else (arg,):
            kind = type(item)
            if not isinstance(item, _native.TensorBase) or not _native.tensor_dispatches(item) or any(type(o) is kind for o in found):
                continue
            at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
            found.insert(at, item)
    return found


def call_classes(func: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the classes of tensors make of an operator. Raises TypeError where none takes it."""
    kinds = tuple(map(type, found))
    for tensor in found:
        result = type(tensor).__torch_dispatch__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(not_implemented(func, kinds))


def not_implemented(func: Any, kinds: tuple[type, ...], mode: Any = None) -> str:
    """The message for an operator that no class and no mode takes."""
    beginning = f"no implementation found for 'torch._ops.{func}' on types that implement __torch_dispatch__: {list(kinds)}"
    return beginning if mode is None else f"{beginning} nor was it found on the currently active mode {mode!r}"


# ---- making tensors ----


def _make_wrapper_subclass(
    cls: Any, size: Any, strides: Any = None, storage_offset: Any = None, *, memory_format: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False, dispatch_layout: bool = False,
) -> Any:  # fmt: skip
    """A tensor of a class with __torch_dispatch__ that has a shape, a type and a device, but no elements.

    Raises TypeError where cls does not define __torch_dispatch__. What stands for the elements is an attribute that the class gives it.
    """
    from torchjit import _settings
    from torchjit._types import device as device_class

    if not isinstance(cls, type) or not dispatches(cls):
        raise TypeError(f"{getattr(cls, '__name__', cls)} must define __torch_dispatch__")
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"_make_wrapper_subclass(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    if dispatch_sizes_strides_policy is not None or dispatch_layout:
        raise NotImplementedError("_make_wrapper_subclass(): sizes, strides and layouts are those given: no class is asked for them")
    if memory_format is not None and strides is None:
        like = _native.operator("aten::empty")(list(size), device=device_class("meta"), memory_format=memory_format)
        strides = like.stride()
    where = device if isinstance(device, device_class) else device_class("cpu" if device is None else device)
    wanted = _settings.get_default_dtype() if dtype is None else dtype
    made = _native.TensorBase.__new__(
        cls, _native.tensor_wrapper(list(size), None if strides is None else list(strides), storage_offset or 0, wanted, where)
    )
    if requires_grad:
        _native.tensor_set_requires_grad(made, True)
    return made


def _make_subclass(
    cls: Any, data: Any, require_grad: bool = False, *, dispatch_sizes_strides_policy: str | None = None, dispatch_device: bool = False,
    dispatch_layout: bool = False,
) -> Any:  # fmt: skip
    """The elements of a tensor as an instance of a subclass of Tensor, which nothing has made.

    Raises RuntimeError where cls is no subclass of Tensor.
    """
    from torchjit._tensor import Tensor

    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise RuntimeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits from Tensor."
        )
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    if dispatch_sizes_strides_policy is not None or dispatch_layout:
        raise NotImplementedError("_make_subclass(): sizes, strides and layouts are those of the tensor: no class is asked for them")
    made = _native.TensorBase.__new__(cls, data)
    _native.tensor_set_requires_grad(made, require_grad)
    return made


def rebuild_wrapper_subclass(
    cls: Any, dtype: Any, size: Any, stride: Any, storage_offset: int, layout: Any, device: Any, requires_grad: bool, state: Any = None
) -> Any:  # fmt: skip
    """What pickle calls to make a tensor without elements again; state is what its attributes were."""
    made = _make_wrapper_subclass(cls, size, stride, storage_offset, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    set_state(made, state or {})
    return made


def state_of(tensor: Any) -> dict[str, Any]:
    """The attributes of a tensor, those in slots included."""
    state = {name: value for name, value in getattr(tensor, "__dict__", {}).items() if name != "_backward_hooks"}
    for cls in type(tensor).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and cls.__module__.partition(".")[0] != "torchjit" and hasattr(tensor, name):
                state[name] = getattr(tensor, name)
    return state


def set_state(tensor: Any, state: dict[str, Any]) -> None:
    """Gives a tensor attributes."""
    for name, value in state.items():
        object.__setattr__(tensor, name, value)


def copied(tensor: Any, memo: dict[int, Any]) -> Any:
    """A deep copy of a tensor whose class runs operators: its clone, and copies of its attributes."""
    import copy

    wraps = _native.tensor_wraps(tensor)
    made = tensor.clone() if wraps else tensor.new_empty([])
    if type(made) is not type(tensor):
        kinds, method = ("wrapper", "clone") if wraps else ("non-wrapper", "new_empty")
        raise RuntimeError(
            f"The default implementation of __deepcopy__() for {kinds} subclasses only works for subclass types that implement {method}() and for which "
            f"that function returns another instance of the same subclass. You should either properly implement {method}() for your subclass or override "
            f"__deepcopy__() if it is intended behavior for {method}() to return an instance of a different type."
        )
    if not wraps:
        guard = _DisableTorchDispatch()
        made = _make_subclass(type(tensor), tensor.detach().clone(), tensor.requires_grad)
        del guard
    memo[id(tensor)] = made
    if tensor.grad is not None:
        made.grad = copy.deepcopy(tensor.grad, memo)
    set_state(made, copy.deepcopy(state_of(tensor), memo))
    return made
