"""Kullback-Leibler divergences of distributions of different families, and of families that are rarely used."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions.bounded import ContinuousBernoulli
from torchjit.distributions.continuous import _EULER, Beta, Cauchy, Exponential, Gamma, Gumbel, Laplace, Normal, Uniform
from torchjit.distributions.discrete import Bernoulli, Binomial, Poisson
from torchjit.distributions.kl import register_kl
from torchjit.distributions.matrices import LowRankMultivariateNormal
from torchjit.distributions.transforms import Pareto
from torchjit.distributions.vectors import MultivariateNormal

_TWO_PI = 2 * math.pi

# Where one distribution has values that the other has not, with the parameter whose shape the result has.
_INFINITE = {
    Beta: ("concentration1", (Pareto,)), ContinuousBernoulli: ("probs", (Pareto,)), Exponential: ("rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gamma: ("concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gumbel: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Laplace: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Normal: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)), Pareto: ("scale", (Beta, ContinuousBernoulli, Uniform)),
    Poisson: ("rate", (Bernoulli, Binomial)),
}  # fmt: skip


def _infinite(parameter: str) -> Any:
    return lambda p, q: torch.full_like(getattr(p, parameter), math.inf)


for _left, (_parameter, _rights) in _INFINITE.items():
    for _right in _rights:
        register_kl(_left, _right)(_infinite(_parameter))


def _where_infinite(condition: Any, found: Any) -> Any:
    return torch.where(condition, math.inf, found)


def _x_log_x(x: Any) -> Any:
    return x * x.log()


def _second_moment(p: Any, q: Any) -> Any:
    """The mean of (x - q.loc)**2 / (2 q.scale**2) for x of p."""
    return (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.scale.pow(2))


def _to_normal(p: Any, q: Any) -> Any:
    return -p.entropy() + 0.5 * math.log(_TWO_PI) + q.scale.log() + _second_moment(p, q)


def _to_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


for _left in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_left, Normal)(_to_normal)
for _left in (Beta, ContinuousBernoulli, Gamma):
    register_kl(_left, Exponential)(_to_exponential)


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._log_norm()


register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)
register_kl(ContinuousBernoulli, ContinuousBernoulli)(_to_continuous_bernoulli)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    # PyTorch 1.13 says infinity for [0, 1] itself.
    return _where_infinite((p.high >= 1) | (p.low <= 0), _to_continuous_bernoulli(p, q))


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    # So here: only intervals around [0, 1] that do not touch it would have a finite divergence, and those have none in PyTorch 1.13.
    return _where_infinite((q.low >= 0) | (q.high <= 1), -p.entropy() + (q.high - q.low).log())


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    logarithm = torch.digamma(p.concentration1) - torch.digamma(total)
    return -p.entropy() + _gamma_norm(q) - (q.concentration - 1) * logarithm + q.rate * p.concentration1 / total


def _gamma_norm(q: Any) -> Any:
    return q.concentration.lgamma() - q.concentration * q.rate.log()


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    return _where_infinite((q.low > 0) | (q.high < 1), -p.entropy() + (q.high - q.low).log())


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -q.concentration * torch.log(ratio) + ratio + torch.lgamma(q.concentration) + q.concentration * _EULER - (1 + _EULER)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product, ratio = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - ratio + torch.exp(ratio) * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    a, product, ratio = p.concentration, p.rate * q.scale, q.loc / q.scale
    return (a - 1) * a.digamma() - a.lgamma() - a + product.log() + a / product + torch.exp(ratio) * (1 + product.reciprocal()).pow(-a) - ratio


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return -ratio.log() - distance + ratio * _EULER + torch.exp(distance + (1 + ratio).lgamma()) - (1 + _EULER)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    spread, distance = (p.scale / q.scale).pow(2), (p.loc - q.loc) / q.scale
    return -spread.log() * 0.5 + distance + torch.exp(-distance + 0.5 * spread) - 0.5 * (1 + math.log(_TWO_PI))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    distance = p.loc - q.loc
    relative = distance / p.scale
    mean = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * relative.pow(2)) + distance * torch.erf(math.sqrt(0.5) * relative)
    return -(p.scale / q.scale).log() + mean / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    return _where_infinite(p.scale < q.scale, q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1)


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    product = p.scale * q.rate
    found = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    return _where_infinite(p.alpha <= 1, found)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    logarithm = p.scale.log() + p.alpha.reciprocal()
    found = p.alpha.log() - logarithm + _gamma_norm(q) + (1 - q.concentration) * logarithm + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1
    return _where_infinite(p.alpha <= 1, found)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    part = p.scale / (p.alpha - 1)
    spread = p.alpha * part.pow(2) / (p.alpha - 2) + (p.alpha * part - q.loc).pow(2)
    found = (math.sqrt(_TWO_PI) * q.scale * p.alpha / p.scale).log() - p.alpha.reciprocal() + spread / (2 * q.scale.pow(2)) - 1
    return _where_infinite(p.alpha <= 2, found)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    width = p.high - p.low
    up = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    down = (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width
    norm = q.concentration1.lgamma() + q.concentration0.lgamma() - (q.concentration1 + q.concentration0).lgamma()
    found = (q.concentration0 - 1) * down + norm - width.log() - (q.concentration1 - 1) * up
    return _where_infinite((p.high > 1) | (p.low < 0), found)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _where_infinite(p.low < 0, q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log())


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    width = p.high - p.low
    logarithm = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    found = -width.log() + _gamma_norm(q) + (1 - q.concentration) * logarithm + q.rate * (p.high + p.low) / 2
    return _where_infinite(p.low < 0, found)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    part, high, low = q.scale / (p.high - p.low), (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return part.log() + 0.5 * (high + low) - part * (torch.exp(-high) - torch.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    width = p.high - p.low
    logarithm = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    found = logarithm * (q.alpha + 1) - (q.alpha * q.scale.pow(q.alpha) * width).log()
    return _where_infinite(p.low < q.scale, found)


def _normals(p: Any, q: Any) -> Any:
    """The divergence of normal distributions of vectors one of which has a covariance of low rank."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {'Low Rank ' if type(p) is type(q) else '(Low Rank) '}Multivariate Normals with"
            "                          different event shapes cannot be computed"
        )
    difference = (q.loc - p.loc).unsqueeze(-1)
    distance = (difference.mT @ q.precision_matrix @ difference).squeeze(-1).squeeze(-1)
    trace = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    half = [d.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) for d in (p, q)]
    return half[1] - half[0] + 0.5 * (trace + distance - p.event_shape[0])


for _i, _j in ((0, 0), (0, 1), (1, 0)):
    _pair = (LowRankMultivariateNormal, MultivariateNormal)
    register_kl(_pair[_i], _pair[_j])(_normals)
