"""Modes that see every operator below autograd: TorchDispatchMode."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from torchjit import _native

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
    if name == "aten::slice.Tensor" and len(args) == 3:
        args = (*args, sys.maxsize)
    if name in _FACTORIES and "device" not in kwargs:
        from torchjit._types import device

        kwargs = {**kwargs, "device": device("cpu"), "pin_memory": False}
    return overload_of(name), args, kwargs


_FACTORIES = frozenset(f"aten::{name}" for name in (
    "arange", "arange.start", "arange.start_step", "empty.memory_format", "empty_strided", "eye", "eye.m", "full", "linspace", "logspace", "ones",
    "rand", "randint", "randint.low", "randn", "randperm", "zeros",
))  # fmt: skip


def call_mode(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of an operator; while it does so, the one around it is the innermost."""
    modes = mode_stack()
    func, args, kwargs = _as_pytorch(name, args, kwargs)
    if not modes:
        return func(*args, **kwargs)
    mode = modes.pop()
    _native.set_dispatching(bool(modes))
    try:
        return mode.__torch_dispatch__(func, (), args, kwargs)
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
