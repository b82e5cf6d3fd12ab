"""Windows of planes as columns, and back."""

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.common_types import _size_any_t
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class Fold(Module):
    """Sums columns of windows into planes.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> m = nn.Fold((4, 4), kernel_size=2, stride=2)
    >>> x = torch.rand(1, 12, 4)
    >>> m(x).shape
    torch.Size([1, 3, 4, 4])
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]  # type: list[str]

    def __init__(
        self, output_size: _size_any_t, kernel_size: _size_any_t, dilation: _size_any_t = 1, padding: _size_any_t = 0,
        stride: _size_any_t = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Unfold(Module):
    """The windows of planes as columns.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other
    numbers of dimensions and RuntimeError for other types.

    >>> m = nn.Unfold(kernel_size=2, stride=2)
    >>> x = torch.rand(1, 3, 4, 4)
    >>> m(x).shape
    torch.Size([1, 12, 4])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]  # type: list[str]

    def __init__(
        self, kernel_size: _size_any_t, dilation: _size_any_t = 1, padding: _size_any_t = 0, stride: _size_any_t = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
