"""Functions of the library in pickles: by the names that PyTorch's pickles have for its own, so that either reads what the other wrote."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native


class _FunctionsOfTorch(type):
    def __getattr__(cls, name: str) -> Any:
        found = getattr(torch, name, None)
        if not isinstance(found, _native.Function):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return found


class _VariableFunctionsClass(metaclass=_FunctionsOfTorch):
    """Has the functions of torch as attributes."""

    __module__ = "torchjit._C"


def place_of(f: _native.Function) -> tuple[Any, str]:
    """What has a function as attribute, and the attribute's name. Raises AttributeError where nothing is known to."""
    from torchjit import _operator_modules

    name = f.__name__
    modules = (_operator_modules._special, _operator_modules._linalg, _operator_modules._fft, _operator_modules._nn)
    for owner in (_VariableFunctionsClass, torch._C._TensorBase, *modules):
        if getattr(owner, name, None) is f:
            return owner, name
    for shown, owner in ((torch.nn.functional, _operator_modules._nn), *((cls, torch.Tensor) for cls in torch.Tensor.__mro__)):
        for attribute, value in vars(shown).items():
            if value is f:
                return owner, attribute
    raise AttributeError(f"cannot pickle {f!r}: nothing is known to have it as an attribute")


def function_of(module: str, name: str) -> Any:
    """The function of a module of operators, as pickles name it."""
    from torchjit import _operator_modules

    return getattr(getattr(_operator_modules, module), name)


def reduce(f: _native.Function) -> Any:
    """What a pickle has for a function."""
    owner, name = place_of(f)
    if isinstance(owner, type):
        return getattr, (owner, name)
    return function_of, (owner.__name__.rpartition(".")[2], name)

