"""Adam for sparse gradients."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.optim.optimizer import Optimizer, at_places_of, check_betas


class SparseAdam(Optimizer):
    """Adam that changes running means and parameters only where a sparse gradient has values.

    Raises ValueError for sparse parameters, and its step RuntimeError for a dense gradient.

    >>> w = torch.ones(3, 2, requires_grad=True)
    >>> optimizer = torch.optim.SparseAdam([w], lr=0.1)
    >>> F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([[1.0000, 1.0000],
            [0.9000, 0.9000],
            [1.0000, 1.0000]])
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, maximize: bool = False
    ) -> None:
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        params = list(params)
        _refuse_sparse(params)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        if not state:
            state["step"], state["exp_avg"], state["exp_avg_sq"] = 0, torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        _step(p, grad, state["exp_avg"], state["exp_avg_sq"], state["step"], group["eps"], group["betas"], group["lr"])


def _refuse_sparse(params: list[Any]) -> None:
    found = []
    for i, group in enumerate(params):
        if not isinstance(group, dict):
            if group.is_sparse:
                found.append(i)
            continue
        group["params"] = [group["params"]] if isinstance(group["params"], torch.Tensor) else list(group["params"])
        found += [[i, j] for j, p in enumerate(group["params"]) if p.is_sparse]  # type: ignore[misc]
    if found:
        raise ValueError(f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors")


def _step(p: Any, grad: Any, mean: Any, square: Any, step: int, eps: float, betas: tuple[float, float], lr: float) -> None:
    grad = grad.coalesce()
    values = grad._values()
    if values.numel() == 0:
        return
    beta1, beta2 = betas
    old_mean, old_square = mean.sparse_mask(grad)._values(), square.sparse_mask(grad)._values()
    mean_step = values.sub(old_mean).mul_(1 - beta1)
    square_step = values.pow(2).sub_(old_square).mul_(1 - beta2)
    mean.add_(at_places_of(grad, mean_step))
    square.add_(at_places_of(grad, square_step))
    root = (square_step + old_square).sqrt_().add_(eps)
    rate = lr * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    p.add_(at_places_of(grad, (mean_step + old_mean).div_(root).mul_(-rate)))


def sparse_adam(
    params: list[torch.Tensor], grads: list[torch.Tensor], exp_avgs: list[torch.Tensor], exp_avg_sqs: list[torch.Tensor], state_steps: list[int],
    *, eps: float, beta1: float, beta2: float, lr: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of SparseAdam for parameters with sparse gradients, whose numbers state_steps are."""
    for p, grad, mean, square, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
        _step(p, -grad if maximize else grad, mean, square, step, eps, (beta1, beta2), lr)
