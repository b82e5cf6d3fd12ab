"""Distributions over whole numbers and choices."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.distribution import (
    Distribution,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.nn.functional import binary_cross_entropy_with_logits


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Binary(Distribution):
    """A distribution of numbers with a probability, or the logarithm of its odds."""

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        _one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @lazy_property
    def logits(self) -> Any:
        """The logarithm of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability."""
        return logits_to_probs(self.logits, is_binary=True)


class Bernoulli(_Binary, ExponentialFamily):
    """1 with probability probs, else 0.

    >>> from torchjit.distributions import Bernoulli
    >>> Bernoulli(torch.tensor([0.3])).log_prob(torch.tensor([1.0]))
    tensor([-1.2040])
    """

    support: constraints.Constraint = constraints.boolean
    has_enumerate_support: bool = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = float("nan")
        return mode

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self) -> Any:
        return self._param.size()

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Geometric(_Binary):
    """The number of failures before the first success.

    >>> from torchjit.distributions import Geometric
    >>> Geometric(torch.tensor([0.25])).mean
    tensor([3.])
    """

    support: constraints.Constraint = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution {self!r} to be positive "
                f"but found invalid values:\n{self.probs[~(self.probs > 0)]}"
            )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone()
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(_Binary):
    """The number of successes in total_count trials.

    >>> from torchjit.distributions import Binomial
    >>> Binomial(4, torch.tensor([0.5])).log_prob(torch.tensor([2.0]))
    tensor([-0.9808])
    """

    has_enumerate_support: bool = True

    arg_constraints: dict[str, constraints.Constraint] = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        if probs is not None:
            self.probs: torch.Tensor
            count, self.probs = broadcast_all(total_count, probs)
        else:
            self.logits: torch.Tensor
            count, self.logits = broadcast_all(total_count, logits)
        self.total_count: torch.Tensor = count.type_as(self._param)
        Distribution.__init__(self, self._param.size(), validate_args=validate_args)

    @property
    def param_shape(self) -> Any:
        """The shape of probs or logits."""
        return self._param.size()

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.total_count
        choices = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        logits = self.logits
        return choices + value * logits - n * (logits.clamp(min=0) + torch.log1p(torch.exp(-logits.abs())))

    def _count(self) -> int:
        """The number of trials, which must be the same in all. Raises NotImplementedError otherwise."""
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        return count

    def entropy(self) -> Any:
        self._count()
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(1 + self._count(), dtype=self._param.dtype, device=self._param.device).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Poisson(ExponentialFamily):
    """Counts with mean rate.

    >>> from torchjit.distributions import Poisson
    >>> Poisson(torch.tensor([2.0])).log_prob(torch.tensor([2.0]))
    tensor([-1.3069])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"rate": constraints.nonnegative}
    support: constraints.Constraint = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self.rate: torch.Tensor
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Categorical(Distribution):
    """Numbers from 0 on, with probabilities along the last dimension: probs up to a factor, or logits, their logarithms up to a term.

    >>> from torchjit.distributions import Categorical
    >>> Categorical(torch.tensor([0.25, 0.75])).entropy()
    tensor(0.5623)
    """

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support: bool = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        given = probs if probs is not None else logits
        if given.dim() < 1:
            raise ValueError(f"`{'probs' if probs is not None else 'logits'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._num_events = self._num_events

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        return self._param.size()

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        return torch.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = torch.Size(sample_shape)
        drawn = torch.multinomial(self.probs.reshape(-1, self._num_events), shape.numel(), True).T
        return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class _OfCategorical(Distribution):
    """A distribution of vectors that a Categorical is behind."""

    arg_constraints: dict[str, constraints.Constraint] = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = type(self).__new__(type(self))
        made._categorical = self._categorical.expand(batch_shape)
        self._expand_into(made, batch_shape)
        Distribution.__init__(made, batch_shape, self.event_shape, validate_args=False)
        made._validate_args = self._validate_args
        return made

    @property
    def param_shape(self) -> Any:
        """The shape of probs and logits."""
        return self._categorical.param_shape

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits


class OneHotCategorical(_OfCategorical):
    """Categorical, with values of which one element is 1 and the others are 0.

    >>> from torchjit.distributions import OneHotCategorical
    >>> OneHotCategorical(torch.tensor([0.25, 0.75])).mean
    tensor([0.2500, 0.7500])
    """

    support: constraints.Constraint = constraints.one_hot
    has_enumerate_support: bool = True

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return torch.nn.functional.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        chosen = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(chosen, self.event_shape[-1]).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype, device=self.probs.device).view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical with gradients: those of the probabilities.

    >>> from torchjit.distributions import OneHotCategoricalStraightThrough
    >>> OneHotCategoricalStraightThrough(torch.tensor([0.25, 0.75])).rsample().sum()
    tensor(1.)
    """

    has_rsample: bool = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())


class Multinomial(_OfCategorical):
    """How often each choice is drawn in total_count draws.

    >>> from torchjit.distributions import Multinomial
    >>> Multinomial(3, torch.tensor([0.5, 0.5])).mean
    tensor([1.5000, 1.5000])
    """

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.total_count = self.total_count

    @property
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = torch.Size(sample_shape)
        drawn = self._categorical.sample(torch.Size((self.total_count,)) + shape)
        drawn = drawn.permute([*range(1, drawn.dim()), 0])
        counts = self.logits.new_zeros(self._extended_shape(shape))
        return counts.scatter_add_(-1, drawn, torch.ones_like(drawn).type_as(counts))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone()
        logits[(value == 0) & (logits == -float("inf"))] = 0
        return torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Any:
        n = torch.tensor(float(self.total_count), device=self.probs.device)
        counts = Binomial(self.total_count, self.probs, validate_args=False).enumerate_support(False)[1:]
        weights = torch.exp(Binomial(self.total_count, self.probs, validate_args=False).log_prob(counts))
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + (weights * torch.lgamma(counts + 1)).sum((0, -1))


__all__ = ["Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Poisson"]
