"""torch._refs.special: special functions by the names of PyTorch's references."""

import torchjit.special
from torchjit._refs._named import named

__all__ = "bessel_j0 bessel_j1 i0e i1 i1e logit multigammaln spherical_bessel_j0 zeta".split()
globals().update(named(torchjit.special, __all__, "torch._refs.special"))
