"""torch.ao: quantization of models."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchjit.ao import nn as nn
from torchjit.ao import quantization as quantization

if _TYPE_CHECKING:
    import torchjit.ao.sparsity as sparsity
    from torchjit.ao import ns as ns
else:

    def __getattr__(name: str) -> object:
        if name not in ("ns", "sparsity"):
            raise AttributeError(f"module 'torch.ao' has no attribute '{name}'")
        return _importlib.import_module("torchjit.ao." + name)
