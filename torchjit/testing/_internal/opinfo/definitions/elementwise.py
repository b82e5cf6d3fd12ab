"""Operators on the elements of one tensor, of two that are broadcast, and of three."""

from __future__ import annotations

import operator
from typing import Any

import torchjit as torch
from torchjit.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, SampleInput, UnaryUfuncInfo
from torchjit.testing._internal.opinfo.definitions._table import (
    ALL,
    BOOL,
    FLOAT,
    FLOAT_COMPLEX,
    INT,
    NUMBER,
    NUMBER_COMPLEX,
    REAL,
    op,
)

_ALIASES = {
    "abs": ["absolute"], "acos": ["arccos"], "acosh": ["arccosh"], "asin": ["arcsin"], "asinh": ["arcsinh"], "atan": ["arctan"], "atanh": ["arctanh"],
    "neg": ["negative"], "trunc": ["fix"], "clamp": ["clip"], "mul": ["multiply"], "sub": ["subtract"], "atan2": ["arctan2"], "ge": ["greater_equal"],
    "gt": ["greater"], "le": ["less_equal"], "lt": ["less"], "ne": ["not_equal"], "expm1": ["special.expm1"], "exp2": ["special.exp2"], "erf": ["special.erf"],
    "erfc": ["special.erfc"], "erfinv": ["special.erfinv"], "i0": ["special.i0"], "sinc": ["special.sinc"], "sigmoid": ["special.expit"],
    "logit": ["special.logit"], "log1p": ["special.log1p"], "round": ["special.round"], "digamma": ["special.psi", "special.digamma"],
    "lgamma": ["special.gammaln"], "xlogy": ["special.xlogy"],
}  # fmt: skip
_AUTODIFF = {
    "abs", "acos", "asin", "atan", "ceil", "clamp", "cos", "cosh", "exp", "frac", "floor", "log1p", "log", "log10", "log2", "neg", "round", "sin", "sinh", "tan", "tanh",
    "trunc", "expm1", "reciprocal", "rsqrt", "sqrt", "sigmoid", "erf", "erfc", "add", "mul", "sub", "max", "min", "pow",
}  # fmt: skip


def _unary(name: str, types: Any, **facts: Any) -> UnaryUfuncInfo:
    if name in _AUTODIFF:
        facts["assert_autodiffed"] = True
    return UnaryUfuncInfo(name, dtypes=types, aliases=_ALIASES.get(name), **facts)


_PREDICATE: dict[str, Any] = {"supports_autograd": False, "supports_forward_ad": False}
_NO_METHOD: dict[str, Any] = {"supports_out": False, "method_variant": None, "inplace_variant": None}

unary_ufuncs: list[UnaryUfuncInfo] = [
    _unary("abs", NUMBER_COMPLEX, supports_complex_to_float=True),
    *(_unary(name, ALL) for name in ("asinh", "atan", "cos", "cosh", "exp", "sin", "sinh", "tan", "tanh", "sigmoid")),
    *(_unary(name, ALL, domain=(-1, 1)) for name in ("acos", "asin", "atanh")), _unary("acosh", ALL, domain=(1, None)),
    *(_unary(name, ALL, domain=(0, None)) for name in ("log", "log10", "log2", "rsqrt", "sqrt")), _unary("log1p", REAL, domain=(-1, None)),
    *(_unary(name, NUMBER) for name in ("ceil", "floor", "trunc", "round")), _unary("frac", FLOAT),
    _unary("round", FLOAT, variant_test_name="decimals_3", sample_kwargs=lambda device, dtype, x: ({"decimals": 3}, {"decimals": 3})),
    _unary("neg", NUMBER_COMPLEX), _unary("positive", NUMBER_COMPLEX, supports_out=False), _unary("square", ALL), _unary("reciprocal", ALL),
    _unary("sgn", ALL), _unary("sign", REAL), _unary("expm1", REAL), _unary("exp2", REAL), _unary("erf", REAL), _unary("erfc", REAL),
    _unary("erfinv", REAL, domain=(-1, 1)), _unary("lgamma", REAL, domain=(0, None)), _unary("digamma", REAL, domain=(0, None)), _unary("i0", REAL), _unary("sinc", ALL),
    _unary("deg2rad", REAL), _unary("rad2deg", REAL), _unary("angle", ALL, supports_complex_to_float=True), _unary("conj_physical", ALL),
    _unary("conj", ALL, supports_out=False), _unary("resolve_conj", ALL, supports_out=False), _unary("resolve_neg", ALL, supports_out=False),
    _unary("logit", REAL, domain=(0, 1), sample_kwargs=lambda device, dtype, x: ({"eps": 0.2}, {"eps": 0.2})), _unary("nan_to_num", REAL),
    _unary("bitwise_not", INT + BOOL, operator_variant=operator.invert, **_PREDICATE), _unary("logical_not", ALL, **_PREDICATE), _unary("signbit", REAL, **_PREDICATE),
    *(_unary(name, types, **_PREDICATE, supports_out=False) for name, types in (("isfinite", ALL), ("isinf", ALL), ("isnan", ALL), ("isreal", ALL))),
    *(_unary(name, REAL, **_PREDICATE) for name in ("isposinf", "isneginf")),
    _unary("clamp", NUMBER, sample_kwargs=lambda device, dtype, x: ({"min": 1, "max": 3}, {"a_min": 1, "a_max": 3})),
    *(_unary(f"nn.functional.{name}", FLOAT, **_NO_METHOD) for name in (
        "silu", "mish", "hardsigmoid", "logsigmoid", "softsign", "tanhshrink", "selu", "celu", "elu", "hardswish", "hardtanh", "gelu", "relu6", "leaky_relu",
        "softplus", "hardshrink", "softshrink",
    )),
    _unary("nn.functional.relu", NUMBER, **_NO_METHOD),
    _unary("nn.functional.threshold", NUMBER, sample_kwargs=lambda device, dtype, x: ({"threshold": 1, "value": 2}, {}), **_NO_METHOD),
    *(_unary("polygamma", FLOAT, op=lambda x, n, **kw: torch.polygamma(n, x, **kw), method_variant=None, inplace_variant=None, domain=(1, None), variant_test_name=f"polygamma_n_{n}",
      sample_kwargs=lambda device, dtype, x, n=n: ({"n": n}, {"n": n})) for n in range(3)),
    *(_unary("mvlgamma", REAL, domain=(4, None), variant_test_name=f"mvlgamma_p_{p}", sample_kwargs=lambda device, dtype, x, p=p: ({"p": p}, {"d": p})) for p in (1, 3, 5)),
    *(_unary(name, ALL, supports_out=False, inplace_variant=None, supports_autograd=name in ("half", "float", "double", "bfloat16"), op=getattr(torch.Tensor, name), supports_forward_ad=False,
             test_neg_view=False)
      for name in ("bool", "byte", "char", "short", "int", "long", "half", "float", "double", "bfloat16")),
]  # fmt: skip


def _binary(name: str, types: Any, **facts: Any) -> BinaryUfuncInfo:
    if name in _AUTODIFF:
        facts["assert_autodiffed"] = True
    return BinaryUfuncInfo(name, dtypes=types, aliases=_ALIASES.get(name), **facts)


_COMPARE: dict[str, Any] = {"supports_autograd": False, "supports_forward_ad": False, "always_returns_bool": True}
_WHOLE: dict[str, Any] = {"supports_autograd": False, "supports_forward_ad": False}
_NONZERO: dict[str, Any] = {"rhs_make_tensor_kwargs": {"exclude_zero": True}}


def _reflected(name: str, function: Any, types: Any, **facts: Any) -> BinaryUfuncInfo:
    return BinaryUfuncInfo(
        name, op=getattr(torch.Tensor, name), method_variant=None, inplace_variant=None, operator_variant=function, supports_out=False, dtypes=types,
        sample_inputs_func=_with_numbers, **facts,
    )  # fmt: skip


def _with_numbers(info: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Any:
    from torchjit.testing._internal.opinfo.definitions._table import Maker

    m = Maker(device, dtype, requires_grad)
    number = True if dtype is torch.bool else 3.14 if dtype.is_floating_point else 3.14j if dtype.is_complex else 3
    for shape in ((5, 10, 5), ()):
        yield SampleInput(m(*shape, **info.lhs_make_tensor_kwargs), number)


binary_ufuncs: list[Any] = [
    _binary("add", ALL, supports_two_python_scalars=True), _binary("mul", ALL, supports_two_python_scalars=True),
    _binary("sub", NUMBER_COMPLEX, supports_two_python_scalars=True), _binary("true_divide", ALL, promotes_int_to_float=True, **_NONZERO),
    _binary("div", ALL, variant_test_name="no_rounding_mode", promotes_int_to_float=True, assert_autodiffed=True, **_NONZERO),
    *(OpInfo("div", dtypes=NUMBER, variant_test_name=f"{how}_rounding", supports_forward_ad=True, assert_autodiffed=True, sample_inputs_func=lambda info, device, dtype, grad, how=how, **kw: (
        SampleInput(s.input, args=s.args, kwargs={"rounding_mode": how}) for s in _divided(device, dtype, grad))) for how in ("trunc", "floor")),
    _binary("floor_divide", NUMBER, supports_autograd=False, supports_forward_ad=False, **_NONZERO), _binary("remainder", NUMBER, **_NONZERO), _binary("fmod", NUMBER, **_NONZERO),
    _binary("pow", NUMBER_COMPLEX, lhs_make_tensor_kwargs={"low": 1, "high": 3}, rhs_make_tensor_kwargs={"low": 0, "high": 3}),
    _binary("float_power", ALL, lhs_make_tensor_kwargs={"low": 1, "high": 2}, rhs_make_tensor_kwargs={"low": 0, "high": 2}, promotes_int_to_float=True),
    _binary("atan2", REAL, promotes_int_to_float=True, rhs_make_tensor_kwargs={"exclude_zero": True}), _binary("copysign", REAL, promotes_int_to_float=True), _binary("hypot", FLOAT),
    *(_binary(name, REAL, supports_rhs_python_scalar=False) for name in ("maximum", "minimum", "fmax", "fmin")),
    *(_binary(name, REAL, variant_test_name="binary", supports_rhs_python_scalar=False) for name in ("max", "min")),
    *(_binary(name, FLOAT, supports_rhs_python_scalar=False) for name in ("logaddexp", "logaddexp2")), _binary("nextafter", FLOAT, **_WHOLE, supports_rhs_python_scalar=False),
    *(_binary(name, ALL, **_COMPARE) for name in ("eq", "ne")), *(_binary(name, REAL, **_COMPARE) for name in ("ge", "gt", "le", "lt")),
    *(_binary(f"logical_{name}", ALL, **_COMPARE, supports_rhs_python_scalar=False) for name in ("and", "or", "xor")),
    *(_binary(f"bitwise_{name}", INT + BOOL, operator_variant=getattr(operator, name + ("_" if name != "xor" else "")), **_WHOLE) for name in ("and", "or", "xor")),
    *(_binary(f"bitwise_{side}_shift", INT, rhs_make_tensor_kwargs={"low": 0, "high": 6}, **_WHOLE) for side in ("left", "right")),
    *(_binary(name, INT, supports_rhs_python_scalar=False, **_WHOLE) for name in ("gcd", "lcm")), _binary("heaviside", REAL, supports_rhs_python_scalar=False, **_WHOLE),
    _binary("isclose", ALL, supports_out=False, supports_rhs_python_scalar=False, **_COMPARE), _binary("ldexp", ALL, rhs_make_tensor_kwargs={"low": -3, "high": 3}),
    _binary("xlogy", REAL, promotes_int_to_float=True, lhs_make_tensor_kwargs={"low": 0, "high": 3}, rhs_make_tensor_kwargs={"low": 1, "high": 4}),
    *(_binary(name, FLOAT, lhs_make_tensor_kwargs={"low": 0.5, "high": 3}, rhs_make_tensor_kwargs={"low": 0.5, "high": 3}, supports_rhs_python_scalar=False, supports_forward_ad=False,
              supports_autograd=False) for name in ("igamma", "igammac")),
    _binary("rsub", NUMBER_COMPLEX, supports_out=False, inplace_variant=None),
    *(_binary(f"clamp_{side}", REAL, supports_rhs_python_scalar=True, supports_forward_ad=True) for side in ("max", "min")),
    _reflected("__radd__", operator.add, ALL), _reflected("__rmul__", operator.mul, ALL), _reflected("__rsub__", operator.sub, NUMBER_COMPLEX),
    _reflected("__rpow__", operator.pow, NUMBER_COMPLEX), _reflected("__rdiv__", operator.truediv, ALL, lhs_make_tensor_kwargs={"exclude_zero": True}),
    _reflected("__rmod__", operator.mod, NUMBER, lhs_make_tensor_kwargs={"exclude_zero": True}),
    *(_reflected(f"__r{name}__", getattr(operator, name + ("_" if name != "xor" else "")), INT + BOOL, supports_autograd=False, supports_forward_ad=False) for name in ("and", "or", "xor")),
]  # fmt: skip


def _divided(device: Any, dtype: Any, requires_grad: bool) -> Any:
    from torchjit.testing._internal.opinfo.definitions._table import Maker

    m = Maker(device, dtype, requires_grad)
    for left, right in (((), ()), ((5,), (5,)), ((5, 1), (5,)), ((3, 2, 5), (2, 5))):
        yield SampleInput(m(*left), m(*right, exclude_zero=True))


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


_AD: dict[str, Any] = {"supports_forward_ad": True}

op_db: list[Any] = [
    *unary_ufuncs, *binary_ufuncs,
    op("addcmul", NUMBER_COMPLEX, lambda m: _s(m(5, 5), m(5, 5), m(5, 5)), lambda m: _s(m(5, 5), m(5, 1), m(1, 5)), lambda m: _s(m(), m(), m(), value=2), assert_autodiffed=True, **_AD),
    op("addcdiv", FLOAT_COMPLEX, lambda m: _s(m(5, 5), m(5, 5), m(5, 5, exclude_zero=True)), lambda m: _s(m(1), m(5, 5), m(5, exclude_zero=True), value=2), **_AD),
    op("lerp", FLOAT_COMPLEX, lambda m: _s(m(5, 5), m(5, 5), 0.4), lambda m: _s(m(5, 5), m(5), m(5, 5)), assert_autodiffed=True, **_AD),
    op("where", ALL, lambda m: _s(m(10, 10), m.mask(10, 10), m(10, 10)), lambda m: _s(m(5, 1), m.mask(5, 5), m(5)), op=lambda x, condition, other: torch.where(condition, x, other),
       supports_out=False, method_variant=lambda x, condition, other: x.where(condition, other), inplace_variant=None, **_AD),
    op("complex", (torch.float32, torch.float64), lambda m: _s(m(5, 5), m(5, 5)), lambda m: _s(m(5, 1), m(5)), **_AD),
    op("polar", (torch.float32, torch.float64), lambda m: _s(m.positive(5, 5), m(5, 5)), **_AD),
    op("frexp", FLOAT, lambda m: _s(m(5, 5)), lambda m: _s(m())),
    op("masked_fill", ALL, lambda m: _s(m(5, 5), m.mask(5, 5), 1), lambda m: _s(m(5, 5), m.mask(5), m.plain()), supports_out=False, **_AD),
    op("fill", ALL, lambda m: _s(m(5, 5), 1), lambda m: _s(m(), 1), supports_out=False, **_AD), op("zero_", ALL, lambda m: _s(m(5, 5)), supports_out=False, op=lambda x: torch.zero_(x.clone()), method_variant=None, inplace_variant=None, **_AD),
    op("real", ALL, lambda m: _s(m(5, 5)), supports_out=False, method_variant=None, inplace_variant=None, **_AD),
    op("imag", (torch.complex64, torch.complex128), lambda m: _s(m(5, 5)), supports_out=False, method_variant=None, inplace_variant=None, **_AD),
    op("view_as_real", (torch.complex64, torch.complex128), lambda m: _s(m(5, 5)), supports_out=False, **_AD),
    op("view_as_complex", (torch.float32, torch.float64), lambda m: _s(m(5, 2)), supports_out=False, **_AD),
    op("equal", ALL, lambda m: _s(m(5, 5), m(5, 5)), supports_out=False, supports_autograd=False),
    op("allclose", FLOAT_COMPLEX, lambda m: _s(m(5, 5), m(5, 5)), lambda m: _s(m(), m()), supports_out=False, supports_autograd=False),
    op("isin", NUMBER, lambda m: _s(m(5, 5), m(5)), supports_autograd=False, method_variant=None, inplace_variant=None),
    op("to", ALL, lambda m: _s(m(5, 5), torch.float64), lambda m: _s(m(5, 5), device="cpu"), op=lambda x, *args, **kwargs: x.to(*args, **kwargs), supports_out=False, supports_forward_ad=True),
    op("clone", ALL, lambda m: _s(m(5, 10)), lambda m: _s(m()), supports_out=False, inplace_variant=None, **_AD),
    op("contiguous", ALL, lambda m: _s(m(5, 5)), op=lambda x, **kwargs: x.contiguous(**kwargs), supports_out=False, **_AD),
    op("bucketize", NUMBER, lambda m: _s(m(5, 5), torch.tensor([0.0, 1.0, 2.0])), supports_autograd=False, method_variant=None, inplace_variant=None),
    op("searchsorted", NUMBER, lambda m: _s(torch.sort(m(5, 8).detach())[0], m(5, 3).detach()), lambda m: _s(torch.sort(m(8).detach())[0], m(4).detach(), right=True), supports_autograd=False,
       method_variant=None, inplace_variant=None),
]  # fmt: skip
