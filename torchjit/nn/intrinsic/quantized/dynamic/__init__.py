"""torch.nn.intrinsic.quantized.dynamic: modules with quantized weights that stand for several."""

from torchjit.nn.intrinsic.quantized.dynamic.modules import LinearReLU as LinearReLU
