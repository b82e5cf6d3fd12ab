"""Distributions over real numbers."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.distribution import Distribution, broadcast_all
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.distributions.vectors import Dirichlet

_EULER = 0.57721566490153286060


class _Univariate(Distribution):
    """A distribution of numbers whose parameters are broadcast, in the order of arg_constraints."""

    has_rsample: bool = True

    def __init__(self, *values: Any, validate_args: bool | None = None) -> None:
        for name, value in zip(self.arg_constraints, broadcast_all(*values), strict=True):
            setattr(self, name, value)
        super().__init__(value.size(), validate_args=validate_args)

    def _like(self) -> Any:
        return getattr(self, next(iter(self.arg_constraints)))

    def _uniform(self, sample_shape: Any) -> Any:
        like = self._like()
        return torch.rand(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device)


class _LocationScale(_Univariate):
    """A distribution around loc, which is its mean and its mode where nothing else is said."""

    loc: torch.Tensor
    scale: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"loc": constraints.real, "scale": constraints.positive}
    support: constraints.Constraint = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution with mean loc and standard deviation scale.

    >>> from torchjit.distributions import Normal
    >>> Normal(torch.tensor([0.0]), torch.tensor([1.0])).log_prob(torch.tensor([0.0]))
    tensor([-0.9189])
    """

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = torch.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Uniform(_Univariate):
    """The uniform distribution from low up to high.

    >>> from torchjit.distributions import Uniform
    >>> Uniform(torch.tensor([0.0]), torch.tensor([4.0])).mean
    tensor([2.])
    """

    high: torch.Tensor
    low: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {
        "low": constraints.dependent(is_discrete=False, event_dim=0),
        "high": constraints.dependent(is_discrete=False, event_dim=0),
    }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        super().__init__(low, high, validate_args=validate_args)
        if self._validate_args and not torch.lt(self.low, self.high).all():
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.low + self._uniform(sample_shape) * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return torch.log(self.high - self.low)


class Laplace(_LocationScale):
    """The double exponential distribution around loc.

    >>> from torchjit.distributions import Laplace
    >>> Laplace(torch.tensor([0.0]), torch.tensor([1.0])).cdf(torch.tensor([0.0]))
    tensor([0.5000])
    """

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = torch.finfo(self.loc.dtype).eps
        u = torch.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        d = value - self.loc
        return 0.5 - 0.5 * d.sign() * torch.expm1(-d.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        d = value - 0.5
        return self.loc - self.scale * d.sign() * torch.log1p(-2 * d.abs())

    def entropy(self) -> Any:
        return 1 + torch.log(2 * self.scale)


class Cauchy(_LocationScale):
    """The Cauchy distribution around loc.

    >>> from torchjit.distributions import Cauchy
    >>> Cauchy(torch.tensor([0.0]), torch.tensor([1.0])).log_prob(torch.tensor([0.0]))
    tensor([-1.1447])
    """

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def variance(self) -> Any:
        return torch.full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class Exponential(_Univariate, ExponentialFamily):
    """The exponential distribution with mean 1/rate.

    >>> from torchjit.distributions import Exponential
    >>> Exponential(torch.tensor([2.0])).cdf(torch.tensor([1.0]))
    tensor([0.8647])
    """

    rate: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"rate": constraints.positive}
    support: constraints.Constraint = constraints.nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(rate, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1 - torch.log(self.rate)


class Gamma(_Univariate, ExponentialFamily):
    """The gamma distribution with mean concentration/rate.

    >>> from torchjit.distributions import Gamma
    >>> Gamma(torch.tensor([2.0]), torch.tensor([4.0])).variance
    tensor([0.1250])
    """

    concentration: torch.Tensor
    rate: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"concentration": constraints.positive, "rate": constraints.positive}
    support: constraints.Constraint = constraints.nonnegative

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(concentration, rate, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Any) -> Any:
        value = torch.as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        a = self.concentration
        return torch.xlogy(a, self.rate) + torch.xlogy(a - 1, value) - self.rate * value - torch.lgamma(a)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)


class Chi2(Gamma):
    """The chi-squared distribution with df degrees of freedom.

    >>> from torchjit.distributions import Chi2
    >>> Chi2(torch.tensor([3.0])).mean
    tensor([3.])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self.df: torch.Tensor
        (self.df,) = broadcast_all(df)
        self.concentration: torch.Tensor = 0.5 * self.df
        self.rate: torch.Tensor = torch.full_like(self.df, 0.5)
        Distribution.__init__(self, self.df.size(), validate_args=validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.concentration, made.rate = self.concentration.expand(shape), self.rate.expand(shape)


class StudentT(_Univariate):
    """Student's distribution with df degrees of freedom.

    >>> from torchjit.distributions import StudentT
    >>> StudentT(torch.tensor([3.0])).variance
    tensor([3.])
    """

    df: torch.Tensor
    loc: torch.Tensor
    scale: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support: constraints.Constraint = constraints.real

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        super().__init__(df, loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return torch.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        known = self.scale.pow(2) * self.df / (self.df - 2)
        return torch.where(self.df > 2, known, torch.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x = torch.empty(shape, dtype=self.df.dtype, device=self.df.device).normal_()
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1))
        return -0.5 * (self.df + 1) * torch.log1p(y**2 / self.df) - z

    def entropy(self) -> Any:
        beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        turn = torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * turn + 0.5 * self.df.log() + beta


class Gumbel(_LocationScale):
    """The Gumbel distribution of extremes.

    >>> from torchjit.distributions import Gumbel
    >>> Gumbel(torch.tensor([0.0]), torch.tensor([1.0])).mean
    tensor([0.5772])
    """

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * _EULER

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        limits = torch.finfo(self.loc.dtype)
        u = torch.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).uniform_(limits.tiny, 1 - limits.eps)
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.exp(-torch.exp((self.loc - value) / self.scale))

    def icdf(self, value: Any) -> Any:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + _EULER)


class Beta(_Univariate, ExponentialFamily):
    """The beta distribution with mean concentration1 / (concentration1 + concentration0).

    >>> from torchjit.distributions import Beta
    >>> Beta(torch.tensor([2.0]), torch.tensor([3.0])).mean
    tensor([0.4000])
    """

    concentration0: torch.Tensor
    concentration1: torch.Tensor
    arg_constraints: dict[str, constraints.Constraint] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support: constraints.Constraint = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        super().__init__(concentration1, concentration0, validate_args=validate_args)

    @property
    def _total(self) -> Any:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Any:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Any:
        return Dirichlet(torch.stack([self.concentration1, self.concentration0], -1), validate_args=False).mode[..., 0]

    @property
    def variance(self) -> Any:
        return self.concentration1 * self.concentration0 / (self._total.pow(2) * (self._total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        both = torch.stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False).rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return torch.xlogy(a - 1, value) + torch.xlogy(b - 1, 1 - value) + torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        beta = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
        return beta - (a - 1) * torch.digamma(a) - (b - 1) * torch.digamma(b) + (a + b - 2) * torch.digamma(a + b)
