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
    """Puts a value around 1 dimensions.

    Takes bools, integers, floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.tensor([[1.0, 2.0, 3.0]])
    >>> nn.ConstantPad1d((1, 2), 9.0)(x)
    tensor([[9., 1., 2., 3., 9., 9.]])
    """

    def __init__(self, padding: _size_2_t, value: float) -> None:
        super().__init__(to_tuple(padding, 2), value)


class ConstantPad2d(_ConstantPadNd):
    """Puts a value around 2 dimensions.

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.ones(1, 2, 2)
    >>> nn.ConstantPad2d(1, 9.0)(x)
    tensor([[[9., 9., 9., 9.],
             [9., 1., 1., 9.],
             [9., 1., 1., 9.],
             [9., 9., 9., 9.]]])
    """

    def __init__(self, padding: _size_4_t, value: float) -> None:
        super().__init__(to_tuple(padding, 4), value)


class ConstantPad3d(_ConstantPadNd):
    """Puts a value around 3 dimensions.

    Takes bools, integers, floats, halves and complex numbers, of 3 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.ones(1, 2, 2, 2)
    >>> nn.ConstantPad3d(1, 9.0)(x).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t, value: float) -> None:
        super().__init__(to_tuple(padding, 6), value)


class ReflectionPad1d(_ReflectionPadNd):
    """Continues 1 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.tensor([[1.0, 2.0, 3.0]])
    >>> nn.ReflectionPad1d(2)(x)
    tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(to_tuple(padding, 2))


class ReflectionPad2d(_ReflectionPadNd):
    """Continues 2 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.rand(1, 4, 4)
    >>> nn.ReflectionPad2d(2)(x).shape
    torch.Size([1, 8, 8])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4))


class ReflectionPad3d(_ReflectionPadNd):
    """Continues 3 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.rand(1, 4, 4, 4)
    >>> nn.ReflectionPad3d(2)(x).shape
    torch.Size([1, 8, 8, 8])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(to_tuple(padding, 6))


class ReplicationPad1d(_ReplicationPadNd):
    """Continues 1 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.tensor([[1.0, 2.0, 3.0]])
    >>> nn.ReplicationPad1d(2)(x)
    tensor([[1., 1., 1., 2., 3., 3., 3.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(to_tuple(padding, 2))


class ReplicationPad2d(_ReplicationPadNd):
    """Continues 2 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.rand(1, 4, 4)
    >>> nn.ReplicationPad2d(2)(x).shape
    torch.Size([1, 8, 8])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4))


class ReplicationPad3d(_ReplicationPadNd):
    """Continues 3 dimensions beyond their ends.

    Takes bools, integers, floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input. Raises NotImplementedError or
    RuntimeError for other numbers of dimensions.

    >>> x = torch.rand(1, 4, 4, 4)
    >>> nn.ReplicationPad3d(2)(x).shape
    torch.Size([1, 8, 8, 8])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(to_tuple(padding, 6))


class ZeroPad2d(_ConstantPadNd):
    """Puts zeros around planes.

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.ones(1, 2, 2)
    >>> nn.ZeroPad2d((1, 0, 0, 1))(x)
    tensor([[[0., 1., 1.],
             [0., 1., 1.],
             [0., 0., 0.]]])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(to_tuple(padding, 4), 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(ConstantPad1d):
    """Puts zeros around rows.

    Takes bools, integers, floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input.

    >>> nn.ZeroPad1d((1, 2))(torch.ones(1, 2))
    tensor([[0., 1., 1., 0., 0.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Puts zeros around volumes.

    Takes bools, integers, floats, halves and complex numbers, of 3 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> nn.ZeroPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(Module):
    __constants__ = ["padding"]  # type: list[str]
    padding: Sequence[int]

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Continues rows beyond their ends with what they begin or end with on the other side.

    Takes bools, integers, floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises ValueError for other
    numbers of dimensions and RuntimeError where the padding is longer than the rows.

    >>> nn.CircularPad1d((1, 2))(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1., 2.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = to_tuple(padding, 2)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class CircularPad2d(_CircularPadNd):
    """Continues planes beyond their ends with what they begin or end with on the other side.

    Takes bools, integers, floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises ValueError for other
    numbers of dimensions and RuntimeError where the padding is longer than the plane.

    >>> nn.CircularPad2d((1, 0, 0, 0))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 1., 2.],
             [4., 3., 4.]]])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = to_tuple(padding, 4)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 3 and input.dim() != 4:
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class CircularPad3d(_CircularPadNd):
    """Continues volumes beyond their ends with what they begin or end with on the other side.

    Takes bools, integers, floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input. Raises ValueError for other
    numbers of dimensions and RuntimeError where the padding is longer than the volume.

    >>> nn.CircularPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = to_tuple(padding, 6)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4 and input.dim() != 5:
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")
