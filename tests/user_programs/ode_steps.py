"""Runge-Kutta steps over an interface of right-hand sides, fixed and adaptive, with gradients through the solver."""

from typing import List, Tuple

import torch
import torch.nn as nn
from torch import Tensor


@torch.jit.interface
class RightSide(nn.Module):
    def forward(self, t: float, y: Tensor) -> Tensor:
        pass


class Pendulum(nn.Module):
    def __init__(self, damping: float):
        super().__init__()
        self.damping = nn.Parameter(torch.tensor(damping))

    def forward(self, t: float, y: Tensor) -> Tensor:
        angle, speed = y.unbind(-1)
        return torch.stack([speed, -torch.sin(angle) - self.damping * speed], -1)


class Lorenz(nn.Module):
    def __init__(self):
        super().__init__()
        self.sigma, self.rho, self.beta = 10.0, 28.0, 8.0 / 3.0

    def forward(self, t: float, y: Tensor) -> Tensor:
        a, b, c = y[..., 0], y[..., 1], y[..., 2]
        return torch.stack((self.sigma * (b - a), a * (self.rho - c) - b, a * b - self.beta * c), dim=-1)


class Solver(nn.Module):
    side: RightSide

    def __init__(self, side: nn.Module, tolerance: float = 1e-4):
        super().__init__()
        self.side = side
        self.tolerance = tolerance

    def rk4(self, t: float, y: Tensor, h: float) -> Tensor:
        k1 = self.side.forward(t, y)
        k2 = self.side.forward(t + h / 2, y + h / 2 * k1)
        k3 = self.side.forward(t + h / 2, y + h / 2 * k2)
        k4 = self.side.forward(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def heun(self, t: float, y: Tensor, h: float) -> Tuple[Tensor, float]:
        k1 = self.side.forward(t, y)
        k2 = self.side.forward(t + h, y + h * k1)
        error = float((h / 2 * (k2 - k1)).abs().max())
        return y + h / 2 * (k1 + k2), error

    def forward(self, y: Tensor, begin: float, end: float, steps: int) -> Tensor:
        h = (end - begin) / steps
        path = [y]
        for i in range(steps):
            y = self.rk4(begin + i * h, y, h)
            path.append(y)
        return torch.stack(path)

    @torch.jit.export
    def adaptive(self, y: Tensor, begin: float, end: float) -> Tuple[Tensor, int, int, List[float]]:
        t, h = begin, (end - begin) / 10
        accepted = rejected = 0
        times: List[float] = [t]
        while t < end and accepted + rejected < 1000:
            h = min(h, end - t)
            y_new, error = self.heun(t, y, h)
            if error <= self.tolerance:
                t += h
                y = y_new
                accepted += 1
                times.append(round(t * 1e4) / 1e4)
            else:
                rejected += 1
            h = h * max(0.2, min(2.0, 0.9 * (self.tolerance / max(error, 1e-10)) ** 0.5))
        return y, accepted, rejected, times


def main():
    pendulum = torch.jit.script(Solver(Pendulum(0.1)))
    lorenz = torch.jit.script(Solver(Lorenz(), 1e-3))
    start = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    path = pendulum(start, 0.0, 2.0, 20)
    path[-1].sum().backward()
    with torch.no_grad():
        y, accepted, rejected, times = pendulum.adaptive(start, 0.0, 1.0)
        chaos = lorenz(torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 1.001]], dtype=torch.float64), 0.0, 0.5, 50)
    return [path.detach()[::5], start.grad, pendulum.side.damping.grad, y, accepted, rejected, times[:4], chaos[-1]]
