"""torch.nn.intrinsic.quantized: quantized modules that stand for several."""

from torchjit.nn.intrinsic.quantized.modules import *  # noqa: F403
from torchjit.nn.intrinsic.quantized import dynamic as dynamic  # noqa: I001
