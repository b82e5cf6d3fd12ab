"""torch._refs.special: special functions by the names of PyTorch's references."""

import torchjit.special
from torchjit._refs._named import named

_NAMES = "bessel_j0 bessel_j1 i0e i1 i1e logit multigammaln spherical_bessel_j0 zeta"
globals().update(named(torchjit.special, _NAMES, "torch._refs.special"))
__all__ = _NAMES.split()
