"""Resizing, and moving channels to planes."""

from typing import Any, Optional

from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.common_types import _ratio_2_t, _ratio_any_t, _size_2_t, _size_any_t
from torchjit.nn.modules.module import Module

# ruff: noqa: UP045, A002


class Upsample(Module):
    """Resizes to a size or by a factor.

    Takes bools, integers, floats, halves and complex numbers, of 3, 4 or 5 dimensions. Gradients flow to the input. Raises NotImplementedError
    for other numbers of dimensions.

    >>> x = torch.tensor([[[1.0, 2.0]]])
    >>> nn.Upsample(scale_factor=2, mode="nearest")(x)
    tensor([[[1., 1., 2., 2.]]])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]  # type: list[str]
    name: str
    mode: str
    align_corners: Optional[bool]
    recompute_scale_factor: Optional[bool]

    def __init__(
        self, size: Optional[_size_any_t] = None, scale_factor: Optional[_ratio_any_t] = None, mode: str = "nearest",
        align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,  # type: ignore[arg-type]
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        what = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{what}, mode={self.mode}"


class UpsamplingNearest2d(Upsample):
    """Resizes planes by repeating elements.

    Takes bools, integers, floats, halves and complex numbers, of 3, 4 or 5 dimensions. Gradients flow to the input. Raises NotImplementedError
    for other numbers of dimensions.

    >>> x = torch.rand(1, 3, 2, 2)
    >>> nn.UpsamplingNearest2d(scale_factor=2)(x).shape
    torch.Size([1, 3, 4, 4])
    """

    def __init__(self, size: Optional[_size_2_t] = None, scale_factor: Optional[_ratio_2_t] = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes planes by linear interpolation.

    Takes floats and halves, of 4 dimensions. Gradients flow to the input. Raises ValueError for other numbers of dimensions and RuntimeError
    for other types.

    >>> x = torch.rand(1, 3, 2, 2)
    >>> nn.UpsamplingBilinear2d(size=(5, 5))(x).shape
    torch.Size([1, 3, 5, 5])
    """

    def __init__(self, size: Optional[_size_2_t] = None, scale_factor: Optional[_ratio_2_t] = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
