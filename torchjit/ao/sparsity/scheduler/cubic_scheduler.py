"""Sparsity that grows quickly at first, as a polynomial of third degree (Zhu and Gupta)."""

from __future__ import annotations

import warnings
from typing import Any

from torchjit.ao.sparsity.scheduler.base_scheduler import BaseScheduler

__all__ = ["CubicSL"]


class CubicSL(BaseScheduler):
    """From init_sl at the epoch init_t to the level of the group, in total_t steps of delta_t epochs; with initially_zero there are no zeros before init_t."""

    def __init__(
        self, sparsifier: Any, init_sl: Any = 0.0, init_t: Any = 0, delta_t: Any = 10, total_t: Any = 100, initially_zero: Any = False, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        self.sparsifier = sparsifier
        self.init_sl: list[Any] = self._make_sure_a_list(init_sl)
        self.init_t: list[Any] = self._make_sure_a_list(init_t)
        self.delta_t: list[Any] = self._make_sure_a_list(delta_t)
        self.total_t: list[Any] = self._make_sure_a_list(total_t)
        self.initially_zero: list[Any] = self._make_sure_a_list(initially_zero)
        super().__init__(sparsifier, last_epoch, verbose)

    @staticmethod
    def sparsity_compute_fn(s_0: float, s_f: float, t: int, t_0: int, dt: int, n: int, initially_zero: bool = False) -> float:
        """The level at an epoch."""
        if initially_zero and t < t_0:
            return 0
        level = s_f + (s_0 - s_f) * (1.0 - (t - t_0) / (dt * n)) ** 3
        return max(s_0, min(s_f, level))

    def get_sl(self) -> list[float]:
        """The levels of this epoch."""
        if not self._get_sl_called_within_step:
            warnings.warn("To get the last sparsity level computed by the scheduler, please use `get_last_sl()`.", stacklevel=2)
        rows = zip(self.init_sl, self.base_sl, self.init_t, self.delta_t, self.total_t, self.initially_zero)
        return [self.sparsity_compute_fn(s_0, s_f, self.last_epoch, t_0, dt, n, zero) for s_0, s_f, t_0, dt, n, zero in rows]
