"""torch._refs.linalg: linear algebra by the names of PyTorch's references."""

import torchjit.linalg
from torchjit._refs._named import named

__all__ = "matrix_norm norm svd svdvals vector_norm".split()
globals().update(named(torchjit.linalg, __all__, "torch._refs.linalg"))
