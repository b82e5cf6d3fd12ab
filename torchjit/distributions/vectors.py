"""Distributions over vectors."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.distribution import Distribution, lazy_property
from torchjit.distributions.exp_family import ExponentialFamily


class Dirichlet(ExponentialFamily):
    """Probabilities, with mean concentration / its sum.

    >>> from torchjit.distributions import Dirichlet
    >>> Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"concentration": constraints.positive_vector}
    support: constraints.Constraint = constraints.simplex
    has_rsample: bool = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        corner = torch.zeros_like(above)
        corner[..., 0] = 1  # every corner is a mode
        return torch.where((self.concentration < 1).all(-1, True), corner, above / above.sum(-1, True))

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        concentration = self.concentration.expand(self._extended_shape(sample_shape))
        if not (torch.is_grad_enabled() and concentration.requires_grad):
            return torch._sample_dirichlet(concentration)
        gammas = torch._standard_gamma(concentration)
        return gammas / gammas.sum(-1, True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self) -> Any:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return torch.lgamma(a).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by its covariance matrix, the inverse of that, or its Cholesky factor scale_tril.

    >>> from torchjit.distributions import MultivariateNormal
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: dict[str, constraints.Constraint] = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support: constraints.Constraint = constraints.real_vector
    has_rsample: bool = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: m for name, m in given.items() if m is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch + matrix.shape[-2:]))
        self.loc: torch.Tensor = loc.expand(batch + loc.shape[-1:])
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _inverse_factor(precision_matrix)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return torch.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = torch.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = _solved(self._unbroadcasted_scale_tril, value - self.loc).pow(2).sum(-1)
        half_log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self) -> Any:
        half_log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return (0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_log_det).expand(self._batch_shape)


def _batch_mv(bmat: Any, bvec: Any) -> Any:
    """Products of matrices (..., n, n) with vectors (..., n)."""
    return torch.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Any, bx: Any) -> Any:  # noqa: N803
    """The squared Mahalanobis distances of vectors (..., n) by the Cholesky factors (..., n, n) of covariances."""
    return _solved(bL, bx).pow(2).sum(-1)


def _solved(factor: Any, x: Any) -> Any:
    """The solution y of factor @ y = x, for vectors x; both are broadcast."""
    return torch.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False).squeeze(-1)


def _precision_to_scale_tril(P: Any) -> Any:  # noqa: N803
    """The Cholesky factor of the inverse of a matrix."""
    return _inverse_factor(P)


def _inverse_factor(precision: Any) -> Any:
    """The Cholesky factor of the inverse of a matrix."""
    turned = torch.linalg.cholesky(precision.flip((-2, -1)))
    upper = turned.flip((-2, -1)).mT
    return torch.linalg.solve_triangular(upper, torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device), upper=False)


def _dirichlet_grad(x: Any, concentration: Any, total: Any) -> Any:
    """How a sample of a beta distribution moves with the first concentration while the uniform number behind it stays: what the distribution function
    gains by the concentration over its density, and over 1 - x. The function is integrated by 64 nodes, its derivative is a central difference."""
    kept, x, a, b = x.dtype, x.double(), concentration.double(), (total - concentration).double()
    steps = torch.arange(1, 64, dtype=torch.double, device=x.device)
    nodes, vectors = torch.linalg.eigh(torch.diag(steps / (4 * steps**2 - 1).sqrt(), 1) + torch.diag(steps / (4 * steps**2 - 1).sqrt(), -1))
    at, weights = (nodes + 1) / 2, vectors[0] ** 2

    def log_beta(a: Any) -> Any:
        return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)

    def below(a: Any) -> Any:
        inner = (1 - x.unsqueeze(-1) * at ** (1 / a).unsqueeze(-1)) ** (b - 1).unsqueeze(-1)
        return (a * x.log() - a.log() - log_beta(a)).exp() * (inner * weights).sum(-1)

    h = 1e-5 * a
    density = ((a - 1) * x.log() + (b - 1) * (-x).log1p() - log_beta(a)).exp()
    return (-(below(a + h) - below(a - h)) / (2 * h) / density / (1 - x)).to(kept)


def _Dirichlet_backward(x: Any, concentration: Any, grad_output: Any) -> Any:  # noqa: N802
    """The gradient of samples of a Dirichlet distribution to the concentration."""
    total = concentration.sum(-1, True).expand_as(concentration)
    return _dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(torch.autograd.Function):
    """Samples of a Dirichlet distribution, with a gradient to the concentration."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, concentration = ctx.saved_tensors
        return _Dirichlet_backward(x, concentration, grad_output)
