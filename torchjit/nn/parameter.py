"""Parameter: a tensor that a module trains."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor

_PARAMETER_HANDLE = 1


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = Tensor()
        made = _native.TensorBase.__new__(cls, data)
        _native.tensor_set_requires_grad(made, requires_grad)
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + super().__repr__()


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to."""


_native.register_handle_class(_PARAMETER_HANDLE, Parameter)
