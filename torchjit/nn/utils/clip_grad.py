"""Limits of gradients."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
from torchjit import Tensor


def _gradients(parameters: Any) -> list[Tensor]:
    return [p.grad for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """Scales the gradients, as one vector, to a norm of at most max_norm. Returns what the norm was.

    >>> w = torch.zeros(2, requires_grad=True)
    >>> (w * torch.tensor([3.0, 4.0])).sum().backward()
    >>> nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    grads = _gradients(parameters)
    max_norm, norm_type = float(max_norm), float(norm_type)
    if not grads:
        return torch.tensor(0.0)
    with torch.no_grad():
        if norm_type == float("inf"):
            norms = [g.detach().abs().max() for g in grads]
            total = norms[0] if len(norms) == 1 else torch.max(torch.stack(norms))
        else:
            total = torch.norm(torch.stack([torch.norm(g.detach(), norm_type) for g in grads]), norm_type)
        if error_if_nonfinite and bool(torch.logical_or(total.isnan(), total.isinf())):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
                "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
            )
        factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        for g in grads:
            g.detach().mul_(factor)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The old name of clip_grad_norm_."""
    warnings.warn("torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.", stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Limits every element of the gradients to clip_value on both sides.

    >>> w = torch.zeros(2, requires_grad=True)
    >>> (w * torch.tensor([3.0, -4.0])).sum().backward()
    >>> nn.utils.clip_grad_value_([w], 3.5)
    >>> w.grad
    tensor([ 3.0000, -3.5000])
    """
    with torch.no_grad():
        for g in _gradients(parameters):
            g.clamp_(min=-float(clip_value), max=float(clip_value))
