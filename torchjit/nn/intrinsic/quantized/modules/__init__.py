"""The modules, by theme."""

from torchjit.nn.intrinsic.quantized.modules.bn_relu import BNReLU2d as BNReLU2d
from torchjit.nn.intrinsic.quantized.modules.bn_relu import BNReLU3d as BNReLU3d
from torchjit.nn.intrinsic.quantized.modules.conv_relu import ConvReLU1d as ConvReLU1d
from torchjit.nn.intrinsic.quantized.modules.conv_relu import ConvReLU2d as ConvReLU2d
from torchjit.nn.intrinsic.quantized.modules.conv_relu import ConvReLU3d as ConvReLU3d
from torchjit.nn.intrinsic.quantized.modules.linear_relu import LinearReLU as LinearReLU

__all__ = ["LinearReLU", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "BNReLU2d", "BNReLU3d"]
