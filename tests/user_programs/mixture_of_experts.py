"""A sparse mixture of experts: top-k gates, capacity, load-balancing loss, experts run in forked tasks."""

from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Expert(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, hidden), nn.SiLU(), nn.Linear(hidden, width))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class MixtureOfExperts(nn.Module):
    def __init__(self, width: int, experts: int, k: int, capacity: float):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList([Expert(width, 2 * width) for _ in range(experts)])
        self.k = k
        self.capacity = capacity

    def route(self, logits: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        probabilities = logits.softmax(dim=-1)
        weights, index = torch.topk(probabilities, self.k, dim=-1)
        return weights / weights.sum(-1, keepdim=True), index, probabilities

    def forward(self, x: Tensor) -> Tuple[Tensor, Dict[str, Tensor]]:
        shape = x.shape
        flat = x.reshape(-1, shape[-1])
        weights, index, probabilities = self.route(self.gate(flat))
        limit = int(self.capacity * flat.size(0) * self.k / len(self.experts)) + 1
        rows: List[Tensor] = []
        slots: List[Tensor] = []
        futures: List[torch.jit.Future[Tensor]] = []
        dropped = 0
        for i, expert in enumerate(self.experts):
            chosen = (index == i).nonzero()
            if chosen.size(0) > limit:
                dropped += chosen.size(0) - limit
                chosen = chosen[:limit]
            rows.append(chosen[:, 0])
            slots.append(chosen[:, 1])
            futures.append(torch.jit.fork(expert, flat[chosen[:, 0]]))
        out = torch.zeros_like(flat)
        for r, s, f in zip(rows, slots, futures):
            y = torch.jit.wait(f)
            out = out.index_add(0, r, y * weights[r, s].unsqueeze(1))
        share = F.one_hot(index[:, 0], len(self.experts)).float().mean(0)
        balance = (share * probabilities.mean(0)).sum() * len(self.experts)
        return out.view(shape), {"balance": balance, "dropped": torch.tensor(dropped), "share": share}


def main():
    torch.manual_seed(1)
    layer = torch.jit.script(MixtureOfExperts(6, 4, 2, 1.0))
    x = torch.randn(3, 5, 6, requires_grad=True)
    y, report = layer(x)
    (y.pow(2).mean() + 0.01 * report["balance"]).backward()
    return [y.detach(), {k: v.detach() for k, v in report.items()}, x.grad, layer.gate.weight.grad]
