"""Transforms that have an inverse and know how they stretch, and distributions of transformed values."""

from __future__ import annotations

import copy
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

    @property
    def bijective(self) -> bool:
        """Whether each value of codomain is that of one value."""
        return False

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: Any = (None, None)
        super().__init__()  # of a class beside this one, such as Module

    @property
    def domain(self) -> constraints.Constraint:
        """What it takes."""
        return constraints.real

    @property
    def codomain(self) -> constraints.Constraint:
        """What it gives."""
        return constraints.real

    @property
    def event_dim(self) -> int:
        """How many dimensions on the right are transformed together, where their number stays the same."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The transform that remembers its last value and result, or does not."""
        made = copy.copy(self)
        made._cache_size, made._cached_x_y = cache_size, (None, None)
        return made

    def __call__(self, x: Any) -> Any:
        if not getattr(self, "_cache_size", 0):
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y: Any) -> Any:
        if not getattr(self, "_cache_size", 0):
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _InverseTransform(self)

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
        return type(self) is type(other) and _settings(self) == _settings(other)

    def __hash__(self) -> int:
        return object.__hash__(self)


def _settings(t: Transform) -> dict[str, Any]:
    return {k: v.tolist() if isinstance(v, torch.Tensor) else v for k, v in t.__dict__.items() if not k.startswith("_cache")}


class _InverseTransform(Transform):
    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._of = of

    @property
    def bijective(self) -> bool:
        return self._of.bijective

    @property
    def domain(self) -> constraints.Constraint:
        return self._of.codomain

    @property
    def codomain(self) -> constraints.Constraint:
        return self._of.domain

    def _call(self, x: Any) -> Any:
        return self._of._inv_call(x)

    def forward_shape(self, shape: Any) -> Any:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._of.forward_shape(shape)

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

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts: list[Transform] = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dim = max(dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, dim)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        dim = self.parts[0].domain.event_dim
        for part in self.parts:
            dim = max(dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, dim)

    @property
    def bijective(self) -> bool:
        return all(p.bijective for p in self.parts)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    @property
    def sign(self) -> Any:
        return math.prod(p.sign for p in self.parts)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total: Any = torch.zeros_like(x) if not self.parts else 0
        dim = self.domain.event_dim
        for i, part in enumerate(self.parts):
            between = y if i == len(self.parts) - 1 else part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, between), dim - part.domain.event_dim)
            dim += part.codomain.event_dim - part.domain.event_dim
            x = between
        return total

    @property
    def inv(self) -> Transform:
        """The inverses, in the opposite order."""
        return ComposeTransform([p.inv for p in reversed(self.parts)])

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _widened(constraint: Any, dim: int) -> Any:
    """The constraint for arrays of a number of dimensions."""
    return constraints.independent(constraint, dim - constraint.event_dim) if dim > constraint.event_dim else constraint


def _sum_rightmost(x: Any, dims: int) -> Any:
    return x.flatten(-dims).sum(-1) if dims > 0 else x


class AffineTransform(Transform):
    """loc + scale * x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    bijective: bool = True
    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> constraints.Constraint:
        return _widened(constraints.real, self._event_dim)

    @property
    def codomain(self) -> constraints.Constraint:
        return _widened(constraints.real, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape

    def _call(self, x: Any) -> Any:
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

    bijective: bool = True
    codomain: constraints.Constraint = constraints.positive

    sign: int = 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x to a power."""

    bijective: bool = True
    domain: constraints.Constraint = constraints.positive
    codomain: constraints.Constraint = constraints.positive

    sign: int = 1

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent: torch.Tensor
        (self.exponent,) = broadcast_all(exponent)

    def forward_shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    bijective: bool = True
    codomain: constraints.Constraint = constraints.unit_interval

    sign: int = 1

    def _call(self, x: Any) -> Any:
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

    bijective: bool = True
    codomain: constraints.Constraint = constraints.interval(-1.0, 1.0)

    sign: int = 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    bijective: bool = True
    codomain: constraints.Constraint = constraints.positive

    sign: int = 1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class AbsTransform(Transform):
    """abs(x); its inverse is x itself."""

    codomain: constraints.Constraint = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class SoftmaxTransform(Transform):
    """Probabilities of their logarithms; its inverse takes logarithms."""

    domain: constraints.Constraint = constraints.real_vector
    codomain: constraints.Constraint = constraints.simplex

    def _call(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


identity_transform: ComposeTransform = ComposeTransform([])


class TransformedDistribution(Distribution):
    """The distribution of transformed values of another one.

    >>> from torchjit.distributions import Normal, TransformedDistribution, transforms
    >>> TransformedDistribution(Normal(torch.zeros(1), torch.ones(1)), [transforms.ExpTransform()]).log_prob(torch.ones(1))
    tensor([-0.9189])
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms: list[Transform] = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(transforms, (Transform, list)):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        whole = ComposeTransform(self.transforms)
        base, shape = base_distribution, base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError(f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}.")
        reached = whole.forward_shape(shape)
        if (needed := whole.inverse_shape(reached)) != shape:
            base = base.expand(needed[: len(needed) - len(base.event_shape)])
        if (more := whole.domain.event_dim - len(base.event_shape)) > 0:
            base = Independent(base, more)
        self.base_dist = base
        cut = len(reached) - whole.codomain.event_dim - max(len(base.event_shape) - whole.domain.event_dim, 0)
        super().__init__(reached[:cut], reached[cut:], validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """What the last transform gives."""
        return _widened(self.transforms[-1].codomain, len(self.event_shape)) if self.transforms else self.base_dist.support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = type(self).__new__(type(self)) if _instance is None else _instance
        shape = ComposeTransform(self.transforms).inverse_shape(torch.Size(batch_shape) + self.event_shape)
        made.transforms, made.base_dist = self.transforms, self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        for name in self.arg_constraints:
            if name in self.__dict__:
                made.__dict__[name] = getattr(self, name).expand(batch_shape)
        Distribution.__init__(made, batch_shape, self.event_shape, validate_args=False)
        made._validate_args = self._validate_args
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
            x = t.inv(y)
            events += t.domain.event_dim - t.codomain.event_dim
            total = total - _sum_rightmost(t.log_abs_det_jacobian(x, y), events - t.domain.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        """The sign of the transforms, by which a distribution function turns round."""
        return math.prod(t.sign for t in self.transforms)

    def cdf(self, value: Any) -> Any:
        sign = self._sign()
        for t in reversed(self.transforms):
            value = t._inv_call(value)
        value = self.base_dist.cdf(value)
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def icdf(self, value: Any) -> Any:
        sign = self._sign()
        if not (isinstance(sign, int) and sign == 1):
            value = sign * (value - 0.5) + 0.5
        return self._forward(self.base_dist.icdf(value))


class LogNormal(TransformedDistribution):
    """The exponential of a normal distribution.

    >>> from torchjit.distributions import LogNormal
    >>> LogNormal(torch.tensor([0.0]), torch.tensor([1.0])).mean
    tensor([1.6487])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"loc": constraints.real, "scale": constraints.positive}
    support: constraints.Constraint = constraints.positive

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

    arg_constraints: dict[str, constraints.Constraint] = {"scale": constraints.positive}
    support: constraints.Constraint = constraints.nonnegative

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

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal distribution.

    >>> from torchjit.distributions import HalfNormal
    >>> HalfNormal(torch.tensor([1.0])).mean
    tensor([0.7979])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy distribution.

    >>> from torchjit.distributions import HalfCauchy
    >>> HalfCauchy(torch.tensor([1.0])).cdf(torch.tensor([1.0]))
    tensor([0.5000])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


class Weibull(TransformedDistribution):
    """The Weibull distribution.

    >>> from torchjit.distributions import Weibull
    >>> Weibull(torch.tensor([1.0]), torch.tensor([2.0])).mean
    tensor([0.8862])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"scale": constraints.positive, "concentration": constraints.positive}
    support: constraints.Constraint = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.concentration: torch.Tensor
        self.scale: torch.Tensor
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
    """The Pareto distribution above scale.

    >>> from torchjit.distributions import Pareto
    >>> Pareto(torch.tensor([1.0]), torch.tensor([3.0])).mean
    tensor([1.5000])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.alpha: torch.Tensor
        self.scale: torch.Tensor
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args), [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

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
    """Values of one of several distributions, chosen by a Categorical: they are along the last batch dimension of the other one.

    >>> from torchjit.distributions import Categorical, MixtureSameFamily, Normal
    >>> MixtureSameFamily(Categorical(torch.tensor([0.5, 0.5])), Normal(torch.tensor([-1.0, 1.0]), torch.ones(2))).mean
    tensor(0.)
    """

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

    @constraints.dependent_property
    def support(self) -> Any:
        """What the components support."""
        return self._component_distribution.support

    def log_prob(self, x: Any) -> Any:
        self._validate_sample(x)
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
    """Numbers between 0 and 1 that go to those of a Bernoulli as the temperature goes to 0, with gradients.

    >>> from torchjit.distributions import RelaxedBernoulli
    >>> RelaxedBernoulli(torch.tensor([0.5]), torch.tensor([0.3])).rsample().shape
    torch.Size([1])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: constraints.Constraint = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        return self.base_dist.probs


class LogitRelaxedBernoulli(Distribution):
    """The logarithm of the odds of a RelaxedBernoulli."""

    arg_constraints: dict[str, constraints.Constraint] = {"logits": constraints.real}
    support: constraints.Constraint = constraints.real
    has_rsample: bool = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        from torchjit.distributions.discrete import Bernoulli

        base = Bernoulli(probs, logits)
        self.temperature = temperature
        self.probs: torch.Tensor = base.probs
        self.logits: torch.Tensor = base.logits
        super().__init__(self.logits.size())

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.temperature, made.probs = self.temperature, self.probs.expand(shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        eps = torch.finfo(self.probs.dtype).eps
        probs = self.probs.expand(shape).clamp(min=eps, max=1 - eps)
        u = torch.rand(shape, dtype=probs.dtype, device=probs.device).clamp(min=eps, max=1 - eps)
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
