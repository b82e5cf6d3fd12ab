"""What all distributions have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints


class lazy_property:  # noqa: N801
    """A property that is computed once and then kept in its place."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value


def broadcast_all(*values: Any) -> Any:
    """Numbers and tensors as tensors of one shape. Raises ValueError for anything else."""
    if not all(isinstance(v, (torch.Tensor, int, float)) for v in values):
        raise ValueError("Input arguments must all be instances of numbers.Number, torch.Tensor or objects implementing __torch_function__.")
    like = next((v for v in values if isinstance(v, torch.Tensor)), None)
    options: dict[str, Any] = {} if like is None else {"dtype": like.dtype, "device": like.device}
    made = [v if isinstance(v, torch.Tensor) else torch.tensor(float(v), **options) for v in values]
    return torch.broadcast_tensors(*made)


def clamp_probs(probs: Any) -> Any:
    """Probabilities away from 0 and 1 by the smallest step of their type."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Logarithms of probabilities, or of their odds."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities of their logarithms up to a constant, or of the logarithms of odds."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


class Distribution:
    """A distribution over values of `event_shape`, one for each element of `batch_shape`.

    `arg_constraints` and `support` tell what parameters and values may be; parameters are checked when the distribution is
    made and values when log_prob is asked for, unless validate_args is False. Raises ValueError where they are not.

    >>> from torchjit.distributions import Distribution, Normal
    >>> isinstance(Normal(torch.zeros(1), torch.ones(1)), Distribution), Normal(torch.zeros(2), torch.ones(2)).batch_shape
    (True, torch.Size([2]))
    """

    has_rsample: bool = False
    has_enumerate_support: bool = False
    _validate_args: bool = __debug__

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter may be."""
        return {}

    @property
    def support(self) -> constraints.Constraint | None:
        """What a value may be, None where that isn't known."""
        return None

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Has distributions check what they are given, or not."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()  # of a class beside this one

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy the "
                    f"constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Any:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one value."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value of the highest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values of sample_shape + batch_shape + event_shape, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values through which gradients reach the parameters. Raises NotImplementedError where there is no such way."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability, at values."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of values up to the given ones."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The inverse of cdf."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, along a first dimension."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with a larger batch_shape."""
        made = type(self).__new__(type(self)) if _instance is None else _instance
        shape = torch.Size(batch_shape)
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = getattr(self, name)
                rest = value.shape[len(value.shape) - self.arg_constraints[name].event_dim :]
                made.__dict__[name] = value.expand(shape + rest)
        self._expand_into(made, shape)
        Distribution.__init__(made, shape, self.event_shape, validate_args=False)
        made._validate_args = self._validate_args
        return made

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """What an `expand` of the class fills: the object that it was given or a new one, of whose class it must know the parameters."""
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _expand_into(self, made: Any, shape: Any) -> None:
        """Gives an expanded distribution what is not among arg_constraints."""

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return torch.Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        if not self._validate_args:
            return
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, self._batch_shape + self._event_shape
        events = len(self._event_shape)
        if len(shape) < events or shape[len(shape) - events :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}."
            )
        for have, want in zip(reversed(shape), reversed(expected), strict=False):
            if have not in (1, want) and want != 1:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        if self.support is not None and not self.support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support ({self.support!r}) "
                f"of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        known = [name for name in self.arg_constraints if name in self.__dict__]
        parts = ", ".join(f"{n}: {v if (v := self.__dict__[n]).numel() == 1 else v.size()}" for n in known)
        return f"{type(self).__name__}({parts})"


class Independent(Distribution):
    """A distribution whose last batch dimensions belong to the values: their log_probs are added up.

    >>> from torchjit.distributions import Independent, Normal
    >>> Independent(Normal(torch.zeros(3), torch.ones(3)), 1).log_prob(torch.zeros(3))
    tensor(-2.7568)
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims: int = reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        """What the base distribution gives, for arrays of the dimensions that belong to the values."""
        support, dims = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, dims) if dims and support is not None else support

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def _sum(self, x: Any) -> Any:
        return x.flatten(-self.reinterpreted_batch_ndims).sum(-1) if self.reinterpreted_batch_ndims else x

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self._sum(self.base_dist.entropy())

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        cut = len(self.event_shape) - len(self.base_dist.event_shape)
        base = self.base_dist.expand(torch.Size(batch_shape) + self.event_shape[:cut])
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


__all__ = ["Distribution", "Independent", "broadcast_all", "clamp_probs", "constraints", "lazy_property", "logits_to_probs", "probs_to_logits"]
