"""torch.backends: which libraries compute. Here it is this one alone; the names are those that programs read."""

from __future__ import annotations

from torchjit import _lazy
from torchjit.backends._settings import disable_global_flags as disable_global_flags
from torchjit.backends._settings import flags_frozen as flags_frozen

__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(
    __name__, _lazy.modules(__name__, "cuda cudnn mkl mkldnn mps openmp opt_einsum quantized xeon xnnpack")
)
