"""Modes that see every operator below autograd: TorchDispatchMode."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from torchjit import _native
from torchjit._dispatch_classes import call_classes, not_implemented, overriding

_local = threading.local()


def mode_stack() -> list[Any]:
    """The modes that are active in this thread, the innermost last."""
    if not hasattr(_local, "modes"):
        _local.modes = []
    return _local.modes


def overload_of(name: str) -> Any:
    """The operator of a schema, "aten::add.Tensor", as torch.ops has it."""
    base, _, overload = name.partition(".")
    namespace, _, function = base.partition("::")
    ops = importlib.import_module("torchjit.ops")
    return getattr(getattr(getattr(ops, namespace), function), overload or "default")


# What a number beside a tensor counts as: a tensor without dimensions.
_OF_NUMBERS = frozenset(f"aten::{name}{suffix}.Scalar" for name in ("add", "sub", "mul", "div") for suffix in ("", "_"))


def _as_pytorch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The overload and the arguments that PyTorch's Python functions give modes for an operator."""
    if name in _OF_NUMBERS:
        name = name.replace(".Scalar", ".Tensor")
        if len(args) == 3:
            first, second, alpha = args
            args, kwargs = (first, second), {**kwargs, "alpha": alpha}
    if name == "aten::slice.Tensor" and len(args) == 3:
        args = (*args, sys.maxsize)
    if name in _FACTORIES and "device" not in kwargs:
        from torchjit._types import device

        kwargs = {**kwargs, "device": device("cpu"), "pin_memory": False}
    if name in _LIKE and args:
        like = args[0]
        given = {"dtype": like.dtype, "layout": like.layout, "device": like.device, "pin_memory": False}
        kwargs = {**given, **kwargs}
    return overload_of(name), args, kwargs


_FACTORIES = frozenset(f"aten::{name}" for name in (
    "arange", "arange.start", "arange.start_step", "empty.memory_format", "empty_strided", "eye", "eye.m", "full", "linspace", "logspace", "ones",
    "rand", "randint", "randint.low", "randn", "randperm", "zeros",
))  # fmt: skip
_LIKE = frozenset(f"aten::{name}" for name in (
    "empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like", "new_empty", "new_empty_strided", "new_full",
    "new_ones", "new_zeros",
))  # fmt: skip


def call_mode(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of an operator; while it does so, the one around it is the innermost.

    Where no mode is active, or it returns NotImplemented, the classes of the arguments are asked.
    """
    modes = mode_stack()
    func, args, kwargs = _as_pytorch(name, args, kwargs)
    found = overriding((*args, *kwargs.values())) if _native.foreign_in_use() else []
    if not modes:
        return call_classes(func, found, args, kwargs) if found else func(*args, **kwargs)
    mode, kinds = modes.pop(), tuple(map(type, found))
    _native.set_dispatching(bool(modes))
    try:
        result = mode.__torch_dispatch__(func, kinds, args, kwargs)
        if result is NotImplemented and found:
            result = call_classes(func, found, args, kwargs)
        if result is NotImplemented:
            raise TypeError(not_implemented(func, kinds, mode))
        return result
    finally:
        modes.append(mode)


class TorchDispatchMode:
    """A context in which every operator of this thread goes to __torch_dispatch__ of the innermost mode.

    Modes see what runs below autograd: operators that are made of others (linear, matmul) as these others, those of the backward pass too.
    Operators that __torch_dispatch__ itself calls go to the mode around it, and run where there is none. A class derives from this one and
    defines __torch_dispatch__.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Gives what an operator gives: func(*args, **kwargs). Raises NotImplementedError in this class."""
        raise NotImplementedError()

    def __enter__(self) -> Any:
        mode_stack().append(self)
        _native.count_dispatch_modes(1)
        _native.set_dispatching(True)
        return self

    def __exit__(self, *exception: object) -> None:
        modes = mode_stack()
        modes.pop()
        _native.count_dispatch_modes(-1)
        _native.set_dispatching(bool(modes))

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Makes a mode."""
        return cls(*args, **kwargs)


# ---- the stack of modes, for code that handles it ----


def _push_mode(mode: Any) -> None:
    """Makes a mode the innermost one of this thread."""
    mode.__enter__()


def _pop_mode() -> Any:
    """Ends the innermost mode of this thread and returns it. Raises AssertionError where there is none."""
    modes = mode_stack()
    assert modes, "no mode is active"
    mode = modes[-1]
    TorchDispatchMode.__exit__(mode)
    return mode


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """A context in which the innermost mode is not active; gives it."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        TorchDispatchMode.__enter__(mode)


def _len_torch_dispatch_stack() -> int:
    """How many modes are active in this thread."""
    return len(mode_stack())


def _get_dispatch_stack_at(index: int) -> Any:
    """The mode at a place, 0 the outermost."""
    return mode_stack()[index]


def _get_current_dispatch_mode() -> Any:
    """The innermost mode, None where there is none."""
    modes = mode_stack()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes that are active in this thread, the innermost last."""
    return list(mode_stack())


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that runs every operator as it is."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def no_modes() -> Iterator[None]:
    """A context in which operators of this thread go to no mode."""
    saved, _local.modes = mode_stack(), []
    _native.set_dispatching(False)
    try:
        yield
    finally:
        _local.modes = saved
        _native.set_dispatching(bool(saved))
