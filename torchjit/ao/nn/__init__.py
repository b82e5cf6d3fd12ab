"""torch.ao.nn: modules of models that are quantized, or are to be."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchjit import _lazy

if _TYPE_CHECKING:
    from torchjit.ao.nn import intrinsic as intrinsic
    from torchjit.ao.nn import qat as qat
    from torchjit.ao.nn import quantizable as quantizable
    from torchjit.ao.nn import quantized as quantized
else:
    __getattr__: _lazy.Getter
    __dir__: _lazy.Lister
    __getattr__, __dir__ = _lazy.names(__name__, _lazy.modules(__name__, "intrinsic qat quantizable quantized"))
