"""The modules, by theme."""

from torchjit.nn.intrinsic.quantized.dynamic.modules.linear_relu import LinearReLU as LinearReLU

__all__ = ["LinearReLU"]
