"""Operators in terms of those of the core of ATen. Each function takes what its operator takes. What composite operators are made of says
`torchjit._composites`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torchjit as torch

aten: Any = torch.ops.aten


def _shape(x: Any) -> list[Any]:
    return [x.size(d) for d in range(x.dim())]


def _full(x: Any, value: Any) -> Any:
    return aten.scalar_tensor.default(value, dtype=x.dtype, device=x.device)


# Activations.


def _silu(x: Any) -> Any:
    return aten.mul.Tensor(x, aten.sigmoid.default(x))


def _elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    positive = x if scale == 1 else aten.mul.Tensor(x, scale)
    inner = x if input_scale == 1 else aten.mul.Tensor(x, input_scale)
    return aten.where.self(aten.gt.Scalar(x, 0), positive, aten.mul.Tensor(aten.expm1.default(inner), alpha * scale))


def _hardsigmoid(x: Any) -> Any:
    return aten.div.Tensor(aten.clamp.default(aten.add.Tensor(x, 3), 0, 6), 6)


def _hardswish(x: Any) -> Any:
    return aten.div.Tensor(aten.mul.Tensor(x, aten.clamp.default(aten.add.Tensor(x, 3), 0, 6)), 6)


def _softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = x if beta == 1 else aten.mul.Tensor(x, beta)
    soft = aten.log1p.default(aten.exp.default(scaled))
    return aten.where.self(aten.gt.Scalar(scaled, threshold), x, soft if beta == 1 else aten.div.Tensor(soft, beta))


def _mish(x: Any) -> Any:
    return aten.mul.Tensor(x, aten.tanh.default(_softplus(x)))


def _log_sigmoid(x: Any) -> Any:
    small = aten.minimum.default(_full(x, 0), x)
    return aten.sub.Tensor(small, aten.log1p.default(aten.exp.default(aten.neg.default(aten.abs.default(x)))))


def _glu(x: Any, dim: int = -1) -> Any:
    half = x.size(dim) // 2
    a, b = aten.slice.Tensor(x, dim, 0, half), aten.slice.Tensor(x, dim, half, 2 * half)
    return aten.mul.Tensor(a, aten.sigmoid.default(b))


def _threshold(x: Any, threshold: Any, value: Any) -> Any:
    return aten.where.self(aten.le.Scalar(x, threshold), _full(x, value), x)


# Products.


def _contiguous(x: Any) -> Any:
    return x if x.is_contiguous() else aten.clone.default(x, memory_format=torch.contiguous_format)


def _outer(a: Any, b: Any) -> Any:
    return aten.mul.Tensor(aten.view.default(a, [a.size(0), 1]), b)


# Shapes.


def _t(x: Any) -> Any:
    return aten.permute.default(x, [1, 0] if x.dim() == 2 else list(range(x.dim())))


def _transpose(x: Any, dim0: int, dim1: int) -> Any:
    order = list(range(x.dim()))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return aten.permute.default(x, order)


def _unflatten(x: Any, dim: int, sizes: Any) -> Any:
    shape, dim = _shape(x), dim % x.dim()
    return aten.view.default(_contiguous(x), [*shape[:dim], *sizes, *shape[dim + 1 :]])


def _pieces(x: Any, size: int, dim: int) -> Any:
    n = x.size(dim)
    if not isinstance(n, int):
        return aten.split.Tensor(x, size, dim)
    return aten.split_with_sizes.default(x, [size] * (n // size) + ([n % size] if n % size or not n else []), dim)


def _split(x: Any, split_size: int, dim: int = 0) -> Any:
    return _pieces(x, split_size, dim)


def _unbind(x: Any, dim: int = 0) -> Any:
    return [aten.select.int(x, dim, i) for i in range(int(x.size(dim)))]


def _stack(tensors: Any, dim: int = 0) -> Any:
    return aten.cat.default([aten.unsqueeze.default(x, dim) for x in tensors], dim)


def _pad(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    if mode == "constant":
        return aten.constant_pad_nd.default(x, pad, value or 0.0)
    return aten.pad.default(x, pad, mode, value)


# Elementwise.


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return aten.where.self(mask, _full(x, value), x)


def _where_other(condition: Any, x: Any, other: Any) -> Any:
    return aten.where.self(condition, x, _full(x, other))


def _where_self(condition: Any, x: Any, other: Any) -> Any:
    return aten.where.self(condition, _full(other, x), other)


def _addcmul(x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    product = aten.mul.Tensor(a, b)
    return aten.add.Tensor(x, product if value == 1 else aten.mul.Tensor(product, value))


def _addcdiv(x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    quotient = aten.div.Tensor(a, b)
    return aten.add.Tensor(x, quotient if value == 1 else aten.mul.Tensor(quotient, value))


def _rsub(x: Any, other: Any, alpha: Any = 1) -> Any:
    x = x if alpha == 1 else aten.mul.Tensor(x, alpha)
    return aten.sub.Tensor(other if isinstance(other, torch.Tensor) else _full(x, other), x)


def _nan_to_num(x: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    info = torch.finfo(x.dtype)
    x = aten.where.self(aten.isnan.default(x), _full(x, nan or 0.0), x)
    x = aten.where.self(aten.eq.Scalar(x, math.inf), _full(x, info.max if posinf is None else posinf), x)
    return aten.where.self(aten.eq.Scalar(x, -math.inf), _full(x, info.min if neginf is None else neginf), x)


# Reductions and losses.


def _mse_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    return _reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(x, target), 2), reduction)


def _reduced(x: Any, reduction: int) -> Any:
    return (x, None, None)[0] if reduction == 0 else aten.mean.default(x) if reduction == 1 else aten.sum.default(x)


def _deviation(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return aten.sqrt.default(aten.var.correction(x, dim, correction=correction, keepdim=keepdim))


def _all(x: Any) -> Any:
    return aten.logical_not.default(aten.any.default(aten.logical_not.default(x)))



def table() -> dict[Any, Callable[..., Any]]:
    """The functions by the operators in whose places they stand."""
    return {
        aten.silu.default: _silu,
        aten.elu.default: _elu,
        aten.hardsigmoid.default: _hardsigmoid,
        aten.hardswish.default: _hardswish,
        aten.softplus.default: _softplus,
        aten.mish.default: _mish,
        aten.log_sigmoid.default: _log_sigmoid,
        aten.glu.default: _glu,
        aten.threshold.default: _threshold,
        aten.relu6.default: lambda x: aten.hardtanh.default(x, 0, 6),
        aten.outer.default: _outer,
        aten.dot.default: lambda a, b: aten.sum.default(aten.mul.Tensor(a, b)),
        aten.mv.default: lambda a, b: aten.sum.dim_IntList(aten.mul.Tensor(a, b), [1]),
        aten.t.default: _t,
        aten.transpose.int: _transpose,
        aten.unflatten.int: _unflatten,
        aten._reshape_alias.default: lambda x, size, stride: aten.view.default(x, size),
        aten._unsafe_view.default: aten.view.default,
        aten.squeeze_.dim: aten.squeeze.dim,
        aten.add_.Tensor: aten.add.Tensor,
        aten.split.Tensor: _split,
        aten.unbind.int: _unbind,
        aten.stack.default: _stack,
        aten.pad.default: _pad,
        aten.masked_fill.Scalar: _masked_fill,
        aten.where.ScalarOther: _where_other,
        aten.where.ScalarSelf: _where_self,
        aten.addcmul.default: _addcmul,
        aten.addcdiv.default: _addcdiv,
        aten.rsub.Scalar: _rsub,
        aten.rsub.Tensor: _rsub,
        aten.floor_divide.default: lambda x, y: aten.div.Tensor_mode(x, y, rounding_mode="floor"),
        aten.nan_to_num.default: _nan_to_num,
        aten.ones_like.default: lambda x, **options: aten.full_like.default(x, 1, **options),
        aten.zeros_like.default: lambda x, **options: aten.full_like.default(x, 0, **options),
        aten.mse_loss.default: _mse_loss,
        aten.all.default: _all,
        aten.std.correction: _deviation,
    }
