"""torch.ao.nn.intrinsic: modules that follow each other and are quantized as one."""

from torchjit.ao.nn.intrinsic.modules import *  # noqa: F403
