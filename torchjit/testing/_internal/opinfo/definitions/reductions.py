"""Operators that make one number of many, and those that run along a dimension."""

from __future__ import annotations

from typing import Any

from torchjit.testing._internal.opinfo.core import ReductionOpInfo, SampleInput
from torchjit.testing._internal.opinfo.definitions._table import (
    ALL,
    FLOAT,
    FLOAT_COMPLEX,
    NUMBER,
    NUMBER_COMPLEX,
    REAL,
    op,
)

_AD: dict[str, Any] = {"supports_forward_ad": True}
_NONE: dict[str, Any] = {"supports_autograd": False}


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


def _deviation(t: Any, dim: Any = None, keepdim: bool = False) -> Any:
    yield (), {"unbiased": False}
    if dim is not None and t.dim() and t.shape[-1] > 1 and dim == -1:
        yield (), {"unbiased": True}


reduction_ops: list[ReductionOpInfo] = [
    ReductionOpInfo("sum", identity=0, dtypes=ALL, promotes_int_to_int64=True, **_AD), ReductionOpInfo("nansum", identity=0, nan_policy="omit", dtypes=REAL, promotes_int_to_int64=True, **_AD),
    ReductionOpInfo("prod", identity=1, dtypes=ALL, supports_multiple_dims=False, promotes_int_to_int64=True, **_AD),
    ReductionOpInfo("mean", dtypes=FLOAT_COMPLEX, nan_policy="propagate", assert_autodiffed=True, **_AD), ReductionOpInfo("nanmean", dtypes=FLOAT, nan_policy="omit", **_AD),
    ReductionOpInfo("all", identity=True, supports_multiple_dims=False, dtypes=ALL, **_NONE), ReductionOpInfo("any", identity=False, supports_multiple_dims=False, dtypes=ALL, **_NONE),
    ReductionOpInfo("amax", nan_policy="propagate", dtypes=REAL, **_AD), ReductionOpInfo("amin", nan_policy="propagate", dtypes=REAL, **_AD),
    ReductionOpInfo("argmax", supports_multiple_dims=False, dtypes=NUMBER, **_NONE), ReductionOpInfo("argmin", supports_multiple_dims=False, dtypes=NUMBER, **_NONE),
    ReductionOpInfo("var", dtypes=FLOAT_COMPLEX, complex_to_real=True, generate_args_kwargs=_deviation, assert_autodiffed=True, **_AD),
    ReductionOpInfo("std", dtypes=FLOAT_COMPLEX, complex_to_real=True, generate_args_kwargs=_deviation, assert_autodiffed=True, **_AD),
]  # fmt: skip

op_db: list[Any] = [
    *reduction_ops,
    op("count_nonzero", ALL, lambda m: _s(m(5, 3)), lambda m: _s(m(5, 3), 0), supports_out=False, **_NONE),
    *(op(name, REAL, lambda m: _s(m(5, 5), 1), lambda m: _s(m(5, 5), 1, True), lambda m: _s(m(), 0), variant_test_name="reduction_with_dim", **_AD) for name in ("max", "min")),
    *(op(name, REAL, lambda m: _s(m(5, 5)), lambda m: _s(m()), variant_test_name="reduction_no_dim", supports_out=False, **_AD) for name in ("max", "min")),
    *(op(name, NUMBER, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 1), lambda m: _s(m(5, 5), 0, True), **_AD) for name in ("median", "nanmedian")),
    op("mode", REAL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 1), **_AD), op("kthvalue", NUMBER, lambda m: _s(m(5, 5), 2), lambda m: _s(m(5, 5), 2, 0, True), **_AD),
    op("aminmax", REAL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), dim=0), **_NONE),
    *(op(name, FLOAT_COMPLEX, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 0, True), lambda m: _s(m(5, 5), (0, 1), False), supports_out=False, **_AD) for name in ("var_mean", "std_mean")),
    op("logsumexp", REAL, lambda m: _s(m(5, 5), 1), lambda m: _s(m(5, 5), (0, 1), True), lambda m: _s(m(), 0), assert_autodiffed=True, **_AD),
    op("norm", FLOAT_COMPLEX, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 2), lambda m: _s(m(5, 5), 1, 0), lambda m: _s(m(5, 5), 2, 1, True), **_AD),
    op("norm", FLOAT, lambda m: _s(m(5, 5), "fro"), variant_test_name="fro", supports_out=False, **_AD), op("norm", FLOAT, lambda m: _s(m(5, 5), float("inf")), variant_test_name="inf", **_AD),
    op("dist", FLOAT_COMPLEX, lambda m: _s(m(5, 5), m(5, 5)), lambda m: _s(m(5, 1), m(5), 1), supports_out=False, **_AD),
    *(op(name, (FLOAT[0], FLOAT[1]), lambda m: _s(m(5, 5), 0.5), lambda m: _s(m(5, 5), 0.25, 1, True), lambda m: _s(m(8), 0.3, interpolation="nearest"), **_AD) for name in ("quantile", "nanquantile")),
    op("cumsum", ALL, lambda m: _s(m(5, 5), 0), lambda m: _s(m(), 0), **_AD), op("cumprod", ALL, lambda m: _s(m(5, 5), 1), **_AD), op("logcumsumexp", FLOAT, lambda m: _s(m(5, 5), 0)),
    *(op(name, REAL, lambda m: _s(m(5, 5), 0), lambda m: _s(m(), 0), inplace_variant=None, **_AD) for name in ("cummax", "cummin")),
    op("softmax", FLOAT, lambda m: _s(m(5, 5), 1), lambda m: _s(m(5, 3, 4), 0), lambda m: _s(m(), 0), supports_out=False, assert_autodiffed=True, aliases=["special.softmax", "nn.functional.softmax"],
       aten_name="softmax", **_AD),
    op("log_softmax", FLOAT, lambda m: _s(m(5, 5), 1), lambda m: _s(m(5, 3, 4), 0), supports_out=False, assert_autodiffed=True, aliases=["special.log_softmax", "nn.functional.log_softmax"], **_AD),
    op("sort", REAL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 0, True), lambda m: _s(m(5, 5), dim=1, stable=True, descending=False), **_AD),
    op("argsort", REAL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 0, True), supports_out=False, **_NONE), op("msort", REAL, lambda m: _s(m(5, 5)), **_AD),
    op("topk", NUMBER, lambda m: _s(m(5, 5), 3), lambda m: _s(m(5, 5), 3, 0, False, True), lambda m: _s(m(), 1), **_AD),
    op("unique", REAL, lambda m: _s(m(5, 5), return_inverse=True, return_counts=True), lambda m: _s(m(5, 5), dim=0), supports_out=False, **_NONE),
    op("unique_consecutive", REAL, lambda m: _s(m(5, 5), return_inverse=True, return_counts=True), supports_out=False, **_NONE),
    op("diff", ALL, lambda m: _s(m(5)), lambda m: _s(m(5, 5), 1, 0), lambda m: _s(m(5, 5), 2, prepend=m(5, 1)), **_AD), op("trapezoid", NUMBER_COMPLEX, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), dx=2), supports_out=False,
       aliases=["trapz"], method_variant=None, inplace_variant=None, **_AD),
    op("cumulative_trapezoid", NUMBER_COMPLEX, lambda m: _s(m(5, 5)), supports_out=False, method_variant=None, inplace_variant=None, **_AD),
    op("gradient", FLOAT_COMPLEX, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), dim=1, edge_order=1), supports_out=False, method_variant=None, inplace_variant=None, **_AD),
    op("cov", FLOAT_COMPLEX, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), correction=0), supports_out=False, **_AD), op("corrcoef", FLOAT_COMPLEX, lambda m: _s(m(5, 5)), supports_out=False, **_AD),
    op("histc", (FLOAT[0], FLOAT[1]), lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 10, -2, 2), **_NONE),
    op("bincount", (FLOAT[0],), lambda m: _s(m.index(5, 10)), lambda m: _s(m.index(5, 10), weights=m(10), minlength=8), supports_out=False, **_NONE),
    op("renorm", FLOAT_COMPLEX, lambda m: _s(m(5, 5), 2, 0, 1.5), **_AD),
]  # fmt: skip
