"""Convolutions with rounded weights, and what follows them."""

from __future__ import annotations

from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import qat as nnqat
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.nn import init
from torchjit.nn.modules.utils import _pair, _single, _triple
from torchjit.nn.utils.fusion import fuse_conv_bn_weights

# ruff: noqa: A002

__all__ = [
    "ConvBn1d", "ConvBnReLU1d", "ConvReLU1d", "ConvBn2d", "ConvBnReLU2d", "ConvReLU2d", "ConvBn3d", "ConvBnReLU3d", "ConvReLU3d", "update_bn_stats",
    "freeze_bn_stats",
]  # fmt: skip

_NORMS = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}

# The names of the state's second version and those of the first.
_FORMER_NAMES = {
    "bn.weight": "gamma", "bn.bias": "beta", "bn.running_mean": "running_mean", "bn.running_var": "running_var",
    "bn.num_batches_tracked": "num_batches_tracked",
}  # fmt: skip


class _ConvBnNd(nn.modules.conv._ConvNd, _FusedModule):
    """A convolution and its normalization: the weight is rounded with the factor in it that the running statistics give."""

    _version = 2
    _FLOAT_MODULE: Any = None
    _FLOAT_CONV_MODULE: Any = None
    _FLOAT_BN_MODULE: Any = None
    _FLOAT_RELU_MODULE: Any = None
    _FUSED_FLOAT_MODULE: Any = None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
        groups: int, bias: Any, padding_mode: str, eps: float = 1e-05, momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None, dim: int = 2,
    ) -> None:  # fmt: skip
        nn.modules.conv._ConvNd.__init__(
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            False,
            padding_mode,
        )
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn: nn.Module = _NORMS[dim](out_channels, eps, momentum, True, True)
        self.weight_fake_quant: nn.Module = self.qconfig.weight()
        if bias:
            self.bias: nn.Parameter | None = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def reset_running_stats(self) -> None:
        """Forgets the statistics."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Draws the parameters of the normalization, and the bias, anew."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = fan_in**-0.5
            init.uniform_(self.bias, -bound, bound)

    def reset_parameters(self) -> None:
        super().reset_parameters()

    def update_bn_stats(self) -> Any:
        """Lets the normalization use the statistics of each batch."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self) -> Any:
        """Lets the normalization use its running statistics, in training too."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def _forward(self, input: Any) -> Any:
        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        rest = [1] * (self.weight.dim() - 2)
        weight = self.weight_fake_quant(self.weight * factor.reshape([-1, 1, *rest]))
        zero = (
            torch.zeros_like(self.bias)
            if self.bias is not None
            else torch.zeros(self.out_channels, device=weight.device, dtype=input.dtype)
        )
        out = self._conv_forward(input, weight, zero) / factor.reshape([1, -1, *rest])
        if self.bias is not None:
            out = out + self.bias.reshape([1, -1, *rest])
        return self.bn(out)

    def forward(self, input: Any) -> Any:
        return self._forward(input)

    def train(self, mode: bool = True) -> Any:
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():
                module.train(mode)
        return self

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        version = local_metadata.get("version", None)
        if version is None or version == 1:
            for name, former in _FORMER_NAMES.items():
                if prefix + former in state_dict:
                    state_dict[prefix + name] = state_dict.pop(prefix + former)
                elif prefix + name not in state_dict and strict:
                    missing_keys.append(prefix + name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The modules with the parameters of those without rounding, by the configuration that is on them."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError("qat." + cls.__name__ + ".from_float only works for " + cls._FLOAT_MODULE.__name__)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.qconfig:
            raise AssertionError("Input float module must have a valid qconfig")
        conv, bn = mod[0], mod[1]
        made = cls(
            conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding, conv.dilation, conv.groups, conv.bias is not None,
            conv.padding_mode, bn.eps, bn.momentum, False, mod.qconfig,
        )  # fmt: skip
        made.weight, made.bias = conv.weight, conv.bias
        made.bn.weight, made.bn.bias = bn.weight, bn.bias
        made.bn.running_mean, made.bn.running_var = bn.running_mean, bn.running_var
        made.bn.num_batches_tracked = bn.num_batches_tracked
        return made

    def to_float(self) -> Any:
        """One convolution that computes what both do in eval mode, with its rectifier where there is one."""
        cls = type(self)
        made = cls._FLOAT_CONV_MODULE(
            self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding, self.dilation, self.groups, self.bias is not None,
            self.padding_mode,
        )  # fmt: skip
        made.weight, made.bias = fuse_conv_bn_weights(
            nn.Parameter(self.weight.detach()), None if self.bias is None else nn.Parameter(self.bias.detach()), self.bn.running_mean,
            self.bn.running_var, self.bn.eps, self.bn.weight, self.bn.bias,
        )  # fmt: skip
        if cls._FLOAT_RELU_MODULE is not None:
            made = cls._FUSED_FLOAT_MODULE(made, cls._FLOAT_RELU_MODULE())
        made.train(self.training)
        return made


class _Rectified:
    """What convolutions with a rounded weight and a rectifier share."""

    _FLOAT_BN_MODULE = None
    _FLOAT_RELU_MODULE = nn.ReLU

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", qconfig: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(  # type: ignore[call-arg]
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias,
            padding_mode=padding_mode, qconfig=qconfig,
        )  # fmt: skip

    def forward(self: Any, input: Any) -> Any:
        return F.relu(self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias))


class ConvBn1d(_ConvBnNd, nn.Conv1d):
    """A convolution over one dimension with a rounded weight, and its normalization."""

    _FLOAT_MODULE: Any = nni.ConvBn1d
    _FLOAT_CONV_MODULE = nn.Conv1d
    _FLOAT_BN_MODULE = nn.BatchNorm1d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: Any = None, padding_mode: str = "zeros", eps: float = 1e-05, momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        _ConvBnNd.__init__(
            self, in_channels, out_channels, _single(kernel_size), _single(stride), padding if isinstance(padding, str) else _single(padding), _single(dilation),
            False, _single(0), groups, bias, padding_mode, eps, momentum, freeze_bn, qconfig, dim=1,
        )  # fmt: skip


class ConvBnReLU1d(ConvBn1d):
    """A convolution over one dimension with a rounded weight, its normalization and a rectifier."""

    _FLOAT_MODULE = nni.ConvBnReLU1d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = nni.ConvReLU1d

    def forward(self, input: Any) -> Any:
        return F.relu(self._forward(input))


class ConvReLU1d(_Rectified, nnqat.Conv1d, _FusedModule):
    """A convolution over one dimension with a rounded weight, and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU1d
    _FLOAT_CONV_MODULE = nn.Conv1d


class ConvBn2d(_ConvBnNd, nn.Conv2d):
    """A convolution over two dimensions with a rounded weight, and its normalization."""

    _FLOAT_MODULE: Any = nni.ConvBn2d
    _FLOAT_CONV_MODULE = nn.Conv2d
    _FLOAT_BN_MODULE = nn.BatchNorm2d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: Any = None, padding_mode: str = "zeros", eps: float = 1e-05, momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        _ConvBnNd.__init__(
            self, in_channels, out_channels, _pair(kernel_size), _pair(stride), padding if isinstance(padding, str) else _pair(padding), _pair(dilation),
            False, _pair(0), groups, bias, padding_mode, eps, momentum, freeze_bn, qconfig, dim=2,
        )  # fmt: skip


class ConvBnReLU2d(ConvBn2d):
    """A convolution over two dimensions with a rounded weight, its normalization and a rectifier."""

    _FLOAT_MODULE = nni.ConvBnReLU2d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = nni.ConvReLU2d

    def forward(self, input: Any) -> Any:
        return F.relu(self._forward(input))


class ConvReLU2d(_Rectified, nnqat.Conv2d, _FusedModule):
    """A convolution over two dimensions with a rounded weight, and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU2d
    _FLOAT_CONV_MODULE = nn.Conv2d


class ConvBn3d(_ConvBnNd, nn.Conv3d):
    """A convolution over three dimensions with a rounded weight, and its normalization."""

    _FLOAT_MODULE: Any = nni.ConvBn3d
    _FLOAT_CONV_MODULE = nn.Conv3d
    _FLOAT_BN_MODULE = nn.BatchNorm3d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: Any = None, padding_mode: str = "zeros", eps: float = 1e-05, momentum: float = 0.1, freeze_bn: bool = False, qconfig: Any = None,
    ) -> None:  # fmt: skip
        _ConvBnNd.__init__(
            self, in_channels, out_channels, _triple(kernel_size), _triple(stride), padding if isinstance(padding, str) else _triple(padding), _triple(dilation),
            False, _triple(0), groups, bias, padding_mode, eps, momentum, freeze_bn, qconfig, dim=3,
        )  # fmt: skip


class ConvBnReLU3d(ConvBn3d):
    """A convolution over three dimensions with a rounded weight, its normalization and a rectifier."""

    _FLOAT_MODULE = nni.ConvBnReLU3d
    _FLOAT_RELU_MODULE = nn.ReLU
    _FUSED_FLOAT_MODULE = nni.ConvReLU3d

    def forward(self, input: Any) -> Any:
        return F.relu(self._forward(input))


class ConvReLU3d(_Rectified, nnqat.Conv3d, _FusedModule):
    """A convolution over three dimensions with a rounded weight, and a rectifier."""

    _FLOAT_MODULE = nni.ConvReLU3d
    _FLOAT_CONV_MODULE = nn.Conv3d


_WITH_NORMS = (ConvBn1d, ConvBnReLU1d, ConvBn2d, ConvBnReLU2d, ConvBn3d, ConvBnReLU3d)


def update_bn_stats(mod: Any) -> None:
    """Lets a module with a normalization use the statistics of each batch: for `Module.apply`."""
    if type(mod) in _WITH_NORMS:
        mod.update_bn_stats()


def freeze_bn_stats(mod: Any) -> None:
    """Lets a module with a normalization use its running statistics: for `Module.apply`."""
    if type(mod) in _WITH_NORMS:
        mod.freeze_bn_stats()
