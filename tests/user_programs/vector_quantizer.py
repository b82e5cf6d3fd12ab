"""A codebook with running averages: nearest code, straight-through gradient, dead codes revived, state in buffers."""

from typing import List, NamedTuple, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Quantized(NamedTuple):
    value: Tensor
    index: Tensor
    loss: Tensor
    perplexity: Tensor


class VectorQuantizer(nn.Module):
    codebook: Tensor
    counts: Tensor
    sums: Tensor
    steps: int

    def __init__(self, codes: int, width: int, decay: float = 0.9):
        super().__init__()
        self.register_buffer("codebook", torch.randn(codes, width))
        self.register_buffer("counts", torch.ones(codes))
        self.register_buffer("sums", self.codebook.clone())
        self.decay = decay
        self.steps = 0

    @torch.jit.unused
    def plot(self) -> None:
        import matplotlib.pyplot as plt

        plt.scatter(*self.codebook.T)

    @torch.no_grad()
    def _unused_in_script(self):
        return self.counts

    @torch.jit.export
    def revive(self, samples: Tensor, least: float = 0.2) -> int:
        dead = (self.counts < least).nonzero().flatten()
        indices: List[int] = dead.tolist()
        for k, index in enumerate(indices):
            self.codebook[index] = samples[k % samples.size(0)]
            self.counts[index] = 1.0
            self.sums[index].copy_(self.codebook[index])
        return dead.numel()

    def update(self, flat: Tensor, onehot: Tensor):
        self.counts.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
        self.sums.mul_(self.decay).addmm_(onehot.t(), flat, alpha=1 - self.decay)
        self.codebook.copy_(self.sums / self.counts.clamp_min(1e-5).unsqueeze(1))
        self.steps += 1

    def forward(self, x: Tensor) -> Quantized:
        flat = x.reshape(-1, x.size(-1))
        distance = (flat**2).sum(1, keepdim=True) - 2 * flat @ self.codebook.T + self.codebook.pow(2).sum(1)
        index = distance.argmin(1)
        onehot = F.one_hot(index, self.codebook.size(0)).type_as(flat)
        value = F.embedding(index, self.codebook).view_as(x)
        loss = F.mse_loss(value.detach(), x) * 0.25
        if self.training:
            with torch.no_grad():
                self.update(flat.detach(), onehot)
        value = x + (value - x).detach()
        p = onehot.mean(0)
        return Quantized(value, index.view(x.shape[:-1]), loss, torch.exp(-torch.sum(p * torch.log(p + 1e-10))))


def main():
    torch.manual_seed(8)
    vq = torch.jit.script(VectorQuantizer(6, 3))
    x = torch.randn(2, 5, 3, requires_grad=True)
    out = vq(x)
    (out.value.sum() + out.loss).backward()
    for _ in range(3):
        vq(torch.randn(2, 5, 3) * 0.1)
    revived = vq.revive(torch.randn(4, 3))
    vq.eval()
    return [list(out), x.grad, vq.codebook, vq.counts, vq.steps, revived, vq(x.detach()).index]
