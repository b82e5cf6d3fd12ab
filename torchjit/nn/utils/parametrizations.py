"""Parametrizations that keep a property of a weight."""

from __future__ import annotations

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
        raise ValueError(f"Module '{module}' has no attribute with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    """The exponential of a skew matrix times an orthogonal one."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.register_buffer("base", self._nearest(weight.detach()))

    @staticmethod
    def _nearest(weight: Any) -> Any:
        tall = weight if weight.size(-2) >= weight.size(-1) else weight.mT
        n, k = tall.size(-2), tall.size(-1)
        filled = torch.cat([tall, torch.eye(n, dtype=tall.dtype)[:, : n - k]], 1) if k < n else tall
        q, r = torch.linalg.qr(filled)
        return q * r.diagonal().sgn().unsqueeze(0)

    def forward(self, x: Any) -> Any:
        wide = x.size(-2) < x.size(-1)
        tall = x.mT if wide else x
        n, k = tall.size(-2), tall.size(-1)
        low = tall.tril(-1)
        if k < n:
            low = torch.cat([low, low.new_zeros(n, n - k)], -1)
        q = (self.base @ torch.linalg.matrix_exp(low - low.mT))[:, :k]
        return q.mT if wide else q

    def right_inverse(self, value: Any) -> Any:
        self.base.copy_(self._nearest(value))
        return torch.zeros_like(value)


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Any:
    """Keeps a matrix orthogonal: its shorter side has orthonormal vectors."""
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter ot buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if weight.dim() > 2 or orthogonal_map not in (None, "matrix_exp"):
        raise NotImplementedError("orthogonal() is implemented for single matrices and the map matrix_exp")
    parametrize.register_parametrization(module, name, _Orthogonal(weight), unsafe=True)
    return module
