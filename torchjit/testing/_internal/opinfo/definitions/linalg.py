"""Products and operators of linear algebra."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._internal.opinfo.core import SampleInput
from torchjit.testing._internal.opinfo.definitions._table import ALL, DOUBLE, FLOAT_COMPLEX, LINALG, NUMBER_COMPLEX, op

_AD: dict[str, Any] = {"supports_forward_ad": True}
_NONE: dict[str, Any] = {"supports_autograd": False}


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


op_db: list[Any] = [
    op("mm", NUMBER_COMPLEX, lambda m: _s(m(3, 4), m(4, 5)), assert_autodiffed=True, inplace_variant=None, **_AD), op("bmm", NUMBER_COMPLEX, lambda m: _s(m(2, 3, 4), m(2, 4, 5)), assert_autodiffed=True, inplace_variant=None, **_AD),
    op("mv", NUMBER_COMPLEX, lambda m: _s(m(3, 4), m(4)), assert_autodiffed=True, inplace_variant=None, **_AD), op("dot", NUMBER_COMPLEX, lambda m: _s(m(5), m(5)), assert_autodiffed=True, inplace_variant=None, **_AD),
    op("vdot", NUMBER_COMPLEX, lambda m: _s(m(5), m(5)), inplace_variant=None, **_AD), op("inner", NUMBER_COMPLEX, lambda m: _s(m(2, 5), m(3, 5)), **_AD), op("outer", ALL, lambda m: _s(m(5), m(3)), aliases=["ger"], **_AD),
    op("matmul", NUMBER_COMPLEX, lambda m: _s(m(3, 4), m(4, 5)), lambda m: _s(m(4), m(4)), lambda m: _s(m(2, 3, 4), m(4)), lambda m: _s(m(2, 1, 3, 4), m(5, 4, 2)), assert_autodiffed=True, **_AD),
    op("__rmatmul__", NUMBER_COMPLEX, lambda m: _s(m(4, 5), m(3, 4)), op=torch.Tensor.__rmatmul__, supports_out=False, method_variant=None, inplace_variant=None, **_AD),
    op("addmm", NUMBER_COMPLEX, lambda m: _s(m(3, 5), m(3, 4), m(4, 5)), lambda m: _s(m(5), m(3, 4), m(4, 5), beta=2, alpha=3), assert_autodiffed=True, **_AD), op("addmv", NUMBER_COMPLEX, lambda m: _s(m(3), m(3, 4), m(4)), **_AD),
    op("addr", NUMBER_COMPLEX, lambda m: _s(m(3, 4), m(3), m(4)), **_AD), op("addbmm", NUMBER_COMPLEX, lambda m: _s(m(3, 5), m(2, 3, 4), m(2, 4, 5)), **_AD), op("baddbmm", NUMBER_COMPLEX, lambda m: _s(m(2, 3, 5), m(2, 3, 4), m(2, 4, 5)), **_AD),
    op("einsum", NUMBER_COMPLEX, lambda m: _s([m(3, 4), m(4, 5)], "ij,jk->ik"), lambda m: _s([m(3, 3)], "ii"), op=lambda operands, equation: torch.einsum(equation, operands), supports_out=False, **_AD),
    op("tensordot", NUMBER_COMPLEX, lambda m: _s(m(2, 3, 4), m(3, 4, 5), dims=2), **_AD), op("kron", ALL, lambda m: _s(m(2, 3), m(3, 2)), **_AD), op("cross", NUMBER_COMPLEX, lambda m: _s(m(5, 3), m(5, 3)), lambda m: _s(m(3, 5), m(3, 5), dim=0), **_AD),
    op("cdist", DOUBLE, lambda m: _s(m(4, 3), m(5, 3)), lambda m: _s(m(4, 3), m(5, 3), 1.0), supports_out=False, method_variant=None), op("matrix_exp", LINALG, lambda m: _s(m(3, 3)), supports_out=False, aliases=["linalg.matrix_exp"], **_AD),
    op("cholesky", LINALG, lambda m: _s(m.definite(4, 4)), lambda m: _s(m.definite(2, 4, 4), upper=True), **_AD), op("cholesky_inverse", LINALG, lambda m: _s(m.definite(3, 3).detach().cholesky().requires_grad_(m.requires_grad))),
    op("cholesky_solve", LINALG, lambda m: _s(m(3, 2), m.definite(3, 3).detach().cholesky())), op("logdet", DOUBLE, lambda m: _s(m.definite(3, 3)), supports_out=False, **_AD), op("pinverse", LINALG, lambda m: _s(m(3, 4)), supports_out=False),
    op("svd", LINALG, lambda m: _s(m(4, 3)), supports_gradgrad=False), op("qr", LINALG, lambda m: _s(m(4, 3))), op("triangular_solve", LINALG, lambda m: _s(m(3, 2), m.regular(3, 3))), op("lu", LINALG, lambda m: _s(m.regular(3, 3)), supports_out=False),
    op("trace", ALL, lambda m: _s(m(4, 5)), variant_test_name="rectangular", supports_out=False, **_AD),
    op("linalg.det", LINALG, lambda m: _s(m.regular(3, 3)), lambda m: _s(m.regular(2, 3, 3)), aliases=["det"], **_AD), op("linalg.slogdet", LINALG, lambda m: _s(m.regular(3, 3)), aliases=["slogdet"], **_AD),
    op("linalg.inv", LINALG, lambda m: _s(m.regular(3, 3)), aliases=["inverse"], **_AD), op("linalg.inv_ex", LINALG, lambda m: _s(m.regular(3, 3)), **_AD),
    op("linalg.solve", LINALG, lambda m: _s(m.regular(3, 3), m(3, 2)), lambda m: _s(m.regular(2, 3, 3), m(2, 3)), **_AD), op("linalg.solve_triangular", LINALG, lambda m: _s(m.regular(3, 3), m(3, 2), upper=True), **_AD),
    op("linalg.cholesky", LINALG, lambda m: _s(m.definite(3, 3)), **_AD), op("linalg.cholesky_ex", LINALG, lambda m: _s(m.definite(3, 3)), **_AD),
    op("linalg.qr", LINALG, lambda m: _s(m(4, 3)), lambda m: _s(m(3, 3), mode="complete"), **_AD), op("linalg.svdvals", LINALG, lambda m: _s(m(4, 3)), **_AD), op("linalg.svd", LINALG, lambda m: _s(m(4, 3), full_matrices=False), supports_gradgrad=False),
    op("linalg.eigvalsh", LINALG, lambda m: _s(m.definite(3, 3)), **_AD), op("linalg.eigh", LINALG, lambda m: _s(m.definite(3, 3)), supports_gradgrad=False), op("linalg.eigvals", LINALG, lambda m: _s(m.regular(3, 3)), **_NONE),
    op("linalg.eig", LINALG, lambda m: _s(m.regular(3, 3)), **_NONE), op("linalg.lu_factor", LINALG, lambda m: _s(m.regular(3, 3)), **_AD), op("linalg.lu", LINALG, lambda m: _s(m.regular(3, 3)), **_AD),
    op("linalg.pinv", LINALG, lambda m: _s(m(4, 3)), **_AD), op("linalg.lstsq", LINALG, lambda m: _s(m(4, 3), m(4, 2)), **_NONE), op("linalg.matrix_rank", LINALG, lambda m: _s(m(4, 3)), **_NONE), op("linalg.cond", LINALG, lambda m: _s(m.regular(3, 3)), **_AD),
    op("linalg.matrix_power", LINALG, lambda m: _s(m.regular(3, 3), 2), lambda m: _s(m.regular(3, 3), -1), aliases=["matrix_power"], **_AD), op("linalg.multi_dot", LINALG, lambda m: _s([m(2, 3), m(3, 4), m(4, 2)]), **_AD),
    op("linalg.norm", FLOAT_COMPLEX, lambda m: _s(m(4, 5)), lambda m: _s(m(5), 1), lambda m: _s(m(4, 5), 2, 1, True), **_AD), op("linalg.vector_norm", FLOAT_COMPLEX, lambda m: _s(m(4, 5)), lambda m: _s(m(4, 5), 1, 0), **_AD),
    op("linalg.matrix_norm", LINALG, lambda m: _s(m(4, 5)), lambda m: _s(m(4, 5), "nuc"), lambda m: _s(m(4, 5), 1), **_AD), op("linalg.cross", NUMBER_COMPLEX, lambda m: _s(m(5, 3), m(5, 3)), **_AD),
    op("linalg.vecdot", LINALG, lambda m: _s(m(4, 3), m(4, 3)), **_AD), op("linalg.tensorinv", LINALG, lambda m: _s(m.regular(6, 6).reshape(6, 2, 3), ind=1), **_AD), op("linalg.tensorsolve", LINALG, lambda m: _s(m.regular(6, 6).reshape(6, 2, 3), m(6)), **_AD),
    op("linalg.householder_product", LINALG, lambda m: _s(m(4, 3), m(3))), op("linalg.vander", NUMBER_COMPLEX, lambda m: _s(m(4)), lambda m: _s(m(4), N=3), supports_out=False, **_AD),
]  # fmt: skip
