"""Padding."""

from typing import Sequence

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.common_types import _size_2_t, _size_4_t, _size_6_t
from torchjit.nn.modules.module import Module
from torchjit.nn.modules.utils import _ntuple, _pair, _quadruple, to_tuple

# ruff: noqa: A002


class _ConstantPadNd(Module):
    __constants__ = ["padding", "value"]  # type: list[str]
    value: float
    padding: Sequence[int]

    def __init__(self, padding: Sequence[int], value: float) -> None:
        super().__init__()
        self.padding = padding
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(Module):
    __constants__ = ["padding"]  # type: list[str]
    padding: Sequence[int]

    def __init__(self, padding: Sequence[int]) -> None:
        super().__init__()
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReplicationPadNd(Module):
    __constants__ = ["padding"]  # type: list[str]
    padding: Sequence[int]

    def __init__(self, padding: Sequence[int]) -> None:
        super().__init__()
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_ConstantPadNd):
    """Puts a value around 1 dimensions."""

    def __init__(self, padding: _size_2_t, value: float) -> None:
        super().__init__(to_tuple(padding, 2), value)


class ConstantPad2d(_ConstantPadNd):
    """Puts a value around 2 dimensions."""

    def __init__(self, padding: _size_4_t, value: float) -> None:
        super().__init__(to_tuple(padding, 4), value)


class ConstantPad3d(_ConstantPadNd):
    """Puts a value around 3 dimensions."""

    def __init__(self, padding: _size_6_t, value: float) -> None:
        super().__init__(to_tuple(padding, 6), value)


class ReflectionPad1d(_ReflectionPadNd):
    """Continues 1 dimensions beyond their ends."""

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(to_tuple(padding, 2))


class ReflectionPad2d(_ReflectionPadNd):
    """Continues 2 dimensions beyond their ends."""

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4))


class ReflectionPad3d(_ReflectionPadNd):
    """Continues 3 dimensions beyond their ends."""

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(to_tuple(padding, 6))


class ReplicationPad1d(_ReplicationPadNd):
    """Continues 1 dimensions beyond their ends."""

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(to_tuple(padding, 2))


class ReplicationPad2d(_ReplicationPadNd):
    """Continues 2 dimensions beyond their ends."""

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4))


class ReplicationPad3d(_ReplicationPadNd):
    """Continues 3 dimensions beyond their ends."""

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(to_tuple(padding, 6))


class ZeroPad2d(_ConstantPadNd):
    """Puts zeros around planes."""

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4), 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
