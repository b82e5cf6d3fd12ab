"""Adam and its kin: steps by running means of gradients and of their squares."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit.optim.optimizer import Optimizer, are_numbers, check_betas, decayed, nonnegative


class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba); weight_decay is added to the gradient.

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    takes_sparse = False
    refusal_of_sparse: str | None = "Adam does not support sparse gradients, please consider SparseAdam instead"
    by_parts = True
    tensor_counts: tuple[str, ...] = ("step",)

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool = False,
    ) -> None:
        nonnegative(lr=lr, eps=eps)
        check_betas(betas)
        nonnegative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        if fused and differentiable:
            raise RuntimeError("`fused` cannot be `differentiable`")
        if fused:
            raise RuntimeError("FusedAdam requires all the params to be CUDA, floating point")

    def decay(self, p: Any, grad: Any, group: dict[str, Any]) -> tuple[Any, float]:
        """The gradient that counts, and what the parameter is multiplied by."""
        return decayed(p, grad, group), 1

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["capturable"]:
            raise AssertionError("If capturable=True, params and state_steps must be CUDA tensors.")
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = torch.zeros_like(p)
        state["step"] += 1
        grad, kept = self.decay(p, grad, group)
        beta1, beta2 = group["betas"]
        mean, square, step = state["exp_avg"], state["exp_avg_sq"], state["step"].item()
        root, rate = math.sqrt(1 - beta2**step), -(group["lr"] / (1 - beta1**step))
        if not group["amsgrad"] and are_numbers(group, "lr", "eps", "weight_decay") and _native.adam_step(
            p, grad, mean, square, kept, beta1, beta2, root, group["eps"], rate
        ):
            return
        if kept != 1:
            p.mul_(kept)
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            if torch.is_grad_enabled():
                state["max_exp_avg_sq"].copy_(torch.maximum(state["max_exp_avg_sq"], square))
            else:
                torch.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
            square = state["max_exp_avg_sq"]
        denominator = (square.sqrt() / root).add_(group["eps"])
        p.addcdiv_(mean, denominator, value=rate)


class AdamW(Adam):
    """Adam whose weight_decay shrinks the parameters themselves (Loshchilov and Hutter).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8990, -1.8980])
    """

    refusal_of_sparse: str | None = None

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
    ) -> None:
        nonnegative(lr=lr, eps=eps)
        check_betas(betas)
        nonnegative(weight_decay=weight_decay)
        Optimizer.__init__(self, params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "foreach": foreach,
            "maximize": maximize, "capturable": capturable,
        })  # fmt: skip

    def decay(self, p: Any, grad: Any, group: dict[str, Any]) -> tuple[Any, float]:
        return grad, 1 - group["lr"] * group["weight_decay"]


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8950, -1.8950])
    """

    takes_sparse = False
    tensor_counts: tuple[str, ...] = ("step", "mu_product")

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        foreach: bool | None = None,
    ) -> None:
        nonnegative(lr=lr, eps=eps)
        check_betas(betas)
        nonnegative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "foreach": foreach,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["mu_product"] = torch.tensor(0.0), torch.tensor(1.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        step = state["step"].item()
        beta1, beta2 = group["betas"]
        grad = decayed(p, grad, group)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.div(1 - beta2**step).sqrt().add_(group["eps"])
        p.addcdiv_(grad, denominator, value=-group["lr"] * (1.0 - mu) / (1.0 - product))
        p.addcdiv_(mean, denominator, value=-group["lr"] * following / (1.0 - product * mu * following))  # as PyTorch 1.13 has it


class RAdam(Optimizer):
    """Adam that waits until the variance of its steps is known (Liu and others).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    takes_sparse = False
    tensor_counts: tuple[str, ...] = ("step",)

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
    ) -> None:
        nonnegative(lr=lr, eps=eps)
        check_betas(betas)
        nonnegative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        step = state["step"].item()
        beta1, beta2 = group["betas"]
        grad = decayed(p, grad, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = mean / (1 - beta1**step)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * beta2**step / (1 - beta2**step)
        if length > 5.0:
            rectified = math.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
            adaptive = math.sqrt(1 - beta2**step) / square.sqrt().add_(group["eps"])
            p.add_(corrected * group["lr"] * adaptive * rectified, alpha=-1.0)
        else:
            p.add_(corrected * group["lr"], alpha=-1.0)
