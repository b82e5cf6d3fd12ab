"""Another name of torch.ao.nn.intrinsic.modules."""

from torchjit.nn.intrinsic.modules.fused import *  # noqa: F403
from torchjit.nn.intrinsic.modules.fused import _FusedModule as _FusedModule
