"""Stochastic gradient descent, also with momentum and with averages."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit.optim.optimizer import Optimizer, are_numbers, decayed, nonnegative, required


class SGD(Optimizer):
    """p -= lr * grad, where momentum keeps a running sum of gradients.

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = required,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
    ) -> None:
        nonnegative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        grad = decayed(p, grad, group)
        buffer = state.setdefault("momentum_buffer")
        if group["momentum"] != 0:
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            elif not group["nesterov"] and are_numbers(group, "momentum", "dampening", "lr") and _native.momentum_step(
                p, grad, buffer, group["momentum"], 1 - group["dampening"], -group["lr"]
            ):
                return
            else:
                buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        p.add_(grad, alpha=-group["lr"])


class ASGD(Optimizer):
    """Descent whose steps become shorter, with the average of the parameters in state["ax"] (Polyak and Juditsky).

    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.ASGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 0.8000, -1.6000])
    """

    takes_sparse = False
    tensor_counts: tuple[str, ...] = ("step", "eta", "mu")

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        nonnegative(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        })  # fmt: skip

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["eta"], state["mu"] = torch.tensor(0.0), torch.tensor(group["lr"]), torch.tensor(1.0)
            state["ax"] = torch.zeros_like(p)
        state["step"] += 1
        step, eta = state["step"].item(), state["eta"].item()
        grad = decayed(p, grad, group)
        p.mul_(1 - group["lambd"] * eta)
        p.add_(grad, alpha=-eta)
        if state["mu"].item() != 1:
            state["ax"].add_(p.sub(state["ax"]).mul(state["mu"]))
        else:
            state["ax"].copy_(p)
        state["eta"].copy_(torch.tensor(group["lr"] / ((1 + group["lambd"] * group["lr"] * step) ** group["alpha"])))
        state["mu"].copy_(torch.tensor(1 / max(1, step - group["t0"])))
