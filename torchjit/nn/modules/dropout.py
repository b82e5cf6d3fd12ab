"""Modules that set elements to zero while training."""

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]  # type: list[str]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Sets single elements to zero.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> m = nn.Dropout(0.5).eval()
    >>> x = torch.ones(3)
    >>> m(x)
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Sets channels of lines to zero.

    Takes bools, integers, floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other
    numbers of dimensions.

    >>> m = nn.Dropout1d(0.5)
    >>> x = torch.ones(2, 3, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Sets channels of planes to zero.

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> m = nn.Dropout2d(0.5)
    >>> x = torch.ones(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Sets channels of volumes to zero.

    Takes bools, integers, floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> m = nn.Dropout3d(0.5)
    >>> x = torch.ones(2, 3, 4, 4, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout for SELU networks.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> m = nn.AlphaDropout(0.5).eval()
    >>> x = torch.ones(3)
    >>> m(x)
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Dropout of channels for SELU networks.

    Takes floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> m = nn.FeatureAlphaDropout(0.5)
    >>> x = torch.ones(2, 3, 4)
    >>> m(x).shape
    torch.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
