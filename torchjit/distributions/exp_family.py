"""Distributions whose densities are exponentials of a product of parameters and statistics."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with the density exp(<t(x), natural parameters> - F(natural parameters) + k(x)).

    A subclass that has `_natural_params`, `_log_normalizer` (F) and `_mean_carrier_measure` (the mean of k) gets its entropy from them.

    >>> from torchjit.distributions import ExponentialFamily, Normal
    >>> isinstance(Normal(torch.zeros(1), torch.ones(1)), ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Any:
        """F less the product of the natural parameters with the gradient of F, which is the mean of the statistics, less the mean of k."""
        parameters = [p.detach().requires_grad_() for p in self._natural_params]
        f = self._log_normalizer(*parameters)
        found = f - self._mean_carrier_measure
        for p, mean in zip(parameters, torch.autograd.grad(f.sum(), parameters, create_graph=True), strict=True):
            found = found - (p * mean).reshape(self._batch_shape + (-1,)).sum(-1)
        return found
