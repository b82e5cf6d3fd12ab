"""Normalizations of quantized tensors by the statistics that each has."""

from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _range_of
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: A002

__all__ = ["LayerNorm", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


def _take(module, weight, bias, scale, zero_point):
    module.weight = weight
    module.bias = bias
    module.register_buffer("scale", torch.tensor(scale))
    module.register_buffer("zero_point", torch.tensor(zero_point))


class LayerNorm(nn.LayerNorm):
    """nn.LayerNorm; results have the given scale and zero point."""

    def __init__(
        self,
        normalized_shape: Sequence[int],
        weight: Tensor | None,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(normalized_shape, eps=eps, elementwise_affine=elementwise_affine)
        _take(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.layer_norm(
            input,
            self.normalized_shape,
            weight=self.weight,
            bias=self.bias,
            eps=self.eps,
            output_scale=self.scale,
            output_zero_point=self.zero_point,
        )

    def _get_name(self):
        return "QuantizedLayerNorm"

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return cls.from_reference(mod, *_range_of(mod.activation_post_process))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(
            mod.normalized_shape, mod.weight, mod.bias, float(scale), int(zero_point), mod.eps, mod.elementwise_affine
        )


class GroupNorm(nn.GroupNorm):
    """nn.GroupNorm; results have the given scale and zero point."""

    def __init__(
        self, num_groups: int, num_channels: int, weight: Tensor | None, bias: Tensor | None, scale: float,
        zero_point: int, eps: float = 1e-5, affine: bool = True, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_groups, num_channels, eps, affine)
        _take(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps, self.scale, self.zero_point
        )

    def _get_name(self):
        return "QuantizedGroupNorm"

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        scale, zero_point = _range_of(mod.activation_post_process)
        return cls(mod.num_groups, mod.num_channels, mod.weight, mod.bias, scale, zero_point, mod.eps, mod.affine)


class _Instances:
    """What normalizations of instances share."""

    def __init__(
        self,
        num_features: int,
        weight: Tensor | None,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        normalization: Any = super()  # nn.InstanceNorm1d, 2d or 3d, which comes after this class
        normalization.__init__(num_features, eps, momentum, affine, track_running_stats)
        _take(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.instance_norm(input, self.weight, self.bias, self.eps, self.scale, self.zero_point)  # type: ignore[attr-defined]

    def _get_name(self):
        return "Quantized" + type(self).__name__

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return cls.from_reference(mod, *_range_of(mod.activation_post_process))

    @classmethod
    def from_reference(cls: Any, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(mod.num_features, mod.weight, mod.bias, float(scale), int(zero_point), mod.eps, mod.affine)


class InstanceNorm1d(_Instances, nn.InstanceNorm1d):
    """nn.InstanceNorm1d; results have the given scale and zero point."""


class InstanceNorm2d(_Instances, nn.InstanceNorm2d):
    """nn.InstanceNorm2d; results have the given scale and zero point."""


class InstanceNorm3d(_Instances, nn.InstanceNorm3d):
    """nn.InstanceNorm3d; results have the given scale and zero point."""
