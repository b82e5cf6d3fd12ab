"""Transforms of vectors, matrices and several values at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit.distributions import constraints
from torchjit.distributions.transforms import Transform, _sum_rightmost, _widened
from torchjit.nn.functional import logsigmoid, pad, softplus


class IndependentTransform(Transform):
    """Another transform whose values have more dimensions: their stretches are added up."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform: Transform = base_transform
        self.reinterpreted_batch_ndims: int = reinterpreted_batch_ndims

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> int:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Values of one shape as values of another shape."""

    bijective: bool = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape: torch.Size = torch.Size(in_shape)
        self.out_shape: torch.Size = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> constraints.Constraint:
        return _widened(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> constraints.Constraint:
        return _widened(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Any, end: Any, by: Any) -> Any:
    if len(shape) < len(end):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(end)
    if tuple(shape[cut:]) != tuple(end):
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {end}")
    return shape[:cut] + by


class StickBreakingTransform(Transform):
    """Vectors of real numbers as probabilities, of which there is one more: each number says how much of the rest its probability takes."""

    domain: constraints.Constraint = constraints.real_vector
    codomain: constraints.Constraint = constraints.simplex
    bijective: bool = True

    def _call(self, x: Any) -> Any:
        taken = torch.sigmoid(x - _left(x).log())
        rest = (1 - taken).cumprod(-1)
        return pad(taken, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., :-1]
        rest = torch.clamp(1 - first.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return first.log() - rest.log() + _left(first).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - _left(x).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] - 1,)


def _left(x: Any) -> Any:
    """How many probabilities follow that of each number."""
    return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)


class LowerCholeskyTransform(Transform):
    """Matrices as Cholesky factors: what is above the diagonal goes, the diagonal becomes positive."""

    domain: constraints.Constraint = constraints.independent(constraints.real, 2)
    codomain: constraints.Constraint = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class CorrCholeskyTransform(Transform):
    """Vectors as Cholesky factors of correlation matrices."""

    domain: constraints.Constraint = constraints.real_vector
    codomain: constraints.Constraint = constraints.corr_cholesky
    bijective: bool = True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        partial = _below_diagonal(x.clamp(min=-1 + eps, max=1 - eps))
        rest = (1 - partial**2).sqrt().cumprod(-1)
        partial = partial + torch.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return partial * pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        rest = pad(1 - torch.cumsum(y * y, -1)[..., :-1], [1, 0], value=1)
        t = _below(y, -1) / _below(rest, -1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        rest = 1 - (y * y).cumsum(-1)
        tanhs = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * _below(rest, -2).log().sum(-1) + tanhs

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = _side(shape[-1])
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattend lower-diagonal number")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


def _side(count: int) -> int:
    """The size of the matrix with count elements below its diagonal."""
    return round((0.25 + 2 * count) ** 0.5 + 0.5)


def _below_diagonal(x: Any) -> Any:
    """The matrix whose elements below the diagonal are x, row by row, and zero elsewhere."""
    n = _side(x.shape[-1])
    made = x.new_zeros(x.shape[:-1] + (n * n,))
    rows, columns = torch.tril_indices(n, n, -1)
    made[..., rows * n + columns] = x
    return made.reshape(x.shape[:-1] + (n, n))


def _below(matrix: Any, diagonal: int) -> Any:
    """The elements on and below a diagonal, row by row."""
    n = matrix.shape[-1]
    rows, columns = torch.tril_indices(n, n, diagonal)
    return matrix[..., rows, columns]


class _Several(Transform):
    """Transforms of slices along a dimension, each of its own."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        super().__init__(cache_size)
        self.transforms: list[Transform] = list(tseq)
        self.dim: int = dim

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)


class CatTransform(_Several):
    """Several transforms, each of as many slices along a dimension as lengths says, one where nothing is said."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths: list[int] = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _parts(self, x: Any) -> Any:
        return zip(self.transforms, torch.split(x, self.lengths, self.dim), strict=True)

    def _call(self, x: Any) -> Any:
        return torch.cat([t(part) for t, part in self._parts(x)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return torch.cat([t.inv(part) for t, part in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        parts = zip(self._parts(x), torch.split(y, self.lengths, self.dim), strict=True)
        found = [_sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim) for (t, a), b in parts]
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(found, dim) if dim < 0 else sum(found)


class StackTransform(_Several):
    """Several transforms, each of one index along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> constraints.Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> constraints.Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _call(self, x: Any) -> Any:
        return torch.stack([t(x.select(self.dim, i)) for i, t in enumerate(self.transforms)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return torch.stack([t.inv(y.select(self.dim, i)) for i, t in enumerate(self.transforms)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = [t.log_abs_det_jacobian(x.select(self.dim, i), y.select(self.dim, i)) for i, t in enumerate(self.transforms)]
        return torch.stack(found, self.dim)


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution."""

    bijective: bool = True
    codomain: constraints.Constraint = constraints.unit_interval
    sign: int = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> constraints.Constraint:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


__all__ = [
    "CatTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform", "IndependentTransform", "LowerCholeskyTransform", "ReshapeTransform",
    "StackTransform", "StickBreakingTransform",
]  # fmt: skip
