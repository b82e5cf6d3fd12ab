"""Distributions of vectors by a covariance of low rank, and of matrices."""

from __future__ import annotations

import math
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.continuous import Beta, Chi2
from torchjit.distributions.distribution import Distribution, lazy_property
from torchjit.distributions.exp_family import ExponentialFamily
from torchjit.distributions.vectors import _inverse_factor, _solved


def _times(matrix: Any, vector: Any) -> Any:
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _noise(shape: Any, like: Any) -> Any:
    return torch.normal(torch.zeros(shape, dtype=like.dtype, device=like.device), torch.ones(shape, dtype=like.dtype, device=like.device))


# For covariances W @ W.T + diag(D): the Cholesky factor of I + W.T @ diag(1/D) @ W, and what follows from it.


def _batch_capacitance_tril(W: Any, D: Any) -> Any:  # noqa: N803
    return torch.linalg.cholesky(W.mT / D.unsqueeze(-2) @ W + torch.eye(W.shape[-1], dtype=W.dtype, device=W.device))


def _batch_lowrank_logdet(W: Any, D: Any, capacitance_tril: Any) -> Any:  # noqa: N803
    """The logarithm of the covariance's determinant."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Any, D: Any, x: Any, capacitance_tril: Any) -> Any:  # noqa: N803
    """The squared Mahalanobis distance of x."""
    return (x.pow(2) / D).sum(-1) - _solved(capacitance_tril, _times(W.mT / D.unsqueeze(-2), x)).pow(2).sum(-1)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance cov_factor @ cov_factor.T + diag(cov_diag).

    >>> from torchjit.distributions import LowRankMultivariateNormal
    >>> LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)).covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints: dict[str, constraints.Constraint] = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support: constraints.Constraint = constraints.real_vector
    has_rsample: bool = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        events = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != events:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {events[0]} x m")
        if cov_diag.shape[-1:] != events:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {tuple(events)}")
        try:
            batch = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as e:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from e
        self.loc: torch.Tensor = loc.expand(batch + events)
        self.cov_factor: torch.Tensor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self.cov_diag: torch.Tensor = cov_diag.expand(batch + events)
        super().__init__(batch, events, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def _expand_into(self, made: Any, shape: Any) -> None:
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(made, name, getattr(self, name))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The variance of each component."""
        return (self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance matrix."""
        w, d = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        root = d.sqrt().unsqueeze(-1)
        inner = (w / root) @ (w / root).mT + torch.eye(d.shape[-1], dtype=d.dtype, device=d.device)
        return (root * torch.linalg.cholesky(inner)).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        w = self._unbroadcasted_cov_factor
        return (w @ w.mT + torch.diag_embed(self._unbroadcasted_cov_diag)).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        d = self._unbroadcasted_cov_diag
        a = torch.linalg.solve_triangular(self._capacitance_tril, self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2), upper=False)
        return (torch.diag_embed(d.reciprocal()) - a.mT @ a).expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        shared = _noise(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        own = _noise(shape, self.loc)
        return self.loc + _times(self._unbroadcasted_cov_factor, shared) + self._unbroadcasted_cov_diag.sqrt() * own

    def _log_determinant(self) -> Any:
        return _batch_lowrank_logdet(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril)

    def _distance(self, difference: Any) -> Any:
        """The squared Mahalanobis distance."""
        return _batch_lowrank_mahalanobis(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, difference, self._capacitance_tril)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = self._distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant() + distance)

    def entropy(self) -> Any:
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant())).expand(self._batch_shape)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, by the onion method of Lewandowski, Kurowicka and Joe.

    >>> from torchjit.distributions import LKJCholesky
    >>> LKJCholesky(3, 1.0).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints: dict[str, constraints.Constraint] = {"concentration": constraints.positive}
    support: constraints.Constraint = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration: torch.Tensor = torch.as_tensor(concentration, dtype=None if isinstance(concentration, torch.Tensor) else torch.get_default_dtype())
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.cat([self.concentration.new_zeros((1,)), torch.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made.dim, made._beta = self.dim, self._beta.expand(shape + (self.dim,))

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            directions = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
            directions = directions / directions.norm(dim=-1, keepdim=True)
            directions[..., 0, :].fill_(0.0)
            w = torch.sqrt(y) * directions
            tiny = torch.finfo(w.dtype).tiny
            return w + torch.diag_embed(torch.clamp(1 - torch.sum(w**2, dim=-1), min=tiny).sqrt())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1, device=self.concentration.device)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        norm = 0.5 * less * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, less) - torch.lgamma(alpha) * less
        return (order * diagonal.log()).sum(-1) - norm


class Wishart(ExponentialFamily):
    """Symmetric positive definite matrices: sums of df outer products of normal vectors, where df is a whole number.

    >>> from torchjit.distributions import Wishart
    >>> Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    arg_constraints: dict[str, constraints.Constraint] = {
        "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(0),
    }  # fmt: skip
    support: constraints.Constraint = constraints.positive_definite
    has_rsample: bool = True

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None, validate_args: bool | None = None
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: m for name, m in given.items() if m is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = torch.as_tensor(df, dtype=matrix.dtype)
        batch, events = torch.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        if (df <= events[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {events[-1] - 1}.")
        self.df: torch.Tensor = df.expand(batch)
        self.__dict__[name] = matrix.expand(batch + events)
        self.arg_constraints = {**self.arg_constraints, "df": constraints.greater_than(events[-1] - 1)}
        super().__init__(batch, events, validate_args=validate_args)
        factors = {"scale_tril": lambda m: m, "covariance_matrix": torch.linalg.cholesky, "precision_matrix": _inverse_factor}
        self._unbroadcasted_scale_tril = factors[name](matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - torch.arange(events[-1], dtype=matrix.dtype, device=matrix.device).expand(batch + events[-1:]))

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._unbroadcasted_scale_tril, made._dist_chi2 = self._unbroadcasted_scale_tril, self._dist_chi2.expand(shape + self.event_shape[-1:])

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the scale."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The scale."""
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the scale."""
        return torch.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._batch_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, math.nan, factor)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view(self._batch_shape + (1, 1)) * (v.pow(2) + torch.einsum("...i,...j->...ij", diagonal, diagonal))

    def _drawn(self, sample_shape: Any) -> Any:
        """Matrices by Bartlett's decomposition."""
        p = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        noise[..., i, j] = torch.randn(torch.Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,), dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: Any = None) -> Any:
        """Matrices. Those that rounding has made singular are drawn again, at most max_try_correction times.

        PyTorch 1.13 draws all of them twice and takes the second ones; so does this, for the same numbers from the same seed.
        """
        tries = max_try_correction if max_try_correction is not None else 3 if torch.is_grad_enabled() else 10
        shape = torch.Size(sample_shape)
        self._drawn(shape)
        sample = self._drawn((shape.numel(),)).reshape(self._extended_shape(shape))
        singular = ~self.support.check(sample)
        for _ in range(tries):
            if not singular.any():
                break
            sample = torch.where(singular[..., None, None], self._drawn(shape), sample)
            singular = ~self.support.check(sample)
        return sample

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        p, nu = self._event_shape[-1], self.df
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        spread = torch.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (p * math.log(2) / 2 + log_det) - torch.mvlgamma(nu / 2, p=p) + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - spread / 2
        )

    def _digamma(self) -> Any:
        p = self._event_shape[-1]
        return torch.digamma((self.df / 2).unsqueeze(-1) - torch.arange(p, dtype=self.df.dtype, device=self.df.device).div(2)).sum(-1)

    def entropy(self) -> Any:
        p, nu = self._event_shape[-1], self.df
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return (
            (p + 1) * (p * math.log(2) / 2 + log_det) + torch.mvlgamma(nu / 2, p=p) - (nu - p - 1) / 2 * self._digamma() + nu * p / 2
        )
