"""Sparsity as a function of the epoch."""

from __future__ import annotations

import warnings
from typing import Any

from torchjit.ao.sparsity.scheduler.base_scheduler import BaseScheduler

__all__ = ["LambdaSL"]


class LambdaSL(BaseScheduler):
    """The first level times a function of the epoch, one for all groups or a list of them."""

    def __init__(self, sparsifier: Any, sl_lambda: Any, last_epoch: int = -1, verbose: bool = False) -> None:
        self.sparsifier = sparsifier
        several = isinstance(sl_lambda, (list, tuple))
        if several and len(sl_lambda) != len(sparsifier.groups):
            raise ValueError(f"Expected {len(sparsifier.groups)} lr_lambdas, but got {len(sl_lambda)}")
        self.sl_lambdas: list[Any] = list(sl_lambda) if several else [sl_lambda] * len(sparsifier.groups)
        super().__init__(sparsifier, last_epoch, verbose)

    def get_sl(self) -> list[float]:
        """The levels of this epoch."""
        if not self._get_sl_called_within_step:
            warnings.warn("To get the last sparsity level computed by the scheduler, please use `get_last_sl()`.", stacklevel=2)
        return [base * function(self.last_epoch) for function, base in zip(self.sl_lambdas, self.base_sl)]
