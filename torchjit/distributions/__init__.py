"""torch.distributions: sampling, densities, entropies and divergences.

    d = Normal(torch.zeros(3), torch.ones(3))
    x = d.rsample((5,))
    d.log_prob(x).sum(-1)

Samples are those of PyTorch for the same seed. Gradients of Beta and Dirichlet samples go through gamma distributed ones.
"""

import math as _math
import numbers as _numbers
import sys as _sys

import torchjit as _torch
from torchjit.distributions import constraints, kl, structured, transforms
from torchjit.distributions import matrices as _matrices
from torchjit.distributions import vectors as _vectors
from torchjit.distributions.bounded import (
    ContinuousBernoulli,
    ExpRelaxedCategorical,
    FisherSnedecor,
    Kumaraswamy,
    LogisticNormal,
    NegativeBinomial,
    RelaxedOneHotCategorical,
    VonMises,
)
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
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.distributions.kl import kl_divergence, register_kl
from torchjit.distributions.matrices import LKJCholesky, LowRankMultivariateNormal, Wishart
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
    "ContinuousBernoulli", "FisherSnedecor", "Kumaraswamy", "LKJCholesky", "LogisticNormal", "LowRankMultivariateNormal", "NegativeBinomial",
    "RelaxedOneHotCategorical", "VonMises", "Wishart",
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "Gamma", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "Laplace", "LogNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "StudentT", "TransformedDistribution", "Uniform", "Weibull", "constraints",
    "kl", "kl_divergence", "register_kl", "transforms",
]  # fmt: skip

from torchjit._submodules import provide as _provide  # isort: skip
from torchjit.distributions import kl_pairs as _kl_pairs  # noqa: F401
from torchjit.distributions import natural as _natural
from torchjit.distributions import structured as _structured
from torchjit.distributions import transforms as _transforms
from torchjit.distributions import utils as utils
from torchjit.distributions.transforms import LogitRelaxedBernoulli  # noqa: F401

# PyTorch has all transforms in one module.
for _name in _structured.__all__:
    setattr(_transforms, _name, getattr(_structured, _name))
    _transforms.__all__.append(_name)

# Modules of PyTorch whose classes stand with their kin here.
_MODULES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "binomial": "Binomial", "categorical": "Categorical", "cauchy": "Cauchy", "chi2": "Chi2",
    "continuous_bernoulli": "ContinuousBernoulli", "dirichlet": "Dirichlet", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma", "geometric": "Geometric", "gumbel": "Gumbel", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal",
    "independent": "Independent", "kumaraswamy": "Kumaraswamy", "laplace": "Laplace", "lkj_cholesky": "LKJCholesky", "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal", "lowrank_multivariate_normal": "LowRankMultivariateNormal", "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial", "multivariate_normal": "MultivariateNormal", "negative_binomial": "NegativeBinomial", "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough", "pareto": "Pareto", "poisson": "Poisson",
    "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli", "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    "studentT": "StudentT", "transformed_distribution": "TransformedDistribution", "uniform": "Uniform",
    "von_mises": "VonMises", "weibull": "Weibull",
    "wishart": "Wishart",
}  # fmt: skip

_provide(__name__, _MODULES)
_sys.modules[__name__ + ".dirichlet"].__dict__.update(_Dirichlet=_vectors._Dirichlet, _Dirichlet_backward=_vectors._Dirichlet_backward)
_sys.modules[__name__ + ".kl"].__dict__["_kl_expfamily_expfamily"] = _natural._families

# Libraries take from these modules what PyTorch's import, too.
_FOUND = {
    "torch": _torch, "math": _math, "nan": _math.nan, "inf": _math.inf, "Number": _numbers.Number, "Real": _numbers.Real, "constraints": constraints,
    "euler_constant": utils.euler_constant, "_sum_rightmost": utils._sum_rightmost, "_standard_normal": utils._standard_normal,
    "binary_cross_entropy_with_logits": _torch.nn.functional.binary_cross_entropy_with_logits,
    **{name: getattr(utils, name) for name in ("broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits")},
    **{name: getattr(_vectors, name) for name in ("_batch_mahalanobis", "_batch_mv", "_precision_to_scale_tril")},
    **{name: getattr(_matrices, name) for name in ("_batch_capacitance_tril", "_batch_lowrank_logdet", "_batch_lowrank_mahalanobis")},
    **{name: globals()[name] for name in __all__ if isinstance(globals()[name], type)},
    **{name: getattr(_transforms, name) for name in _transforms.__all__ if name.endswith("Transform")},
}  # fmt: skip
for _name, _classes in _MODULES.items():
    _module = _sys.modules[f"{__name__}.{_name}"]
    _module.__all__ = _classes.split()  # type: ignore[attr-defined]
    for _class in _module.__all__:
        getattr(_module, _class).__module__ = _module.__name__
    for _key, _value in _FOUND.items():
        _module.__dict__.setdefault(_key, _value)
for _key, _value in _FOUND.items():
    kl.__dict__.setdefault(_key, _value)
