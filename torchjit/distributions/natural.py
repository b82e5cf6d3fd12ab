"""The natural parameters of exponential families, the logarithms of their normalizers, and the divergence that follows from both."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions.bounded import ContinuousBernoulli
from torchjit.distributions.continuous import Beta, Exponential, Gamma, Normal
from torchjit.distributions.discrete import Bernoulli, Poisson
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.distributions.kl import register_kl
from torchjit.distributions.matrices import Wishart
from torchjit.distributions.vectors import Dirichlet


def _continuous_bernoulli(d: Any, x: Any) -> Any:
    outside = (x <= d._lims[0] - 0.5) | (x > d._lims[1] - 0.5)
    cut = torch.where(outside, x, (d._lims[0] - 0.5) * torch.ones_like(x))
    exact = torch.log(torch.abs(torch.exp(cut) - 1)) - torch.log(torch.abs(cut))
    return torch.where(outside, exact, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)


def _wishart(d: Any, x: Any, y: Any) -> Any:
    p = d.event_shape[-1]
    half = y + (p + 1) / 2
    return half * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + torch.mvlgamma(half, p=p)


# Of each family the natural parameters and, as a function of them, the logarithm of the normalizer.
_FAMILIES: dict[type, tuple[Any, Any]] = {
    Bernoulli: (lambda d: (torch.logit(d.probs),), lambda d, x: torch.log1p(torch.exp(x))),
    Beta: (
        lambda d: (d.concentration1, d.concentration0),
        lambda d, x, y: torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y),
    ),
    ContinuousBernoulli: (lambda d: (torch.logit(d.probs),), _continuous_bernoulli),
    Dirichlet: (lambda d: (d.concentration,), lambda d, x: x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))),
    Exponential: (lambda d: (-d.rate,), lambda d, x: -torch.log(-x)),
    Gamma: (lambda d: (d.concentration - 1, -d.rate), lambda d, x, y: torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())),
    Normal: (
        lambda d: (d.loc / d.scale.pow(2), -0.5 * d.scale.pow(2).reciprocal()),
        lambda d, x, y: -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y),
    ),
    Poisson: (lambda d: (torch.log(d.rate),), lambda d, x: torch.exp(x)),
    Wishart: (lambda d: (-d.precision_matrix / 2, (d.df - d.event_shape[-1] - 1) / 2), _wishart),
}

for _family, (_parameters, _normalizer) in _FAMILIES.items():
    _family._natural_params = property(_parameters)  # type: ignore[attr-defined]
    _family._log_normalizer = _normalizer  # type: ignore[attr-defined]
    if _family not in (Poisson, Wishart):
        _family._mean_carrier_measure = 0  # type: ignore[attr-defined]


@register_kl(ExponentialFamily, ExponentialFamily)
def _families(p: Any, q: Any) -> Any:
    """The divergence of Bregman of the logarithms of the normalizers, for distributions of one type."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    ours = [x.detach().requires_grad_() for x in p._natural_params]
    theirs = q._natural_params
    log_norm = p._log_normalizer(*ours)
    gradients = torch.autograd.grad(log_norm.sum(), ours, create_graph=True)
    found = q._log_normalizer(*theirs) - log_norm
    for x, y, gradient in zip(ours, theirs, gradients, strict=True):
        terms = (y - x) * gradient
        found = found - terms.reshape(terms.shape[: terms.dim() - len(q.event_shape)] + (-1,)).sum(-1)
    return found


@register_kl(Wishart, Wishart)
def _wisharts(p: Any, q: Any) -> Any:
    dims = p.event_shape[-1]
    half_logs = [d.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) for d in (p, q)]
    trace = torch.cholesky_solve(p.covariance_matrix, q.scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
    return (
        q.df * (half_logs[1] - half_logs[0]) + p.df * (trace - dims) / 2
        + torch.mvlgamma(q.df / 2, p=dims) - torch.mvlgamma(p.df / 2, p=dims) + (p.df - q.df) / 2 * p._digamma()
    )  # fmt: skip
