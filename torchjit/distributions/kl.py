"""The Kullback-Leibler divergence of two distributions, for pairs of types for which it is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, Uniform
from torchjit.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from torchjit.distributions.distribution import Independent
from torchjit.distributions.transforms import HalfNormal, TransformedDistribution
from torchjit.distributions.vectors import Dirichlet, MultivariateNormal, _solved

_known: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator: the function gives the divergences of distributions of two types, and of their subclasses."""
    for name, t in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(t, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {t}")

    def keep(f: Any) -> Any:
        _known[type_p, type_q] = f
        return f

    return keep


def kl_divergence(p: Any, q: Any) -> Any:
    """KL(p || q), of the batch shape of both. Raises NotImplementedError for pairs of types that are not known.

    >>> from torchjit.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(torch.zeros(1), torch.ones(1)), Normal(torch.ones(1), torch.ones(1)))
    tensor([0.5000])
    """
    best = None
    for (left, right), f in _known.items():
        if isinstance(p, left) and isinstance(q, right):
            rank = type(p).__mro__.index(left) + type(q).__mro__.index(right)
            if best is None or rank < best[0]:
                best = rank, f
    if best is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return best[1](p, q)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    soft = torch.nn.functional.softplus
    return p.probs * (soft(-q.logits) - soft(-p.logits)) + (1 - p.probs) * (soft(q.logits) - soft(p.logits))


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    found = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return torch.where(p.total_count > q.total_count, math.inf, found)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t = torch.where((q.probs == 0).expand_as(t), math.inf, t)
    return torch.where((p.probs == 0).expand_as(t), 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    constant = torch.lgamma(q1) + torch.lgamma(q0) + torch.lgamma(p1 + p0) - torch.lgamma(p1) - torch.lgamma(p0) - torch.lgamma(q1 + q0)
    return constant + (p1 - q1) * torch.digamma(p1) + (p0 - q0) * torch.digamma(p0) + (q1 + q0 - p1 - p0) * torch.digamma(p1 + p0)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    constant = torch.lgamma(total) - torch.lgamma(b.sum(-1)) - (torch.lgamma(a) - torch.lgamma(b)).sum(-1)
    return constant + ((a - b) * (torch.digamma(a) - torch.digamma(total).unsqueeze(-1))).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with                          different event shapes cannot be computed")
    half = q._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) - p._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    stretched = torch.linalg.solve_triangular(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril, upper=False).pow(2).sum((-2, -1))
    return half + 0.5 * (stretched + _solved(q._unbroadcasted_scale_tril, q.loc - p.loc).pow(2).sum(-1) - p.event_shape[0])


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._sum(kl_divergence(p.base_dist, q.base_dist))
