"""The modules, by theme."""

from torchjit.ao.nn.intrinsic.modules.fused import *  # noqa: F403
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule as _FusedModule
