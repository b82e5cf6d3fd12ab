"""torch.optim.swa_utils: averages of the weights that a training passes through."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.nn import Module
from torchjit.optim.lr_scheduler import _LRScheduler

__all__ = ["AveragedModel", "SWALR", "update_bn"]


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that update_parameters has seen.

    avg_fn(averaged, current, number averaged) gives the new average; without one all count the same. use_buffers averages
    the buffers as well; without it they stay those of the copy.
    """

    def __init__(self, model: Module, device: Any = None, avg_fn: Any = None, use_buffers: bool = False) -> None:
        super().__init__()
        self.module: Module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn: Callable[..., Any] = avg_fn or (lambda averaged, current, n: averaged + (current - averaged) / (n + 1))
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _tensors(self, model: Module) -> list[Any]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model: Module) -> None:
        """Takes the parameters of the model into the average."""
        for average, current in zip(self._tensors(self.module), self._tensors(model), strict=False):
            value = current.detach().to(average.device)
            if self.n_averaged == 0:
                average.detach().copy_(value)
            else:
                average.detach().copy_(self.avg_fn(average.detach(), value, self.n_averaged.to(average.device)))
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader: Any, model: Module, device: Any = None) -> None:
    """Computes the running statistics of a model's batch normalizations anew, from one pass over the loader.

    The loader gives tensors, or lists and tuples whose first element is one.
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean = torch.zeros_like(module.running_mean)
            module.running_var = torch.ones_like(module.running_var)
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
        module.num_batches_tracked *= 0
    for batch in loader:
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(_LRScheduler):
    """Moves the learning rates to swa_lr over anneal_epochs steps ("cos" or "linear"), where they stay.

    swa_lr is one number or one for each group. Raises ValueError for another strategy or fewer than 0 steps.
    """

    def __init__(self, optimizer: Any, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1) -> None:
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, optimizer.param_groups has "
                f"{len(optimizer.param_groups)}"
            )
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_func: Callable[[float], float] = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: float, swa_lr: float, alpha: float) -> float:
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def _part(self, step: int) -> float:
        return self.anneal_func(max(0.0, min(1.0, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list[float]:
        """The learning rates of the next step."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning, stacklevel=2
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            first = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates
