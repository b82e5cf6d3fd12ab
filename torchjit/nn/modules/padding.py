"""Padding."""

from typing import Sequence

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module
from torchjit.nn.modules.utils import _ntuple, _pair, _quadruple, to_tuple

# ruff: noqa: A002


class _ConstantPadNd(Module):
    __constants__ = ["padding", "value"]
    value: float
    padding: Sequence[int]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(Module):
    __constants__ = ["padding"]
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReplicationPadNd(Module):
    __constants__ = ["padding"]
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        return f"{self.padding}"


def _constant(dims: int, name: str) -> type:
    def __init__(self, padding, value: float) -> None:
        _ConstantPadNd.__init__(self, value)
        self.padding = to_tuple(padding, 2 * dims)

    return type(
        name,
        (_ConstantPadNd,),
        {"__init__": __init__, "__module__": __name__, "__doc__": f"Puts a value around {dims} dimensions."},
    )


def _mirrored(base: type, dims: int, name: str) -> type:
    def __init__(self, padding) -> None:
        Module.__init__(self)
        self.padding = to_tuple(padding, 2 * dims)

    return type(
        name,
        (base,),
        {"__init__": __init__, "__module__": __name__, "__doc__": f"Continues {dims} dimensions beyond their ends."},
    )


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_constant(n, f"ConstantPad{n}d") for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _mirrored(_ReflectionPadNd, n, f"ReflectionPad{n}d") for n in (1, 2, 3)
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _mirrored(_ReplicationPadNd, n, f"ReplicationPad{n}d") for n in (1, 2, 3)
)


class ZeroPad2d(_ConstantPadNd):
    """Puts zeros around planes."""

    def __init__(self, padding) -> None:
        super().__init__(0.0)
        self.padding = to_tuple(padding, 4)

    def extra_repr(self) -> str:
        return f"{self.padding}"
