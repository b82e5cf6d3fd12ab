"""torch.ao.nn: modules of models that are quantized, or are to be."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from torchjit.ao.nn import intrinsic as intrinsic
    from torchjit.ao.nn import qat as qat
    from torchjit.ao.nn import quantizable as quantizable
    from torchjit.ao.nn import quantized as quantized
else:

    def __getattr__(name: str) -> object:
        if name not in ("intrinsic", "qat", "quantizable", "quantized"):
            raise AttributeError(f"module 'torch.ao.nn' has no attribute '{name}'")
        return _importlib.import_module("torchjit.ao.nn." + name)
