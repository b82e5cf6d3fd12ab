"""A conditional random field over tags: partition function, score of a path, Viterbi decoding, in float64 with gradients."""

from typing import List, Optional, Tuple

import torch
from torch import Tensor, nn


class Crf(nn.Module):
    def __init__(self, tags: List[str], forbidden: List[Tuple[str, str]]):
        super().__init__()
        self.tags = tags
        n = len(tags)
        self.start = nn.Parameter(torch.linspace(-0.5, 0.5, n, dtype=torch.float64))
        self.stop = nn.Parameter(torch.linspace(0.3, -0.3, n, dtype=torch.float64))
        self.transition = nn.Parameter(torch.sin(torch.arange(n * n, dtype=torch.float64)).view(n, n))
        mask = torch.zeros(n, n, dtype=torch.float64)
        for a, b in forbidden:
            mask[tags.index(a), tags.index(b)] = -10000.0
        self.register_buffer("mask", mask)

    @property
    def scores(self) -> Tensor:
        return self.transition + self.mask

    def partition(self, emissions: Tensor) -> Tensor:
        alpha = self.start + emissions[0]
        for e in emissions[1:]:
            alpha = torch.logsumexp(alpha.unsqueeze(1) + self.scores, dim=0) + e
        return torch.logsumexp(alpha + self.stop, 0)

    def path_score(self, emissions: Tensor, path: List[int]) -> Tensor:
        score = self.start[path[0]] + emissions[0, path[0]]
        for i in range(1, len(path)):
            score += self.scores[path[i - 1], path[i]] + emissions[i, path[i]]
        return score + self.stop[path[-1]]

    def forward(self, emissions: Tensor, path: Optional[List[int]] = None) -> Tensor:
        if path is None:
            return self.partition(emissions)
        assert len(path) == emissions.size(0), "a tag for every position"
        return self.partition(emissions) - self.path_score(emissions, path)

    @torch.jit.export
    def decode(self, emissions: Tensor) -> Tuple[List[str], float]:
        best = self.start + emissions[0]
        back: List[Tensor] = []
        for i in range(1, len(emissions)):
            values, index = (best[:, None] + self.scores).max(dim=0)
            best = values + emissions[i]
            back.append(index)
        score, last = (best + self.stop).max(0)
        path = [int(last)]
        for index in back[::-1]:
            path.append(int(index[path[-1]]))
        path.reverse()
        return [self.tags[i] for i in path], score.item()


def main():
    crf = torch.jit.script(Crf(["O", "B", "I"], [("O", "I")]))
    emissions = torch.cos(torch.arange(18, dtype=torch.float64)).view(6, 3) * 2
    emissions.requires_grad_()
    loss = crf(emissions, [0, 1, 2, 2, 0, 1])
    loss.backward()
    tags, score = crf.decode(emissions)
    return [loss.detach(), crf(emissions).detach(), emissions.grad, crf.start.grad, crf.transition.grad, tags, round(score, 6), crf.decode(emissions[:1])[0]]
