"""torch._prims: PyTorch's elementary operations by their names. Here they are operators; those that no operator of torch is are missing."""

from __future__ import annotations

import torchjit as torch
import torchjit.special
from torchjit import _native
from torchjit import _prims_common as utils  # noqa: F401
from torchjit._prims_common import RETURN_TYPE as RETURN_TYPE
from torchjit._refs._named import named

_FUNCTIONS = [*_native.operators_with("prim")]
_SPECIAL = ["bessel_j0", "bessel_j1", "spherical_bessel_j0", "zeta"]

globals().update(named(torch, _FUNCTIONS, "torch._prims"), **named(torchjit.special, _SPECIAL, "torch._prims"))
bessel_i0, bessel_i1, bessel_i0e, bessel_i1e = (getattr(torchjit.special, name) for name in ("i0", "i1", "i0e", "i1e"))
erf_inv, shift_left, shift_right_arithmetic = torch.erfinv, torch.bitwise_left_shift, torch.bitwise_right_shift
item, svd = torch.Tensor.item, torch.linalg.svd

__all__ = sorted(
    [*_FUNCTIONS, *_SPECIAL, "RETURN_TYPE", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "erf_inv", "item", "shift_left"]
    + ["shift_right_arithmetic", "svd", "utils"]
)
