"""torch._refs.linalg: linear algebra by the names of PyTorch's references."""

import torchjit.linalg
from torchjit._refs._named import named

_NAMES = "matrix_norm norm svd svdvals vector_norm"
globals().update(named(torchjit.linalg, _NAMES, "torch._refs.linalg"))
__all__ = _NAMES.split()
