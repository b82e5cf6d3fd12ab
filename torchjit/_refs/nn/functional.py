"""torch._refs.nn.functional: functions of networks by the names of PyTorch's references."""

import torchjit.nn.functional
from torchjit import _native
from torchjit._refs._named import named

__all__ = sorted([*_native.operators_with("ref_nn"), "tanhshrink"])
globals().update(named(torchjit.nn.functional, __all__, "torch._refs.nn.functional"))
