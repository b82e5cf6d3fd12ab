"""torch.distributions: sampling, densities, entropies and divergences.

    d = Normal(torch.zeros(3), torch.ones(3))
    x = d.rsample((5,))
    d.log_prob(x).sum(-1)

Samples are those of PyTorch for the same seed. Gradients of Beta and Dirichlet samples go through gamma distributed ones.
"""

from torchjit.distributions import constraints, kl, transforms
from torchjit.distributions.constraint_registry import biject_to, transform_to
from torchjit.distributions.continuous import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    Gamma,
    Gumbel,
    Laplace,
    Normal,
    StudentT,
    Uniform,
)
from torchjit.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from torchjit.distributions.distribution import Distribution, Independent
from torchjit.distributions.kl import kl_divergence, register_kl
from torchjit.distributions.structured import *  # noqa: F403
from torchjit.distributions.transforms import *  # noqa: F403
from torchjit.distributions.transforms import (
    HalfCauchy,
    HalfNormal,
    LogNormal,
    MixtureSameFamily,
    Pareto,
    RelaxedBernoulli,
    TransformedDistribution,
    Weibull,
)
from torchjit.distributions.vectors import Dirichlet, MultivariateNormal

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential", "Gamma", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "Laplace", "LogNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "StudentT", "TransformedDistribution", "Uniform", "Weibull", "constraints",
    "kl", "kl_divergence", "register_kl", "transforms",
]  # fmt: skip
