"""torch.nn.intrinsic.qat: modules that stand for several, whose weights are rounded as quantization will round them."""

from torchjit.nn.intrinsic.qat.modules import *  # noqa: F403
