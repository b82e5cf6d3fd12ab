"""torch.nn.intrinsic: modules that follow each other and are quantized as one, for floats, for training and quantized."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchjit import _lazy
from torchjit.ao.nn.intrinsic import *  # noqa: F403
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule as _FusedModule

if _TYPE_CHECKING:
    from torchjit.nn.intrinsic import qat as qat
    from torchjit.nn.intrinsic import quantized as quantized
else:
    __getattr__: _lazy.Getter
    __dir__: _lazy.Lister
    __getattr__, __dir__ = _lazy.names(__name__, _lazy.modules(__name__, "qat quantized"))
