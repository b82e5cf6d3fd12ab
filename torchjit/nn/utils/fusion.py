"""Batch norms that become part of the layer before them."""

from __future__ import annotations

import copy
from typing import Any

import torchjit as torch
from torchjit.nn.parameter import Parameter


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that computes what conv and then bn compute in eval mode.

    >>> conv, bn = nn.Conv2d(2, 3, 1).eval(), nn.BatchNorm2d(3).eval()
    >>> x = torch.rand(1, 2, 4, 4)
    >>> torch.allclose(nn.utils.fusion.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def _scale(bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, bias: Any, bn_rm: Any) -> tuple[Any, Any]:
    weight = torch.ones_like(bn_rm) if bn_w is None else bn_w
    shift = torch.zeros_like(bn_rm) if bn_b is None else bn_b
    factor = weight * torch.rsqrt(bn_rv + bn_eps)
    return factor, ((torch.zeros_like(bn_rm) if bias is None else bias) - bn_rm) * factor + shift


def fuse_conv_bn_weights(conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False) -> Any:
    """The weight and the bias of the fused convolution."""
    factor, bias = _scale(bn_rv, bn_eps, bn_w, bn_b, conv_b, bn_rm)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * factor.reshape(shape + [1] * (conv_w.dim() - 2))
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(bias.detach(), conv_w.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that computes what linear and then bn compute in eval mode.

    >>> linear, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
    >>> x = torch.rand(1, 2)
    >>> torch.allclose(nn.utils.fusion.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
    True
    """
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any) -> Any:
    """The weight and the bias of the fused linear layer."""
    factor, bias = _scale(bn_rv, bn_eps, bn_w, bn_b, linear_b, bn_rm)
    return Parameter((linear_w * factor.unsqueeze(-1)).detach(), linear_w.requires_grad), Parameter(bias.detach(), linear_w.requires_grad)
