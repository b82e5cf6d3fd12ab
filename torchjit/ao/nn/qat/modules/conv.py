"""Convolutions whose weights are rounded."""

from __future__ import annotations

from typing import Any

from torchjit import nn
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.nn.modules.utils import _pair, _single, _triple

# ruff: noqa: A002


class _ConvNd(nn.modules.conv._ConvNd):
    """What convolutions over any number of dimensions share."""

    _FLOAT_MODULE: Any = None
    _FLOAT_CONV_MODULE: Any = None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
        groups: int, bias: bool, padding_mode: str, qconfig: Any = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        nn.modules.conv._ConvNd.__init__(
            self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups, bias, padding_mode,
            device=device, dtype=dtype,
        )  # fmt: skip
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant: nn.Module = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The convolution with the parameters of one without rounding, by the configuration that is on it."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError("qat." + cls.__name__ + ".from_float only works for " + cls._FLOAT_MODULE.__name__)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.qconfig:
            raise AssertionError("Input float module must have a valid qconfig")
        qconfig = mod.qconfig
        if issubclass(type(mod), _FusedModule):
            mod = mod[0]
        made = cls(  # type: ignore[call-arg]
            mod.in_channels, mod.out_channels, mod.kernel_size, stride=mod.stride, padding=mod.padding, dilation=mod.dilation, groups=mod.groups,
            bias=mod.bias is not None, padding_mode=mod.padding_mode, qconfig=qconfig,
        )  # fmt: skip
        made.weight = mod.weight
        made.bias = mod.bias
        return made

    def to_float(self) -> Any:
        """The convolution without rounding; for one that stands for several modules, those."""
        cls = type(self)
        made = cls._FLOAT_CONV_MODULE(
            self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding, self.dilation, self.groups, self.bias is not None,
            self.padding_mode,
        )  # fmt: skip
        made.weight = nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = nn.Parameter(self.bias.detach())
        if issubclass(cls, _FusedModule):
            modules = [made]
            if hasattr(cls, "_FLOAT_RELU_MODULE"):
                modules.append(cls._FLOAT_RELU_MODULE())
            made = cls._FLOAT_MODULE(*modules)
            made.train(self.training)
        return made


class Conv1d(_ConvNd, nn.Conv1d):
    """A convolution over one dimension whose weight goes through `weight_fake_quant`."""

    _FLOAT_MODULE = nn.Conv1d
    _FLOAT_CONV_MODULE = nn.Conv1d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", qconfig: Any = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, _single(kernel_size), stride=_single(stride), padding=padding if isinstance(padding, str) else _single(padding),
            dilation=_single(dilation), transposed=False, output_padding=_single(0), groups=groups, bias=bias, padding_mode=padding_mode,
            qconfig=qconfig, device=device, dtype=dtype,
        )  # fmt: skip


class Conv2d(_ConvNd, nn.Conv2d):
    """A convolution over two dimensions whose weight goes through `weight_fake_quant`."""

    _FLOAT_MODULE = nn.Conv2d
    _FLOAT_CONV_MODULE = nn.Conv2d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", qconfig: Any = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), stride=_pair(stride), padding=padding if isinstance(padding, str) else _pair(padding),
            dilation=_pair(dilation), transposed=False, output_padding=_pair(0), groups=groups, bias=bias, padding_mode=padding_mode,
            qconfig=qconfig, device=device, dtype=dtype,
        )  # fmt: skip


class Conv3d(_ConvNd, nn.Conv3d):
    """A convolution over three dimensions whose weight goes through `weight_fake_quant`."""

    _FLOAT_MODULE = nn.Conv3d
    _FLOAT_CONV_MODULE = nn.Conv3d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", qconfig: Any = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), stride=_triple(stride), padding=padding if isinstance(padding, str) else _triple(padding),
            dilation=_triple(dilation), transposed=False, output_padding=_triple(0), groups=groups, bias=bias, padding_mode=padding_mode,
            qconfig=qconfig, device=device, dtype=dtype,
        )  # fmt: skip
