"""Functions of torch.special that have no other name."""

from __future__ import annotations

from typing import Any

from torchjit.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo
from torchjit.testing._internal.opinfo.definitions._table import BOOL, DOUBLE, INT, REAL

_NO_METHODS: dict[str, Any] = {"method_variant": None, "inplace_variant": None, "operator_variant": None, "inplace_operator_variant": None}
_TYPES = DOUBLE + INT + BOOL


def _unary(name: str, types: Any = _TYPES, **facts: Any) -> UnaryUfuncInfo:
    return UnaryUfuncInfo("special." + name, dtypes=types, **{**_NO_METHODS, **facts})


_NUMBERS: dict[str, Any] = {"supports_autograd": False, "supports_forward_ad": False}

op_db: list[Any] = [
    *(_unary(name) for name in ("i0e", "i1", "i1e", "erfcx", "log_ndtr")), _unary("entr", domain=(0, None)), _unary("ndtr", REAL), _unary("ndtri", domain=(0, 1)),
    *(_unary(name, **_NUMBERS) for name in ("airy_ai", "bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1", "spherical_bessel_j0")),
    *(_unary(name, domain=(0, None), **_NUMBERS) for name in ("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1")),
    BinaryUfuncInfo("special.xlog1py", dtypes=REAL, promotes_int_to_float=True, lhs_make_tensor_kwargs={"low": 0, "high": 3}, rhs_make_tensor_kwargs={"low": 0, "high": 3}, **_NO_METHODS),
    BinaryUfuncInfo("special.zeta", dtypes=_TYPES, promotes_int_to_float=True, lhs_make_tensor_kwargs={"low": 2, "high": 4}, rhs_make_tensor_kwargs={"low": 1, "high": 3}, **_NO_METHODS, **_NUMBERS),
    *(BinaryUfuncInfo(f"special.{name}", dtypes=_TYPES, promotes_int_to_float=True, rhs_make_tensor_kwargs={"low": 0, "high": 4}, lhs_make_tensor_kwargs={"low": -1, "high": 1}, **_NO_METHODS, **_NUMBERS) for name in (
        "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he",
        "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
        "shifted_chebyshev_polynomial_w",
    )),
]  # fmt: skip
