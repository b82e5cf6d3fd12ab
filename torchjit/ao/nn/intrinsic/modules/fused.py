"""Modules that follow each other and are quantized as one."""

from __future__ import annotations

from typing import Any

from torchjit.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Linear, ReLU, Sequential
from torchjit.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU", "ConvBn1d", "ConvBn2d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBn3d", "ConvBnReLU3d",
    "BNReLU2d", "BNReLU3d", "LinearBn1d",
]  # fmt: skip


class _FusedModule(Sequential):
    pass


def _check(given: tuple[Any, ...], wanted: tuple[type, ...]) -> None:
    found = [type_before_parametrizations(module) for module in given]
    if found != list(wanted):
        raise AssertionError("Incorrect types for input modules" + "".join(str(cls) for cls in found))


class ConvReLU1d(_FusedModule):
    """A convolution over one dimension and a rectifier."""

    def __init__(self, conv: Any, relu: Any) -> None:
        _check((conv, relu), (Conv1d, ReLU))
        super().__init__(conv, relu)


class ConvReLU2d(_FusedModule):
    """A convolution over two dimensions and a rectifier."""

    def __init__(self, conv: Any, relu: Any) -> None:
        _check((conv, relu), (Conv2d, ReLU))
        super().__init__(conv, relu)


class ConvReLU3d(_FusedModule):
    """A convolution over three dimensions and a rectifier."""

    def __init__(self, conv: Any, relu: Any) -> None:
        _check((conv, relu), (Conv3d, ReLU))
        super().__init__(conv, relu)


class LinearReLU(_FusedModule):
    """A linear layer and a rectifier."""

    def __init__(self, linear: Any, relu: Any) -> None:
        _check((linear, relu), (Linear, ReLU))
        super().__init__(linear, relu)


class ConvBn1d(_FusedModule):
    """A convolution over one dimension and a batch normalization."""

    def __init__(self, conv: Any, bn: Any) -> None:
        _check((conv, bn), (Conv1d, BatchNorm1d))
        super().__init__(conv, bn)


class ConvBn2d(_FusedModule):
    """A convolution over two dimensions and a batch normalization."""

    def __init__(self, conv: Any, bn: Any) -> None:
        _check((conv, bn), (Conv2d, BatchNorm2d))
        super().__init__(conv, bn)


class ConvBnReLU1d(_FusedModule):
    """A convolution over one dimension, a batch normalization and a rectifier."""

    def __init__(self, conv: Any, bn: Any, relu: Any) -> None:
        _check((conv, bn, relu), (Conv1d, BatchNorm1d, ReLU))
        super().__init__(conv, bn, relu)


class ConvBnReLU2d(_FusedModule):
    """A convolution over two dimensions, a batch normalization and a rectifier."""

    def __init__(self, conv: Any, bn: Any, relu: Any) -> None:
        _check((conv, bn, relu), (Conv2d, BatchNorm2d, ReLU))
        super().__init__(conv, bn, relu)


class ConvBn3d(_FusedModule):
    """A convolution over three dimensions and a batch normalization."""

    def __init__(self, conv: Any, bn: Any) -> None:
        _check((conv, bn), (Conv3d, BatchNorm3d))
        super().__init__(conv, bn)


class ConvBnReLU3d(_FusedModule):
    """A convolution over three dimensions, a batch normalization and a rectifier."""

    def __init__(self, conv: Any, bn: Any, relu: Any) -> None:
        _check((conv, bn, relu), (Conv3d, BatchNorm3d, ReLU))
        super().__init__(conv, bn, relu)


class BNReLU2d(_FusedModule):
    """A batch normalization of planes and a rectifier."""

    def __init__(self, batch_norm: Any, relu: Any) -> None:
        _check((batch_norm, relu), (BatchNorm2d, ReLU))
        super().__init__(batch_norm, relu)


class BNReLU3d(_FusedModule):
    """A batch normalization of volumes and a rectifier."""

    def __init__(self, batch_norm: Any, relu: Any) -> None:
        _check((batch_norm, relu), (BatchNorm3d, ReLU))
        super().__init__(batch_norm, relu)


class LinearBn1d(_FusedModule):
    """A linear layer and a batch normalization."""

    def __init__(self, linear: Any, bn: Any) -> None:
        _check((linear, bn), (Linear, BatchNorm1d))
        super().__init__(linear, bn)
