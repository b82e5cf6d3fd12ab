"""Losses, norms, normalizations and what makes tensors in terms of the core of ATen. Each function takes what its operator takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch

aten: Any = torch.ops.aten


def _reduced(x: Any, reduction: int) -> Any:
    return x if reduction == 0 else aten.mean.default(x) if reduction == 1 else aten.sum.default(x)


def _zero(x: Any) -> Any:
    return aten.scalar_tensor.default(0, dtype=x.dtype, device=x.device)


def _nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """The loss of classes, of a vector or along dimension 1, and what the targets weigh."""
    dim = 0 if x.dim() == 1 else 1
    counted = aten.ne.Scalar(target, ignore_index)
    safe = aten.where.self(counted, target, _zero(target))
    picked = aten.squeeze.dim(aten.gather.default(x, dim, aten.unsqueeze.default(safe, dim)), dim)
    losses = aten.neg.default(picked)
    weights = (
        None if weight is None else aten.view.default(aten.index_select.default(weight, 0, aten.view.default(safe, [-1])), _sizes(target))
    )
    if weights is not None:
        losses = aten.mul.Tensor(losses, weights)
    losses = aten.where.self(counted, losses, _zero(losses))
    if reduction == 0:
        return losses, _zero(x)
    if weights is None:
        total = aten._to_copy.default(aten.sum.default(counted), dtype=x.dtype)
    else:
        total = aten.sum.default(aten.where.self(counted, weights, _zero(weights)))
    loss = aten.sum.default(losses)
    return (aten.div.Tensor(loss, total) if reduction == 1 else loss), total


def _sizes(x: Any) -> list[Any]:
    return [x.size(d) for d in range(x.dim())]


def _bce_with_logits(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1) -> Any:
    small = aten.minimum.default(_zero(x), x)
    log_sigmoid = aten.sub.Tensor(small, aten.log1p.default(aten.exp.default(aten.neg.default(aten.abs.default(x)))))
    scaled = log_sigmoid
    if pos_weight is not None:
        more = aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(pos_weight, 1), target), 1)
        scaled = aten.mul.Tensor(more, log_sigmoid)
    other = aten.add.Tensor(aten.neg.default(target), 1)
    losses = aten.sub.Tensor(aten.mul.Tensor(other, x), scaled)
    if weight is not None:
        losses = aten.mul.Tensor(losses, weight)
    return _reduced(losses, reduction)


def _norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    return aten.linalg_vector_norm.default(x, 2 if p is None else p, dim or None, keepdim)


def _frobenius_norm(x: Any, dim: Any, keepdim: bool = False) -> Any:
    return aten.linalg_vector_norm.default(x, 2, dim or None, keepdim)


def _std_mean(x: Any, unbiased: bool = True) -> Any:
    var, mean = aten.var_mean.correction(x, None, correction=int(unbiased))
    return aten.sqrt.default(var), mean


def _std_mean_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    var, mean = aten.var_mean.correction(x, dim, correction=int(unbiased), keepdim=keepdim)
    return aten.sqrt.default(var), mean


def _logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    high = aten.amax.default(x, dim, True)
    infinite = aten.eq.Scalar(aten.abs.default(high), float("inf"))
    shift = aten.where.self(infinite, _zero(high), high)
    total = aten.log.default(aten.sum.dim_IntList(aten.exp.default(aten.sub.Tensor(x, shift)), dim, True))
    made = aten.add.Tensor(total, shift)
    for d in sorted((d % x.dim() for d in dim), reverse=True) if not keepdim else ():
        made = aten.squeeze.dim(made, d)
    return made


def _batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float) -> Any:
    if training or running_mean is None:
        return aten.native_batch_norm.default(x, weight, bias, running_mean, running_var, training, momentum, eps)
    return aten._native_batch_norm_legit_no_training.default(x, weight, bias, running_mean, running_var, momentum, eps)


def _like(x: Any, options: dict[str, Any]) -> dict[str, Any]:
    given = {k: v for k, v in options.items() if v is not None and k in ("dtype", "device")}
    return {"dtype": x.dtype, "device": x.device, **given}


def _new_full(x: Any, size: Any, value: Any, **options: Any) -> Any:
    return aten.full.default(size, value, **_like(x, options))


def table() -> dict[Any, Callable[..., Any]]:
    """The functions by the operators in whose places they stand."""
    return {
        aten.nll_loss_forward.default: _nll_loss,
        aten.nll_loss2d_forward.default: _nll_loss,
        aten.binary_cross_entropy_with_logits.default: _bce_with_logits,
        aten.norm.Scalar: _norm,
        aten.norm.ScalarOpt_dim: _norm,
        aten.frobenius_norm.dim: _frobenius_norm,
        aten.std_mean.default: _std_mean,
        aten.std_mean.dim: _std_mean_dim,
        aten.logsumexp.default: _logsumexp,
        aten.native_batch_norm.default: _batch_norm,
        aten.lift_fresh_copy.default: aten.clone.default,
        aten.clamp_min.default: lambda x, low: aten.clamp.default(x, low),
        aten.clamp_max.default: lambda x, high: aten.clamp.default(x, None, high),
        aten.new_full.default: _new_full,
        aten.new_zeros.default: lambda x, size, **options: _new_full(x, size, 0, **options),
        aten.new_ones.default: lambda x, size, **options: _new_full(x, size, 1, **options),
        aten.lerp.Scalar: lambda x, y, w: aten.add.Tensor(x, aten.mul.Tensor(aten.sub.Tensor(y, x), w)),
        aten.lerp.Tensor: lambda x, y, w: aten.add.Tensor(x, aten.mul.Tensor(aten.sub.Tensor(y, x), w)),
        aten.trace.default: lambda x: aten.sum.default(aten.diagonal.default(x)),
    }
