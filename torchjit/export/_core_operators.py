"""Operators of modules and tensors in terms of those of the core of ATen. Each function takes what its operator takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torchjit as torch

aten = torch.ops.aten


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


def _softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    x = x if dtype is None else aten._to_copy.default(x, dtype=dtype)
    return aten._softmax.default(x, dim, False)


def _log_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    x = x if dtype is None else aten._to_copy.default(x, dtype=dtype)
    return aten._log_softmax.default(x, dim, False)


# Products.


def _matmul(a: Any, b: Any) -> Any:
    if a.dim() == 1 and b.dim() == 1:
        return aten.sum.dim_IntList(aten.mul.Tensor(a, b), [0])
    if a.dim() == 2 and b.dim() == 2:
        return aten.mm.default(a, b)
    if a.dim() == 2 and b.dim() == 1:
        return aten.sum.dim_IntList(aten.mul.Tensor(a, b), [1])
    if a.dim() == 3 and b.dim() == 3 and not _is_one(a.size(0)) and not _is_one(b.size(0)):
        return aten.bmm.default(a, b)
    if a.dim() > 2 and b.dim() == 2:
        sizes = _shape(a)
        flat = aten.mm.default(aten.view.default(_contiguous(a), [-1, sizes[-1]]), b)
        return aten.view.default(flat, [*sizes[:-1], b.size(1)])
    return aten.matmul.default(a, b)


def _is_one(n: Any) -> bool:
    return isinstance(n, int) and n == 1


def _contiguous(x: Any) -> Any:
    return x if x.is_contiguous() else aten.clone.default(x, memory_format=torch.contiguous_format)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    turned = aten.permute.default(weight, [1, 0])
    if bias is not None and x.dim() == 2:
        return aten.addmm.default(bias, x, turned)
    if x.dim() > 2:
        sizes = _shape(x)
        flat = aten.view.default(_contiguous(x), [-1, sizes[-1]])
        made = aten.mm.default(flat, turned) if bias is None else aten.addmm.default(bias, flat, turned)
        return aten.view.default(made, [*sizes[:-1], weight.size(0)])
    made = _matmul(x, turned) if x.dim() == 2 else aten.matmul.default(x, turned)
    return made if bias is None else aten.add.Tensor(made, bias)


def _outer(a: Any, b: Any) -> Any:
    return aten.mul.Tensor(aten.view.default(a, [a.size(0), 1]), b)


# Shapes.


def _t(x: Any) -> Any:
    return aten.permute.default(x, [1, 0] if x.dim() == 2 else list(range(x.dim())))


def _reversed(x: Any) -> Any:
    return aten.permute.default(x, list(range(x.dim()))[::-1])


def _transpose(x: Any, dim0: int, dim1: int) -> Any:
    order = list(range(x.dim()))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return aten.permute.default(x, order)


def _movedim(x: Any, source: int, destination: int) -> Any:
    order = [d for d in range(x.dim()) if d != source % x.dim()]
    order.insert(destination % x.dim(), source % x.dim())
    return aten.permute.default(x, order)


def _reshape(x: Any, shape: Any) -> Any:
    return aten.view.default(x, shape) if x.is_contiguous() else aten.view.default(_contiguous(x), shape)


def _flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = _shape(x)
    start, end = start_dim % max(1, len(shape)), end_dim % max(1, len(shape))
    if start == end:
        return x
    return _reshape(x, [*shape[:start], -1, *shape[end + 1 :]])


def _unflatten(x: Any, dim: int, sizes: Any) -> Any:
    shape, dim = _shape(x), dim % x.dim()
    return aten.view.default(_contiguous(x), [*shape[:dim], *sizes, *shape[dim + 1 :]])


def _narrow(x: Any, dim: int, start: Any, length: Any) -> Any:
    return aten.slice.Tensor(x, dim, start, start + length)


def _pieces(x: Any, size: int, dim: int) -> Any:
    n = x.size(dim)
    if not isinstance(n, int):
        return aten.split.Tensor(x, size, dim)
    return aten.split_with_sizes.default(x, [size] * (n // size) + ([n % size] if n % size or not n else []), dim)


def _split(x: Any, split_size: int, dim: int = 0) -> Any:
    return _pieces(x, split_size, dim)


def _chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    n = x.size(dim)
    return _pieces(x, max(1, -(-n // chunks)), dim) if isinstance(n, int) else aten.chunk.default(x, chunks, dim)


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


def _to(x: Any, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Any:
    return x if x.dtype == dtype and not copy else aten._to_copy.default(x, dtype=dtype)


# Reductions and losses.


def _mse_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    return _reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(x, target), 2), reduction)


def _l1_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    return _reduced(aten.abs.default(aten.sub.Tensor(x, target)), reduction)


def _reduced(x: Any, reduction: int) -> Any:
    return (x, None, None)[0] if reduction == 0 else aten.mean.default(x) if reduction == 1 else aten.sum.default(x)


def _all(x: Any) -> Any:
    return aten.logical_not.default(aten.any.default(aten.logical_not.default(x)))


def _var(x: Any, unbiased: bool = True) -> Any:
    return aten.var.correction(x, None, correction=int(unbiased))


def _var_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return aten.var.correction(x, dim, correction=int(unbiased), keepdim=keepdim)


def _std(x: Any, unbiased: bool = True) -> Any:
    return aten.sqrt.default(_var(x, unbiased))


def _std_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return aten.sqrt.default(_var_dim(x, dim, unbiased, keepdim))


def _adaptive_avg_pool2d(x: Any, output_size: Any) -> Any:
    if list(output_size) == [1, 1]:
        return aten.mean.dim(x, [-1, -2], True)
    return aten._adaptive_avg_pool2d.default(x, output_size)


# Modules.


def _layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enable: bool = True) -> Any:
    return aten.native_layer_norm.default(x, shape, weight, bias, eps)[0]


def _group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True) -> Any:
    sizes = _shape(x)
    area: Any = 1
    for n in sizes[2:]:
        area = area * n
    return aten.native_group_norm.default(_contiguous(x), weight, bias, sizes[0], sizes[1], area, groups, eps)[0]


def _convolution(dims: int, transposed: bool) -> Callable[..., Any]:
    def many(n: Any) -> list[int]:
        given = [n] if isinstance(n, int) else list(n)
        return given * dims if len(given) == 1 else given

    def straight(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
        return aten.convolution.default(x, weight, bias, many(stride), many(padding), many(dilation), False, [0] * dims, groups)

    def back(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        return aten.convolution.default(x, weight, bias, many(stride), many(padding), many(dilation), True, many(output_padding), groups)

    return back if transposed else straight


def table() -> dict[Any, Callable[..., Any]]:
    """The functions by the operators in whose places they stand."""
    functions: dict[Any, Callable[..., Any]] = {
        aten.silu.default: _silu,
        aten.elu.default: _elu,
        aten.hardsigmoid.default: _hardsigmoid,
        aten.hardswish.default: _hardswish,
        aten.softplus.default: _softplus,
        aten.mish.default: _mish,
        aten.log_sigmoid.default: _log_sigmoid,
        aten.glu.default: _glu,
        aten.threshold.default: _threshold,
        aten.softmax.int: _softmax,
        aten.log_softmax.int: _log_softmax,
        aten.relu6.default: lambda x: aten.hardtanh.default(x, 0, 6),
        aten.matmul.default: _matmul,
        aten.linear.default: _linear,
        aten.outer.default: _outer,
        aten.t.default: _t,
        aten.numpy_T.default: _reversed,
        aten.transpose.int: _transpose,
        aten.swapaxes.default: _transpose,
        aten.movedim.int: _movedim,
        aten.reshape.default: _reshape,
        aten.flatten.using_ints: _flatten,
        aten.unflatten.int: _unflatten,
        aten.narrow.default: _narrow,
        aten.split.Tensor: _split,
        aten.chunk.default: _chunk,
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
        aten.square.default: lambda x: aten.pow.Tensor_Scalar(x, 2),
        aten.clip.default: lambda x, low=None, high=None: aten.clamp.default(x, low, high),
        aten.floor_divide.default: lambda x, y: aten.div.Tensor_mode(x, y, rounding_mode="floor"),
        aten.nan_to_num.default: _nan_to_num,
        aten.ones_like.default: lambda x, **options: aten.full_like.default(x, 1, **options),
        aten.zeros_like.default: lambda x, **options: aten.full_like.default(x, 0, **options),
        aten.to.dtype: _to,
        aten.contiguous.default: lambda x, memory_format=torch.contiguous_format: aten.clone.default(x, memory_format=memory_format),
        aten.mse_loss.default: _mse_loss,
        aten.l1_loss.default: _l1_loss,
        aten.all.default: _all,
        aten.var.default: _var,
        aten.var.dim: _var_dim,
        aten.std.default: _std,
        aten.std.dim: _std_dim,
        aten.adaptive_avg_pool2d.default: _adaptive_avg_pool2d,
        aten.layer_norm.default: _layer_norm,
        aten.group_norm.default: _group_norm,
    }
    for dims in (1, 2, 3):
        functions[getattr(aten, f"conv{dims}d").default] = _convolution(dims, False)
    functions[aten.conv_transpose1d.default] = _convolution(1, True)
    functions[aten.conv_transpose2d.input] = _convolution(2, True)
    functions[aten.conv_transpose3d.input] = _convolution(3, True)
    return functions
