"""torch.autograd.forward_ad: derivatives along a direction, computed together with the values."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit.autograd.grad_mode import _DecoratorContextManager


class _UnpackedDualTensor(NamedTuple):
    primal: Tensor
    tangent: Tensor | None


_current_level = -1


class UnpackedDualTensor(_UnpackedDualTensor):
    """A tensor without its tangent, and the tangent, None where it has none."""


def enter_dual_level() -> int:
    """Opens a level, in which tensors can have tangents, and returns its number."""
    global _current_level
    _native.enter_forward()
    _current_level += 1
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes a level; tensors lose the tangents that they have there."""
    global _current_level
    if (_current_level if level is None else level) != _current_level:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _native.exit_forward()
    _current_level -= 1


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A view of tensor with a tangent of the same size."""
    if (_current_level if level is None else level) < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    return _native.make_dual(tensor, tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor without its tangent, and the tangent."""
    if (_current_level if level is None else level) < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_native.unpack_dual(tensor))


class dual_level(_DecoratorContextManager):  # noqa: N801
    """A context in which tensors can have tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        exit_dual_level()
