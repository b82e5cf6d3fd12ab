"""Convolutions that round their weights."""

from typing import Any, List, Optional

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from torchjit.nn.common_types import _size_any_t
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: UP006, UP035, UP045


class _ConvNd(nn.modules.conv._ConvNd, ReferenceQuantizedModule):
    """What convolutions that round their weights share."""

    _IS_REFERENCE = True

    def _get_name(self):
        return f"Quantized{type(self).__name__}(Reference)"

    @classmethod
    def from_float(cls: Any, float_conv: Module, weight_qparams: dict[str, object]) -> Module:
        """The convolution for one of floats."""
        given = {"output_padding": float_conv.output_padding} if float_conv.transposed else {}
        made = cls(
            float_conv.in_channels, float_conv.out_channels, float_conv.kernel_size, stride=float_conv.stride, padding=float_conv.padding,
            dilation=float_conv.dilation, groups=float_conv.groups, bias=float_conv.bias is not None, padding_mode=float_conv.padding_mode,
            device=float_conv.weight.device, dtype=float_conv.weight.dtype, weight_qparams=weight_qparams, **given,
        )  # fmt: skip
        made.weight = nn.Parameter(float_conv.weight.detach())
        if float_conv.bias is not None:
            made.bias = nn.Parameter(float_conv.bias.detach())
        return made


class _Convolution(_ConvNd):
    """What those have in common that are not transposed."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_any_t, stride: _size_any_t = 1,
        padding: _size_any_t = 0, dilation: _size_any_t = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
        weight_qparams: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        convolution: Any = super()  # nn.Conv1d, 2d or 3d, which comes after this class
        convolution.__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        self._init_weight_qparams(weight_qparams, device)

    def forward(self, x: Tensor) -> Tensor:
        return self._conv_forward(x, self.get_weight(), self.bias)


class _Transposed(_ConvNd):
    """What transposed ones have in common."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_any_t, stride: _size_any_t = 1,
        padding: _size_any_t = 0, output_padding: _size_any_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_any_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
        weight_qparams: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        convolution: Any = super()  # nn.ConvTranspose1d, 2d or 3d, which comes after this class
        convolution.__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode, device, dtype
        )
        self._init_weight_qparams(weight_qparams, device)


class Conv1d(_Convolution, nn.Conv1d):
    """nn.Conv1d with a weight that is rounded in each call."""


class Conv2d(_Convolution, nn.Conv2d):
    """nn.Conv2d with a weight that is rounded in each call."""


class Conv3d(_Convolution, nn.Conv3d):
    """nn.Conv3d with a weight that is rounded in each call."""


class ConvTranspose1d(_Transposed, nn.ConvTranspose1d):
    """nn.ConvTranspose1d with a weight that is rounded in each call."""

    def forward(self, x: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        output_padding = self._output_padding(x, output_size, self.stride, self.padding, self.kernel_size, 1, self.dilation)  # type: ignore[arg-type]
        return F.conv_transpose1d(x, self.get_weight(), self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation)  # type: ignore[arg-type]


class ConvTranspose2d(_Transposed, nn.ConvTranspose2d):
    """nn.ConvTranspose2d with a weight that is rounded in each call."""

    def forward(self, x: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        output_padding = self._output_padding(x, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation)  # type: ignore[arg-type]
        return F.conv_transpose2d(x, self.get_weight(), self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation)  # type: ignore[arg-type]


class ConvTranspose3d(_Transposed, nn.ConvTranspose3d):
    """nn.ConvTranspose3d with a weight that is rounded in each call."""

    def forward(self, x: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        output_padding = self._output_padding(x, output_size, self.stride, self.padding, self.kernel_size, 3, self.dilation)  # type: ignore[arg-type]
        return F.conv_transpose3d(x, self.get_weight(), self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation)  # type: ignore[arg-type]
