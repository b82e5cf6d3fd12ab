"""Distributions over intervals, angles and points of a simplex, and counts of failures."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.continuous import _EULER, Gamma, Normal, Uniform, _Univariate
from torchjit.distributions.discrete import Categorical, _Binary, _one_of
from torchjit.distributions.distribution import Distribution, broadcast_all, clamp_probs, lazy_property, probs_to_logits
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.distributions.structured import StickBreakingTransform
from torchjit.distributions.transforms import AffineTransform, ExpTransform, PowerTransform, TransformedDistribution


class ContinuousBernoulli(_Binary, ExponentialFamily):
    """Numbers between 0 and 1 with a density proportional to probs**x * (1 - probs)**(1 - x).

    Around 0.5, between lims, the formulas are Taylor series.

    >>> from torchjit.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(torch.tensor([0.3])).mean
    tensor([0.4302])
    """

    support: constraints.Constraint = constraints.unit_interval
    has_rsample: bool = True

    def __init__(self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if probs is not None:
            if self._validate_args and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs: torch.Tensor = clamp_probs(self.probs)
        self._lims = lims

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._lims = self._lims

    def _outside(self) -> Any:
        """Where the formulas hold."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        """The probabilities, those around 0.5 moved away from it."""
        return torch.where(self._outside(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _log_norm(self) -> Any:
        cut = self._cut()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        exact = torch.log((torch.log1p(-cut) - torch.log(cut)).abs()) - torch.where(cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = (self.probs - 0.5).pow(2)
        return torch.where(self._outside(), exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        cut = self._cut()
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        return torch.where(self._outside(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    @property
    def variance(self) -> Any:
        cut = self._cut()
        exact = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / (torch.log1p(-cut) - torch.log(cut)).pow(2)
        x = (self.probs - 0.5).pow(2)
        return torch.where(self._outside(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        cut = self._cut()
        exact = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = torch.where(self._outside(), exact, value)
        return torch.where(value <= 0.0, torch.zeros_like(value), torch.where(value >= 1.0, torch.ones_like(value), inside))

    def icdf(self, value: Any) -> Any:
        cut = self._cut()
        exact = (torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)) / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self._outside(), exact, value)

    def entropy(self) -> Any:
        none, one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (none - one) - self._log_norm() - none


class FisherSnedecor(_Univariate):
    """The distribution of the ratio of two chi-squared ones, each by its degrees of freedom df1 and df2.

    >>> from torchjit.distributions import FisherSnedecor
    >>> FisherSnedecor(torch.tensor([2.0]), torch.tensor([4.0])).mean
    tensor([2.])
    """

    df1: torch.Tensor
    df2: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"df1": constraints.positive, "df2": constraints.positive}
    support: constraints.Constraint = constraints.positive

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        super().__init__(df1, df2, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        df2 = torch.where(self.df2 <= 2, math.nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 <= 2, math.nan, mode)

    @property
    def variance(self) -> Any:
        df2 = torch.where(self.df2 <= 4, math.nan, self.df2)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x1, x2 = (Gamma(df * 0.5, df).rsample(sample_shape).view(shape) for df in (self.df1, self.df2))
        tiny = torch.finfo(x2.dtype).tiny
        x2.clamp_(min=tiny)
        return (x1 / x2).clamp_(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return constant + a * ratio.log() + (a - 1) * torch.log(value) - (a + b) * torch.log1p(ratio * value)


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1 with the distribution function 1 - (1 - x**concentration1)**concentration0.

    >>> from torchjit.distributions import Kumaraswamy
    >>> Kumaraswamy(torch.tensor([1.0]), torch.tensor([2.0])).mean
    tensor([0.3333])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support: constraints.Constraint = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration0: torch.Tensor
        self.concentration1: torch.Tensor
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1), validate_args)
        powers = [PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(self.concentration1.reciprocal())]
        super().__init__(base, powers, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return type(self)(self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape), validate_args=False)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        return b * torch.exp(torch.lgamma(1 + n / a) + torch.lgamma(b) - torch.lgamma(1 + n / a + b))

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = (b.reciprocal() * (-b).log1p() - (-b * a).log1p()).exp()
        return torch.where((b < 1) | (a < 1), math.nan, mode)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + _EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)


class LogisticNormal(TransformedDistribution):
    """Points of a simplex: normal ones of a dimension less, by stick breaking.

    >>> from torchjit.distributions import LogisticNormal
    >>> LogisticNormal(torch.zeros(2), torch.ones(2)).sample().sum()
    tensor(1.)
    """

    arg_constraints: dict[str, constraints.Constraint] = {"loc": constraints.real, "scale": constraints.positive}
    support: constraints.Constraint = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the normal distribution."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal distribution."""
        return self.base_dist.base_dist.scale


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a RelaxedOneHotCategorical."""

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: constraints.Constraint = constraints.real_vector
    has_rsample: bool = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.logits.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = type(self).__new__(type(self))
        made._categorical, made.temperature = self._categorical.expand(batch_shape), self.temperature
        Distribution.__init__(made, batch_shape, self.event_shape, validate_args=False)
        return made

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.logits.shape

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        count = self.event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        temperature = torch.as_tensor(self.temperature)
        log_scale = torch.full_like(temperature, float(count)).lgamma() + temperature.log() * (count - 1)
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of a simplex that go to the choices of a OneHotCategorical as the temperature goes to 0, with gradients.

    >>> from torchjit.distributions import RelaxedOneHotCategorical
    >>> RelaxedOneHotCategorical(torch.tensor([0.5]), torch.tensor([0.25, 0.75])).rsample().sum()
    tensor(1.)
    """

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: constraints.Constraint = constraints.simplex
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far the points are from choices."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        return self.base_dist.probs


class NegativeBinomial(Distribution):
    """The number of successes of probability probs before total_count failures.

    >>> from torchjit.distributions import NegativeBinomial
    >>> NegativeBinomial(3, torch.tensor([0.5])).mean
    tensor([3.])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support: constraints.Constraint = constraints.nonnegative_integer

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        name, value = ("probs", probs) if probs is not None else ("logits", logits)
        self.total_count: torch.Tensor
        self.total_count, value = broadcast_all(total_count, value)
        self.total_count = self.total_count.type_as(value)
        self.__dict__[name] = value
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def param_shape(self) -> Any:
        """The shape of probs or logits."""
        return (self.probs if "probs" in self.__dict__ else self.logits).size()

    @property
    def mean(self) -> Any:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def logits(self) -> Any:
        """The logarithm of the odds of a success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of a success."""
        return torch.sigmoid(self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            rates = Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)
            return torch.poisson(rates.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        soft = torch.nn.functional.logsigmoid
        unnormalized = self.total_count * soft(-self.logits) + value * soft(self.logits)
        norm = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        return unnormalized - torch.where(self.total_count + value == 0.0, torch.zeros_like(norm), norm)


class VonMises(_Univariate):
    """Angles around loc.

    >>> from torchjit.distributions import VonMises
    >>> VonMises(torch.tensor([1.0]), torch.tensor([2.0])).mean
    tensor([1.])
    """

    concentration: torch.Tensor
    loc: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"loc": constraints.real, "concentration": constraints.positive}
    support: constraints.Constraint = constraints.real
    has_rsample: bool = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, concentration, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """One minus the length of the mean direction."""
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)

    @lazy_property
    def _proposal_r(self) -> Any:
        """The shape of the wrapped Cauchy distribution that proposals are drawn from."""
        kappa = self.concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        # For small concentrations the formula loses all digits: its series.
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return _accepted(self.loc, self.concentration, self._proposal_r, torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        kappa = self.concentration
        return kappa * torch.cos(value - self.loc) - math.log(2 * math.pi) - (torch.special.i0e(kappa).log() + kappa)


def _accepted(loc: Any, concentration: Any, proposal_r: Any, x: Any) -> Any:
    """Angles, proposed and rejected until every one is accepted (Best and Fisher 1979)."""
    done = torch.zeros(x.shape, dtype=torch.bool, device=loc.device)
    while not done.all():
        u1, u2, u3 = torch.rand((3, *x.shape), dtype=loc.dtype, device=loc.device).unbind()
        z = torch.cos(math.pi * u1)
        f = (1 + proposal_r * z) / (proposal_r + z)
        c = concentration * (proposal_r - f)
        accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
        if accept.any():
            x = torch.where(accept, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accept
    return (x + math.pi + loc) % (2 * math.pi) - math.pi
