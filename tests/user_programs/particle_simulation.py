"""Particles in a box: neighbour cells, Lennard-Jones forces, velocity Verlet in place, a thermostat as a context manager class."""

from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor


@torch.jit.script
class Thermostat:
    def __init__(self, target: float, strength: float):
        self.target = target
        self.strength = strength
        self.history: List[float] = []

    def __enter__(self):
        self.history.append(-1.0)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any):
        self.history.append(-2.0)

    def apply(self, velocity: Tensor):
        temperature = float((velocity**2).mean())
        self.history.append(temperature)
        scale = (1.0 + self.strength * (self.target / max(temperature, 1e-12) - 1.0)) ** 0.5
        velocity *= scale


@torch.jit.script
def pairs(position: Tensor, box: float, cutoff: float) -> List[Tuple[int, int]]:
    n = max(1, int(box // cutoff))
    members: Dict[int, List[int]] = {}
    where = torch.floor(position / box * n).long().clamp_(0, n - 1)
    for i in range(position.size(0)):
        key = int(where[i, 0]) * n + int(where[i, 1])
        if key not in members:
            members[key] = torch.jit.annotate(List[int], [])
        members[key].append(i)
    found: List[Tuple[int, int]] = []
    for key, here in members.items():
        cx, cy = divmod(key, n)
        near: List[int] = []
        seen: List[int] = []
        for dx in range(-1, 2):
            for dy in [-1, 0, 1]:
                other = ((cx + dx) % n) * n + (cy + dy) % n
                if other in members and other not in seen:
                    seen.append(other)
                    near += members[other]
        for i in here:
            for j in near:
                if i < j:
                    found.append((i, j))
    return sorted(found)


@torch.jit.script
def forces(position: Tensor, box: float, neighbours: List[Tuple[int, int]]) -> Tuple[Tensor, float]:
    force = torch.zeros_like(position)
    energy = 0.0
    for i, j in neighbours:
        d = position[i] - position[j]
        d = d - box * torch.round(d / box)
        r2 = float(d.dot(d))
        if r2 > 6.25:
            continue
        s6 = 1.0 / r2**3
        energy += 4 * (s6 * s6 - s6)
        pull = d * (24 * (2 * s6 * s6 - s6) / r2)
        force[i] += pull
        force[j] -= pull
    return force, energy


@torch.jit.script
def simulate(position: Tensor, velocity: Tensor, box: float, steps: int, dt: float) -> Tuple[List[float], List[float]]:
    energies: List[float] = []
    thermostat = Thermostat(0.5, 0.1)
    with thermostat as t:
        force, _ = forces(position, box, pairs(position, box, 2.5))
        for step in range(steps):
            velocity += 0.5 * dt * force
            position += dt * velocity
            position.remainder_(box)
            force, energy = forces(position, box, pairs(position, box, 2.5))
            velocity.add_(force, alpha=0.5 * dt)
            if step % 2:
                t.apply(velocity)
            energies.append(energy + 0.5 * float((velocity**2).sum()))
    return energies, thermostat.history


def main():
    g = torch.arange(4, dtype=torch.float64)
    position = torch.stack(torch.meshgrid(g, g, indexing="ij"), -1).view(-1, 2) * 1.3 + 0.4
    velocity = torch.stack([torch.sin(torch.arange(16, dtype=torch.float64)), torch.cos(torch.arange(16, dtype=torch.float64) * 2)], 1) * 0.5
    found = pairs(position, 6.0, 2.5)
    energies, history = simulate(position, velocity, 6.0, 6, 0.002)
    return [len(found), found[:5], [round(e, 8) for e in energies], [round(h, 8) for h in history], position, velocity]
