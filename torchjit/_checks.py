"""What programs say that holds (torch._check and its kin), and operations on sizes that may be symbols (torch.sym_max and its kin)."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _native

Message = Callable[[], Any] | None


def _text(message: Message) -> str:
    if message is None:
        return (
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to "
            "PyTorch.)"
        )
    if not callable(message):
        raise TypeError("message must be a callable")
    return str(message())


def _check_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """Raises error_type unless cond, a bool, holds. In an export, cond may compare sizes and numbers that elements of tensors tell:
    then it holds for all of them, and is an assertion of the program."""
    if isinstance(cond, torch.Tensor) and cond.dtype == torch.bool and _native.export_active():
        try:
            _native.export_check_that(cond, "" if message is None else _text(message))
        except RuntimeError:
            raise error_type(_text(message)) from None
        return
    if not isinstance(cond, (builtins.bool, SymBool)):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    raise error_type(_text(message))


def _check(cond: Any, message: Message = None) -> None:
    """Raises RuntimeError, with what message() gives, unless cond holds; TypeError for what is no bool."""
    _check_with(RuntimeError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """_check that i is a size: 0 or more, and max or less where that is given."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """_check that raises IndexError."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """_check that raises ValueError."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """_check that raises TypeError."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """_check that raises NotImplementedError."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    if not isinstance(cond, torch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != torch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, builtins.bool(cond.all().item()), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raises RuntimeError, with what message() gives, unless all elements of cond hold; TypeError for what is no tensor of bools."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _constrain_as_size(symbol: Any, min: int | None = None, max: int | None = None) -> None:
    """_check that symbol is a size, at least min and at most max."""
    _check_is_size(symbol)
    if min is not None:
        _check(symbol >= min)
    if max is not None:
        _check(symbol <= max)


class _Never(type):
    def __instancecheck__(cls, instance: Any) -> builtins.bool:
        return False


class SymFloat(metaclass=_Never):
    """The type of floats that are expressions over symbols. There are none here: no object is an instance."""


class SymBool(metaclass=_Never):
    """The type of truth values over symbols. There are none here: no object is an instance."""


def sym_not(a: Any) -> Any:
    """Not a, a truth value."""
    return torch.logical_not(a) if isinstance(a, torch.Tensor) else not a


def sym_float(a: Any) -> Any:
    """A size as a float."""
    return a.to(torch.float64) if isinstance(a, torch.Tensor) else float(a)


def sym_int(a: Any) -> Any:
    """A float as a size: towards zero."""
    if isinstance(a, torch.Tensor):
        return a.to(torch.int64)
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes; a float if one of them is."""
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return torch.maximum(*_tensors(a, b))
    return _common(a, b)(max(a, b))


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes; a float if one of them is."""
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return torch.minimum(*_tensors(a, b))
    return _common(a, b)(min(a, b))


def _common(a: Any, b: Any) -> Callable[[Any], Any]:
    return float if isinstance(a, float) or isinstance(b, float) else lambda x: x


def _tensors(*values: Any) -> list[Any]:
    return [x if isinstance(x, torch.Tensor) else torch.tensor(x) for x in values]


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """t where b holds, else f."""
    assert isinstance(b, (builtins.bool, SymBool)) and type(t) is type(f)
    return t if b else f


def _sym_sqrt(a: Any) -> Any:
    """The square root of a size."""
    return torch.sqrt(a) if isinstance(a, torch.Tensor) else math.sqrt(a)
