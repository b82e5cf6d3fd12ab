"""Transforms that have an inverse and know how they stretch, and distributions of transformed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.continuous import _EULER, Cauchy, Exponential, Normal
from torchjit.distributions.distribution import Distribution, Independent, broadcast_all
from torchjit.nn.functional import softplus


class Transform:
    """y = t(x), x = t.inv(y), and log_abs_det_jacobian(x, y), the logarithm of how t stretches at x.

    `event_dim` dimensions on the right are transformed together.
    """

    bijective = True
    event_dim = 0

    def __call__(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    @property
    def sign(self) -> Any:
        """1 where it grows, -1 where it falls."""
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute determinant of the derivative at x, where y = self(x)."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = object.__hash__


class _Inverse(Transform):
    def __init__(self, of: Transform) -> None:
        self._of = of
        self.bijective, self.event_dim = of.bijective, of.event_dim

    def __call__(self, x: Any) -> Any:
        return self._of._inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._of(y)

    @property
    def inv(self) -> Transform:
        return self._of

    @property
    def sign(self) -> Any:
        return self._of.sign

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._of.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"


class ComposeTransform(Transform):
    """Several transforms one after the other."""

    def __init__(self, parts: Sequence[Transform]) -> None:
        self.parts = list(parts)
        self.event_dim = max((p.event_dim for p in self.parts), default=0)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    @property
    def sign(self) -> Any:
        return math.prod(p.sign for p in self.parts)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total: Any = torch.zeros_like(x) if not self.parts else 0
        for part in self.parts:
            y = part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, y), self.event_dim - part.event_dim)
            x = y
        return total

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _sum_rightmost(x: Any, dims: int) -> Any:
    return x.flatten(-dims).sum(-1) if dims > 0 else x


class AffineTransform(Transform):
    """loc + scale * x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def __call__(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    @property
    def sign(self) -> Any:
        return self.scale.sign() if isinstance(self.scale, torch.Tensor) else (self.scale > 0) - (self.scale < 0)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale = self.scale
        stretch = torch.abs(scale).log() if isinstance(scale, torch.Tensor) else torch.full_like(x, math.log(abs(scale)))
        return _sum_rightmost(stretch.expand(x.shape), self.event_dim)


class ExpTransform(Transform):
    """exp(x)."""

    sign = 1

    def __call__(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x to a power."""

    sign = 1

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        (self.exponent,) = broadcast_all(exponent)

    def __call__(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    sign = 1

    def __call__(self, x: Any) -> Any:
        limits = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """tanh(x)."""

    sign = 1

    def __call__(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    sign = 1

    def __call__(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class AbsTransform(Transform):
    """abs(x); its inverse is x itself."""

    bijective = False

    def __call__(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class SoftmaxTransform(Transform):
    """Probabilities of their logarithms; its inverse takes logarithms."""

    bijective = False
    event_dim = 1

    def __call__(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


identity_transform = ComposeTransform([])


class TransformedDistribution(Distribution):
    """The distribution of transformed values of another one."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        own = len(base_distribution.event_shape)
        if whole.event_dim > own:
            base_distribution = Independent(base_distribution, whole.event_dim - own)
        self.base_dist = base_distribution
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = type(self).__new__(type(self))
        made.transforms, made.base_dist = self.transforms, self.base_dist.expand(batch_shape)
        Distribution.__init__(made, batch_shape, self.event_shape, validate_args=False)
        return made

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        events, total, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t._inverse(y)
            total = total - _sum_rightmost(t.log_abs_det_jacobian(x, y), events - t.event_dim)
            y = x
        return total + self.base_dist.log_prob(y)

    def _sign(self) -> Any:
        """The sign of the transforms, by which a distribution function turns round."""
        return math.prod(t.sign for t in self.transforms)

    def cdf(self, value: Any) -> Any:
        sign = self._sign()
        for t in reversed(self.transforms):
            value = t._inverse(value)
        value = self.base_dist.cdf(value)
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def icdf(self, value: Any) -> Any:
        sign = self._sign()
        if not (isinstance(sign, int) and sign == 1):
            value = sign * (value - 0.5) + 0.5
        return self._forward(self.base_dist.icdf(value))

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class LogNormal(TransformedDistribution):
    """The exponential of a normal distribution."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        return (self.scale.pow(2).exp() - 1) * (2 * self.loc + self.scale.pow(2)).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """The absolute value of a distribution around zero."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal distribution."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy distribution."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


class Weibull(TransformedDistribution):
    """The Weibull distribution."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args)
        powers = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)]
        super().__init__(base, powers, validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self) -> Any:
        c = self.concentration
        return self.scale * ((c - 1) / c) ** c.reciprocal()

    @property
    def variance(self) -> Any:
        one = self.concentration.reciprocal()
        return self.scale.pow(2) * (torch.exp(torch.lgamma(1 + 2 * one)) - torch.exp(2 * torch.lgamma(1 + one)))

    def entropy(self) -> Any:
        return _EULER * (1 - self.concentration.reciprocal()) + torch.log(self.scale * self.concentration.reciprocal()) + 1


class Pareto(TransformedDistribution):
    """The Pareto distribution above scale."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args), [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.greater_than(self.scale)

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class MixtureSameFamily(Distribution):
    """Values of one of several distributions, chosen by a Categorical: they are along the last batch dimension of the other one."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None) -> None:
        from torchjit.distributions.discrete import Categorical

        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if mixture_distribution.logits.shape[-1] != component_distribution.batch_shape[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({mixture_distribution.logits.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({component_distribution.batch_shape[-1]})"
            )
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._events = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = torch.Size(batch_shape)
        parts = self._component_distribution
        return MixtureSameFamily(self._mixture_distribution.expand(shape), parts.expand(shape + parts.batch_shape[-1:]), validate_args=False)

    @property
    def mixture_distribution(self) -> Any:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        return self._component_distribution

    def _weights(self) -> Any:
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._events)

    @property
    def mean(self) -> Any:
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._events)

    @property
    def variance(self) -> Any:
        parts, weights, dim = self._component_distribution, self._weights(), -1 - self._events
        return (weights * parts.variance).sum(dim) + (weights * (parts.mean - self.mean.unsqueeze(dim)).pow(2)).sum(dim)

    def cdf(self, x: Any) -> Any:
        return (self._component_distribution.cdf(x.unsqueeze(-1)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        x = x.unsqueeze(-1 - self._events)
        logits = torch.log_softmax(self._mixture_distribution.logits, -1)
        return torch.logsumexp(self._component_distribution.log_prob(x) + logits, -1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            shape = torch.Size(sample_shape)
            dim = len(shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(shape)
            drawn = self._component_distribution.sample(shape)
            chosen = chosen.reshape(chosen.shape + (1,) * (self._events + 1))
            chosen = chosen.expand(chosen.shape[: dim + 1] + self.event_shape)
            return torch.gather(drawn, dim, chosen).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that go to those of a Bernoulli as the temperature goes to 0, with gradients."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(_LogitRelaxed(temperature, probs, logits), SigmoidTransform(), validate_args=False)

    @property
    def temperature(self) -> Any:
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        return self.base_dist.probs


class _LogitRelaxed(Distribution):
    """The logarithm of the odds of a RelaxedBernoulli."""

    arg_constraints = {"logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any, logits: Any) -> None:
        from torchjit.distributions.discrete import Bernoulli

        base = Bernoulli(probs, logits)
        self.temperature, self.probs, self.logits = temperature, base.probs, base.logits
        super().__init__(self.logits.size())

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.temperature, made.probs = self.temperature, self.probs.expand(shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        eps = torch.finfo(self.probs.dtype).eps
        probs = self.probs.expand(shape).clamp(min=eps, max=1 - eps)
        u = torch.rand(shape, dtype=probs.dtype).clamp(min=eps, max=1 - eps)
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return torch.as_tensor(self.temperature).log() + difference - 2 * difference.exp().log1p()


__all__ = [
    "AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "HalfCauchy", "HalfNormal", "LogNormal", "MixtureSameFamily", "Pareto",
    "PowerTransform", "RelaxedBernoulli", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "TanhTransform", "Transform",
    "TransformedDistribution", "Weibull", "identity_transform",
]  # fmt: skip
