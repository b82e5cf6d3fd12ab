"""A Kalman filter and smoother with missing measurements, in linear algebra."""

from dataclasses import dataclass
from typing import List, Optional, Tuple

import torch
from torch import Tensor


@torch.jit.script
class Belief:
    def __init__(self, mean: Tensor, covariance: Tensor):
        self.mean = mean
        self.covariance = covariance

    def predict(self, f: Tensor, q: Tensor) -> "Belief":
        return Belief(f @ self.mean, f @ self.covariance @ f.t() + q)

    def update(self, h: Tensor, r: Tensor, z: Tensor) -> Tuple["Belief", Tensor]:
        s = h @ self.covariance @ h.T + r
        gain = torch.linalg.solve(s, h @ self.covariance).T
        innovation = z - h @ self.mean
        identity = torch.eye(self.mean.shape[0], dtype=self.mean.dtype)
        likelihood = -0.5 * (innovation @ torch.linalg.inv(s) @ innovation + torch.logdet(s))
        return Belief(self.mean + gain @ innovation, (identity - gain @ h) @ self.covariance), likelihood


@torch.jit.script
def run(f: Tensor, q: Tensor, h: Tensor, r: Tensor, measurements: List[Optional[Tensor]]) -> Tuple[Tensor, Tensor, float]:
    n = f.size(0)
    belief = Belief(torch.zeros(n, dtype=f.dtype), 10 * torch.eye(n, dtype=f.dtype))
    filtered: List[Belief] = []
    predicted: List[Belief] = []
    total = 0.0
    for z in measurements:
        belief = belief.predict(f, q)
        predicted.append(belief)
        if z is not None:
            belief, likelihood = belief.update(h, r, z)
            total += float(likelihood)
        filtered.append(belief)
    smooth: List[Tensor] = [filtered[-1].mean]
    for i in range(len(filtered) - 2, -1, -1):
        c = filtered[i].covariance @ f.T @ torch.linalg.inv(predicted[i + 1].covariance)
        smooth.append(filtered[i].mean + c @ (smooth[-1] - predicted[i + 1].mean))
    smooth.reverse()
    return torch.stack([b.mean for b in filtered]), torch.stack(smooth), total


def main():
    f = torch.tensor([[1.0, 0.5, 0.125], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]], dtype=torch.float64)
    q = torch.diag(torch.tensor([1e-3, 1e-2, 1e-1], dtype=torch.float64))
    h = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    r = torch.tensor([[0.25]], dtype=torch.float64)
    t = torch.arange(10, dtype=torch.float64) * 0.5
    z = 1 + 2 * t - 0.3 * t**2 + 0.1 * torch.cos(7 * t)
    measurements = [None if i in (3, 4) else z[i : i + 1] for i in range(10)]
    means, smooth, total = run(f, q, h, r, measurements)
    return [means, smooth, round(total, 6)]
