"""Another name of torch.ao.nn.intrinsic.modules.fused."""

from torchjit.ao.nn.intrinsic.modules.fused import *  # noqa: F403
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule as _FusedModule
