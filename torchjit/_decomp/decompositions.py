"""What operators are in terms of simpler ones, for make_fx: chiefly gradients of activations, of losses and of layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit._decomp import add_decomposition

aten: Any = torch.ops.aten


def _in_type_of(made: Any, given: Any) -> Any:
    return made if made.dtype == given.dtype else made.to(given.dtype)


def _reduced(x: Any, reduction: int) -> Any:
    """The mean (1), the sum (2) or the elements themselves."""
    return x.mean() if reduction == 1 else x.sum() if reduction == 2 else x


def _share(x: Any, reduction: int) -> float:
    """What the gradient of each element of a mean is multiplied by."""
    return 1.0 / x.numel() if reduction == 1 else 1.0


# Gradients of activations.


@add_decomposition(aten.tanh_backward)
def tanh_backward(out_grad: Any, y: Any) -> Any:
    return out_grad * (1 - y * y).conj() if y.is_complex() else out_grad * (1 - y * y)


@add_decomposition(aten.sigmoid_backward)
def sigmoid_backward(out_grad: Any, y: Any) -> Any:
    factor = y * (1 - y)
    return out_grad * (factor.conj() if y.is_complex() else factor)


@add_decomposition(aten.softplus_backward)
def softplus_backward(out_grad: Any, x: Any, beta: float, threshold: float) -> Any:
    z = (x * beta).exp()
    return torch.where(x * beta > threshold, out_grad, out_grad * z / (z + 1.0))


@add_decomposition(aten.elu_backward)
def elu_backward(grad_output: Any, alpha: float, scale: float, input_scale: float, is_result: bool, self_or_result: Any) -> Any:
    negative = alpha * scale
    x = self_or_result
    below = (x + negative) * input_scale if is_result else negative * input_scale * (x * input_scale).exp()
    return torch.where(x <= 0, grad_output * below, grad_output * scale)


@add_decomposition(aten.hardsigmoid_backward)
def hardsigmoid_backward(grad_output: Any, self: Any) -> Any:
    return torch.where((self > -3.0) & (self < 3.0), grad_output * (1.0 / 6.0), torch.zeros_like(grad_output))


@add_decomposition(aten.hardtanh_backward)
def hardtanh_backward(grad_output: Any, self: Any, min_val: float, max_val: float) -> Any:
    return torch.where((self <= min_val) | (self >= max_val), torch.zeros_like(grad_output), grad_output)


@add_decomposition(aten.hardshrink_backward)
def hardshrink_backward(grad_out: Any, self: Any, lambd: float) -> Any:
    return torch.where((self >= -lambd) & (self <= lambd), torch.zeros_like(grad_out), grad_out)


@add_decomposition(aten.softshrink_backward)
def softshrink_backward(grad_output: Any, self: Any, lambd: float) -> Any:
    return torch.where((self >= -lambd) & (self <= lambd), torch.zeros_like(grad_output), grad_output)


@add_decomposition(aten.hardswish_backward)
def hardswish_backward(grad_output: Any, self: Any) -> Any:
    between = torch.where(self <= 3, grad_output * (self / 3 + 0.5), grad_output)
    return torch.where(self < -3, torch.zeros_like(grad_output), between)


@add_decomposition(aten.threshold_backward)
def threshold_backward(grad_output: Any, self: Any, threshold: float) -> Any:
    return torch.where(self <= threshold, torch.zeros_like(grad_output), grad_output)


@add_decomposition(aten.leaky_relu_backward)
def leaky_relu_backward(grad_output: Any, self: Any, negative_slope: float, self_is_result: bool) -> Any:
    return torch.where(self > 0, grad_output, grad_output * negative_slope)


@add_decomposition(aten.gelu_backward)
def gelu_backward(grad: Any, self: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        root, cubic = math.sqrt(2 / math.pi), 0.044715
        t = torch.tanh(root * (self + cubic * self * self * self))
        inner = root * (1 + 3 * cubic * self * self)
        return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * inner)
    share = 0.5 * (1 + torch.erf(self * math.sqrt(0.5)))
    return grad * (share + self * torch.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi)))


@add_decomposition(aten.mish_backward)
def mish_backward(grad_output: Any, input: Any) -> Any:
    t = torch.tanh(aten.softplus(input))
    return grad_output * (t + input * torch.sigmoid(input) * (1 - t * t))


@add_decomposition(aten.silu_backward)
def silu_backward(grad_output: Any, self: Any) -> Any:
    s = torch.sigmoid(self)
    return grad_output * s * (1 + self * (1 - s))


@add_decomposition(aten.prelu_backward)
def prelu_backward(grad_output: Any, self: Any, weight: Any) -> tuple[Any, Any]:
    shape = [1, weight.numel()] + [1] * (self.dim() - 2) if self.dim() > 1 and weight.numel() > 1 else [1] * self.dim()
    spread = weight.reshape(shape)
    of_input = torch.where(self > 0, grad_output, spread * grad_output)
    of_weight = torch.where(self > 0, torch.zeros_like(grad_output), self * grad_output)
    others = [d for d, size in enumerate(shape) if size == 1]
    return of_input, (of_weight.sum(others) if others else of_weight).reshape(weight.shape)


@add_decomposition(aten.rrelu_with_noise_backward)
def rrelu_with_noise_backward(grad_output: Any, self: Any, noise: Any, lower: float, upper: float, training: bool, self_is_result: bool) -> Any:
    if training and upper - lower > 1e-6:
        return grad_output * noise
    return leaky_relu_backward(grad_output, self, (lower + upper) / 2, self_is_result)


@add_decomposition(aten.log_sigmoid_backward)
def log_sigmoid_backward(grad_output: Any, self: Any, buffer: Any) -> Any:
    negative = self < 0
    z = torch.exp(-torch.abs(self))
    return grad_output * (negative.to(self.dtype) - torch.where(negative, 1.0, -1.0).to(self.dtype) * (z / (1 + z)))


@add_decomposition(aten.glu_backward)
def glu_backward(grad_output: Any, self: Any, dim: int) -> Any:
    half = self.size(dim) // 2
    a, b = self.narrow(dim, 0, half), self.narrow(dim, half, half)
    gate = torch.sigmoid(b)
    return torch.cat([gate * grad_output, (1.0 - gate) * gate * a * grad_output], dim)


@add_decomposition(aten.logit_backward)
def logit_backward(grad_output: Any, self: Any, eps: float | None = None) -> Any:
    low, high = (0.0, 1.0) if eps is None else (eps, 1.0 - eps)
    outside = torch.full_like(self, float("nan")) if eps is None else torch.zeros_like(self)
    return torch.where((self < low) | (self > high), outside, grad_output / (self * (1.0 - self)))


@add_decomposition(aten._softmax_backward_data)
def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    of = grad_output * output
    made = of - output * of.sum(dim, keepdim=True)
    return made if made.dtype == input_dtype else made.to(input_dtype)


@add_decomposition(aten._log_softmax_backward_data)
def _log_softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    made = grad_output - torch.exp(output) * grad_output.sum(dim, keepdim=True)
    return made if made.dtype == input_dtype else made.to(input_dtype)


# Softmax, dropout, embeddings, products.


@add_decomposition(aten._softmax)
def _softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    given = x
    x = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    powers = torch.exp(x - torch.amax(x, dim, keepdim=True)) if x.numel() else torch.exp(x)
    made = powers / powers.sum(dim, keepdim=True)
    return made if half_to_float else _in_type_of(made, given)


@add_decomposition(aten._log_softmax)
def _log_softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    given = x
    x = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    shifted = x - torch.amax(x, dim, keepdim=True) if x.numel() else x
    made = shifted - torch.log(torch.exp(shifted).sum(dim, keepdim=True))
    return made if half_to_float else _in_type_of(made, given)


@add_decomposition(aten.native_dropout)
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    if not train:
        return input, torch.ones_like(input, dtype=torch.bool)
    kept = torch.rand_like(input) > p
    return kept * input * (1.0 / (1.0 - p) if p < 1 else 0.0), kept


@add_decomposition(aten.native_dropout_backward)
def native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return grad_output * (mask.to(grad_output.dtype) * scale)


@add_decomposition(aten._fused_dropout)
def _fused_dropout_decomposition(input: Any, p: float, generator: Any = None) -> tuple[Any, Any]:
    kept = (torch.rand_like(input) < p).to(torch.uint8)
    return kept.to(input.dtype) * input * (1.0 / p), kept


@add_decomposition(aten.embedding)
def embedding(weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Any:
    assert weight.dim() == 2, "'weight' must be 2-D"
    found = weight.index_select(0, indices.reshape(-1))
    return found.view([*indices.shape, weight.size(1)])


@add_decomposition(aten.embedding_dense_backward)
def embedding_dense_backward(grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    places, rows = indices.reshape(-1), grad_output.reshape(-1, grad_output.size(-1))
    if scale_grad_by_freq:
        counts = torch.zeros(num_weights, dtype=grad_output.dtype).index_add(0, places, torch.ones_like(rows[:, 0]))
        rows = rows / counts.index_select(0, places).unsqueeze(1)
    rows = torch.where((places == padding_idx).unsqueeze(1), torch.zeros_like(rows), rows)
    return torch.zeros([num_weights, rows.size(1)], dtype=rows.dtype, device=rows.device).index_add(0, places, rows)


@add_decomposition(aten.addmm)
def addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = torch.mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (self if beta == 1 else self * beta)


@add_decomposition(aten._euclidean_dist)
def _euclidean_dist(x1: Any, x2: Any) -> Any:
    left = torch.cat([x1 * -2, x1.pow(2).sum(-1, keepdim=True), torch.ones_like(x1[..., :1])], -1)
    right = torch.cat([x2, torch.ones_like(x2[..., :1]), x2.pow(2).sum(-1, keepdim=True)], -1)
    return torch.matmul(left, right.mT).clamp_min(0).sqrt()


@add_decomposition(aten.xlogy.Tensor)
def xlogy(self: Any, other: Any) -> Any:
    made = torch.where(self == 0, torch.zeros_like(self * other), self * torch.log(other))
    return torch.where(torch.isnan(other), torch.full_like(made, float("nan")), made)


@add_decomposition([aten.detach, aten.lift, aten.lift_fresh])
def nop_decomposition(x: Any) -> Any:
    return aten.alias(x)


@add_decomposition(aten.is_same_size)
def is_same_size(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape)


@add_decomposition(aten.split_with_sizes)
def split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> list[Any]:
    parts, start = [], 0
    for size in split_sizes:
        parts.append(self.narrow(dim, start, size))
        start += size
    assert start == self.size(dim), f"split_with_sizes: the sizes {list(split_sizes)} do not add up to {self.size(dim)}"
    return parts


# Gradients of views.


@add_decomposition(aten.slice_backward)
def slice_backward(grad_output: Any, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Any:
    return torch.slice_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, start, end, step)


@add_decomposition(aten.select_backward)
def select_backward(grad_output: Any, input_sizes: Sequence[int], dim: int, index: int) -> Any:
    return torch.select_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, index)


@add_decomposition(aten.diagonal_backward)
def diagonal_backward(grad_output: Any, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Any:
    return torch.diagonal_scatter(grad_output.new_zeros(input_sizes), grad_output, offset, dim1, dim2)


# Losses.


@add_decomposition(aten.mse_loss_backward)
def mse_loss_backward(grad_output: Any, input: Any, target: Any, reduction: int) -> Any:
    return (input - target) * grad_output * (2.0 * _share(input, reduction))


@add_decomposition(aten.huber_loss_backward)
def huber_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    x = self - target
    return grad_output * x.clamp(-delta, delta) * _share(x, reduction)


@add_decomposition(aten.soft_margin_loss)
def soft_margin_loss(input: Any, target: Any, reduction: int = 1) -> Any:
    return _reduced(torch.log1p(torch.exp(-input * target)), reduction)


@add_decomposition(aten.soft_margin_loss_backward)
def soft_margin_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int) -> Any:
    return target * grad_output * (torch.sigmoid(target * self) - 1) * _share(self, reduction)


@add_decomposition(aten.binary_cross_entropy_backward)
def binary_cross_entropy_backward(grad_output: Any, self: Any, target: Any, weight: Any = None, reduction: int = 1) -> Any:
    made = grad_output * (self - target) / torch.clamp(self * (1 - self), min=1e-12)
    return (made if weight is None else made * weight) * _share(self, reduction)


def _nll_loss_backward(grad_output: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total_weight: Any) -> Any:
    channels = 0 if self.dim() < 2 else 1
    grad = grad_output / total_weight if reduction == 1 else grad_output
    at = target.unsqueeze(channels)
    counts = at != ignore_index
    chosen = torch.zeros_like(self).scatter(channels, torch.where(counts, at, torch.zeros_like(at)), -1.0)
    grad = grad.unsqueeze(channels) if self.dim() > grad.dim() > 0 else grad
    if weight is not None:
        shape = [1] * self.dim()
        shape[channels] = weight.numel()
        chosen = chosen * weight.reshape(shape)
    return chosen * torch.where(counts, grad, torch.zeros_like(grad))


@add_decomposition(aten.nll_loss_backward)
def nll_loss_backward(grad_output: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total_weight: Any) -> Any:
    return _nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)


@add_decomposition(aten.nll_loss2d_backward)
def nll_loss2d_backward(grad_output: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total_weight: Any) -> Any:
    return _nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)


# Normalizations.


@add_decomposition(aten.native_group_norm)
def native_group_norm(input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float) -> tuple[Any, Any, Any]:
    x = input.reshape(N, group, C // group, HxW)
    mean = x.mean([2, 3], keepdim=True)
    variance = ((x - mean) * (x - mean)).mean([2, 3], keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    out = ((x - mean) * rstd).reshape(input.shape)
    shape = [1, C] + [1] * (input.dim() - 2)
    out = out if weight is None else out * weight.reshape(shape)
    out = out if bias is None else out + bias.reshape(shape)
    return out, mean.reshape(N, group), rstd.reshape(N, group)


def _normalized_backward(grad: Any, x: Any, mean: Any, rstd: Any, dims: Sequence[int]) -> Any:
    """The gradient of (x - mean) * rstd, which are those of x over dimensions."""
    normal = (x - mean) * rstd
    return (grad - grad.mean(dims, keepdim=True) - normal * (grad * normal).mean(dims, keepdim=True)) * rstd


@add_decomposition(aten.native_group_norm_backward)
def native_group_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, gamma: Any, N: int, C: int, HxW: int, group: int, output_mask: Sequence[bool]
) -> tuple[Any, Any, Any]:
    shape = [N, group, C // group, HxW]
    x, grad = input.reshape(shape), grad_output.reshape(shape)
    mean, rstd = mean.reshape(N, group, 1, 1), rstd.reshape(N, group, 1, 1)
    weighted = grad if gamma is None else grad * gamma.reshape(1, group, C // group, 1)
    of_input = _normalized_backward(weighted, x, mean, rstd, [2, 3]).reshape(input.shape) if output_mask[0] else None
    of_weight = (grad * (x - mean) * rstd).sum([0, 3]).reshape(C) if output_mask[1] else None
    return of_input, of_weight, grad.sum([0, 3]).reshape(C) if output_mask[2] else None


@add_decomposition(aten.native_layer_norm_backward)
def native_layer_norm_backward(
    grad_out: Any, input: Any, normalized_shape: Sequence[int], mean: Any, rstd: Any, weight: Any, bias: Any, output_mask: Sequence[bool]
) -> tuple[Any, Any, Any]:
    first = input.dim() - len(normalized_shape)
    inner, outer = list(range(first, input.dim())), list(range(first))
    weighted = grad_out if weight is None else grad_out * weight
    of_input = _normalized_backward(weighted, input, mean, rstd, inner) if output_mask[0] else None
    of_weight = grad_out * (input - mean) * rstd if output_mask[1] and weight is not None else None
    of_bias = grad_out if output_mask[2] and bias is not None else None
    if outer:
        of_weight = None if of_weight is None else of_weight.sum(outer)
        of_bias = None if of_bias is None else of_bias.sum(outer)
    return of_input, of_weight, of_bias


@add_decomposition(aten.native_batch_norm_backward)
def native_batch_norm_backward(
    grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any, save_invstd: Any, train: bool, eps: float,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    shape = [1, input.size(1)] + [1] * (input.dim() - 2)
    others = [0, *range(2, input.dim())]
    mean = (save_mean if train else running_mean).reshape(shape)
    rstd = (save_invstd if train else torch.rsqrt(running_var + eps)).reshape(shape)
    weighted = grad_out if weight is None else grad_out * weight.reshape(shape)
    of_input = None
    if output_mask[0]:
        of_input = _normalized_backward(weighted, input, mean, rstd, others) if train else weighted * rstd
    of_weight = (grad_out * (input - mean) * rstd).sum(others) if output_mask[1] else None
    return of_input, of_weight, grad_out.sum(others) if output_mask[2] else None
