"""torch.autograd.variable: the name that tensors with gradients had in old programs."""

from __future__ import annotations

import warnings
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit.autograd import _engine


class VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """A tensor; kept for old programs."""

    _execution_engine = _engine.engine

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2)
        tensor = _native.operator("aten::empty")([0]) if data is None else data.detach() if requires_grad else data
        return tensor.requires_grad_() if requires_grad else tensor
