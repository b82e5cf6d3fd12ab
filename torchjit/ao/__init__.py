"""torch.ao: quantization of models."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchjit import _lazy
from torchjit.ao import nn as nn
from torchjit.ao import quantization as quantization

if _TYPE_CHECKING:
    import torchjit.ao.sparsity as sparsity
    from torchjit.ao import ns as ns
else:
    __getattr__: _lazy.Getter
    __dir__: _lazy.Lister
    __getattr__, __dir__ = _lazy.names(__name__, _lazy.modules(__name__, "ns sparsity"))
