"""Optimizers that scale each element of a gradient by its history."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.optim.optimizer import Optimizer, at_places_of, check_betas, decayed, nonnegative, parameters_of


def _filled(p: Any, x: float) -> Any:
    return complex(x, x) if p.is_complex() else x


class RMSprop(Optimizer):
    """Gradients divided by the root of the running mean of their squares (Hinton).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    takes_sparse = False
    by_parts = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        nonnegative(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay)
        if not 0.0 <= alpha:
            raise ValueError(f"Invalid alpha value: {alpha}")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["square_avg"] = 0, torch.zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = torch.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = torch.zeros_like(p)
        state["step"] += 1
        alpha = group["alpha"]
        grad = decayed(p, grad, group)
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.mul_(alpha).add_(grad, alpha=1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root = root.add(group["eps"]) if torch.is_grad_enabled() else root.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            p.add_(buffer, alpha=-group["lr"])
        else:
            p.addcdiv_(grad, root, value=-group["lr"])


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares (Duchi and others).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    by_parts = True
    tensor_counts: tuple[str, ...] = ("step",)

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        nonnegative(lr=lr, weight_decay=weight_decay, eps=eps)
        for name, value in (("lr_decay", lr_decay), ("initial_accumulator_value", initial_accumulator_value)):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
        })  # fmt: skip
        for p in parameters_of(self.param_groups):
            self.state[p] = {"step": torch.tensor(0.0), "sum": torch.full_like(p, _filled(p, initial_accumulator_value)).detach()}

    def share_memory(self) -> None:
        """Kept for old programs; does nothing: memory is shared between threads."""

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1
        if grad.is_sparse:
            self._update_sparse(p, grad.coalesce(), state, group)
            return
        grad = decayed(p, grad, group)
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-rate)

    def _update_sparse(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """The step where the gradient has values alone."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        values = grad._values()
        state["sum"].add_(at_places_of(grad, values.pow(2)))
        root = state["sum"].sparse_mask(grad)._values().sqrt_().add_(group["eps"])
        p.add_(at_places_of(grad, values / root), alpha=-rate)


class Adadelta(Optimizer):
    """Steps in the units of the parameters, by running means of squares of gradients and steps (Zeiler).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adadelta([w])
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9968, -1.9968])
    """

    takes_sparse = False
    by_parts = True

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        nonnegative(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["square_avg"], state["acc_delta"] = 0, torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        rho, eps = group["rho"], group["eps"]
        grad = decayed(p, grad, group)
        state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = state["square_avg"].add(eps).sqrt_()
        delta = state["acc_delta"].add(eps).sqrt_().div_(root).mul_(grad)
        state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-group["lr"])


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the root mean square (Kingma and Ba).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    takes_sparse = False
    by_parts = True
    tensor_counts: tuple[str, ...] = ("step",)

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        nonnegative(lr=lr, eps=eps)
        check_betas(betas)
        nonnegative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_inf"] = torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        grad = decayed(p, grad, group)
        state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        torch.maximum(state["exp_inf"].mul_(beta2), grad.abs().add_(group["eps"]), out=state["exp_inf"])
        p.addcdiv_(state["exp_avg"], state["exp_inf"], value=-(group["lr"] / (1 - beta1 ** state["step"].item())))


class Rprop(Optimizer):
    """Steps by the signs of gradients, longer while these stay the same (Riedmiller and Braun).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.Rprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.9000, -1.9000])
    """

    takes_sparse = False
    by_parts = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        nonnegative(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["prev"] = 0, torch.zeros_like(p)
            state["step_size"] = torch.full_like(grad, group["lr"])
        state["step"] += 1
        less, more = group["etas"]
        sign = grad.mul(state["prev"]).sign()
        factor = torch.where(sign > 0, torch.full_like(sign, more), torch.where(sign < 0, torch.full_like(sign, less), torch.ones_like(sign)))
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(factor == less, 0)
        p.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
