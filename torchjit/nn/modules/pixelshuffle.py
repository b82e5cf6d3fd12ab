"""Moving channels to planes and back."""

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class PixelShuffle(Module):
    """Makes larger planes of more channels.

    Takes bools, integers, floats, halves and complex numbers, of 3 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.rand(1, 8, 2, 2)
    >>> nn.PixelShuffle(2)(x).shape
    torch.Size([1, 2, 4, 4])
    """

    __constants__ = ["upscale_factor"]  # type: list[str]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Makes more channels of larger planes.

    Takes bools, integers, floats, halves and complex numbers, of 3 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.rand(1, 2, 4, 4)
    >>> nn.PixelUnshuffle(2)(x).shape
    torch.Size([1, 8, 2, 2])
    """

    __constants__ = ["downscale_factor"]  # type: list[str]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Deals out channels in groups.

    Takes bools, integers, floats, halves and complex numbers, of 4 dimensions. Gradients flow to the input. Raises RuntimeError for other
    numbers of dimensions.

    >>> x = torch.arange(4.0).view(1, 4, 1, 1)
    >>> nn.ChannelShuffle(2)(x).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]  # type: list[str]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
