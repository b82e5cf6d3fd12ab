"""Parametrizations that keep a property of a weight."""

from __future__ import annotations

import enum
from typing import Any

import torchjit as torch
from torchjit.nn import functional as F
from torchjit.nn.modules.module import Module
from torchjit.nn.utils import parametrize


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        n = weight.dim()
        if dim >= n or dim < -n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % n, eps, n_power_iterations
        if n > 1:
            height, width = self._matrix(weight).shape
            u, v = weight.new_empty(height).normal_(0, 1), weight.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(self._matrix(weight), 15)

    def _matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _iterate(self, matrix: Any, times: int) -> None:
        with torch.no_grad():
            for _ in range(times):
                self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Any:
    """Divides a weight by the estimate of its largest singular value."""
    from torchjit import nn

    if not hasattr(module, name):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps))
    return module


class _OrthMaps(enum.Enum):
    """The maps from all matrices to orthogonal ones."""

    matrix_exp = enum.auto()
    cayley = enum.auto()
    householder = enum.auto()


def _is_orthogonal(Q: Any, eps: float | None = None) -> bool:
    """Whether the columns of a matrix, or of each of a batch, are orthonormal up to rounding."""
    n, k = Q.size(-2), Q.size(-1)
    if eps is None:
        eps = 10.0 * n * torch.finfo(Q.dtype).eps
    return torch.allclose(Q.mH @ Q, torch.eye(k, dtype=Q.dtype), atol=eps)


def _make_orthogonal(A: Any) -> Any:
    """The orthogonal factor of a tall matrix whose triangular one has a positive diagonal."""
    q, r = torch.linalg.qr(A)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Orthogonal matrices as a function of any matrix, times an orthogonal one where that is there: `base`, with use_trivialization."""

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.size(-2) < x.size(-1)
        tall = x.mT if wide else x
        q = self._reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _reflected(self, x: Any) -> Any:
        low = x.tril(-1)
        tau = 2.0 / (1.0 + (low * low).sum(-2))
        return torch.linalg.householder_product(low, tau) * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def _rotated(self, x: Any) -> Any:
        n, k = x.size(-2), x.size(-1)
        low = x.tril()
        if k < n:
            low = torch.cat([low, low.new_zeros((*low.shape[:-1], n - k))], -1)
        skew = low - low.mH
        if self.orthogonal_map == "matrix_exp":
            q = torch.linalg.matrix_exp(skew)
        else:
            unit = torch.eye(n, dtype=skew.dtype)
            q = torch.linalg.solve(unit - 0.5 * skew, unit + 0.5 * skew)
        return q[..., :k] if k < n else q

    def right_inverse(self, value: Any) -> Any:
        if value.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {value.shape}.")
        wide = value.size(-2) < value.size(-1)
        tall = value.mT if wide else value
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False."
                )
            a, tau = torch.geqrf(tall)
            diagonal = a.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1
            return a.mT if wide else a
        n, k = tall.size(-2), tall.size(-1)
        if k < n:
            tall = torch.cat([tall, torch.randn((*tall.shape[:-2], n, n - k), dtype=tall.dtype)], -1)
        self.base = _make_orthogonal(tall)
        original = torch.zeros_like(value)
        original.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return original


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Any:
    """Keeps a matrix, or a batch of them, orthogonal: the vectors along the shorter side are orthonormal.

    orthogonal_map says how it is made: "matrix_exp", "cayley" or "householder". use_trivialization multiplies by the present value, so
    that any orthogonal matrix can be assigned. Raises ValueError for other maps and for tensors that are no matrices.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
    return module
