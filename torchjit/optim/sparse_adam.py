"""Adam for sparse gradients, of which there are none here."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.optim.optimizer import Optimizer, check_betas


class SparseAdam(Optimizer):
    """Adam that changes what a sparse gradient has elements for. Gradients are dense here, which its step refuses as PyTorch's does."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, maximize: bool = False
    ) -> None:
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")


def sparse_adam(
    params: list[torch.Tensor], grads: list[torch.Tensor], exp_avgs: list[torch.Tensor], exp_avg_sqs: list[torch.Tensor], state_steps: list[int],
    *, eps: float, beta1: float, beta2: float, lr: float, maximize: bool,
) -> None:  # fmt: skip
    """Raises RuntimeError: there are no sparse gradients."""
    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
