"""torch.nn.intrinsic: modules that follow each other and are quantized as one, for floats, for training and quantized."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchjit.ao.nn.intrinsic import *  # noqa: F403
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule as _FusedModule

if _TYPE_CHECKING:
    from torchjit.nn.intrinsic import qat as qat
    from torchjit.nn.intrinsic import quantized as quantized
else:

    def __getattr__(name: str) -> object:
        if name not in ("qat", "quantized"):
            raise AttributeError(f"module 'torch.nn.intrinsic' has no attribute '{name}'")
        import importlib

        return importlib.import_module("torchjit.nn.intrinsic." + name)
