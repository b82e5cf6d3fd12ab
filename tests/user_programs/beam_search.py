"""Beam search over a small recurrent language model, with named tuples and lists of hypotheses."""

from typing import List, NamedTuple, Optional, Tuple

import torch
import torch.nn as nn
from torch import Tensor


class Hypothesis(NamedTuple):
    tokens: List[int]
    score: float
    state: Tuple[Tensor, Tensor]
    done: bool = False


class Step(nn.Module):
    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.cell = nn.LSTMCell(width, width)
        self.project = nn.Linear(width, vocabulary)

    def initial(self, batch: int) -> Tuple[Tensor, Tensor]:
        zero = self.project.weight.new_zeros(batch, self.cell.hidden_size)
        return zero, zero.clone()

    def forward(self, token: Tensor, state: Tuple[Tensor, Tensor]) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        h, c = self.cell(self.embedding(token), state)
        return self.project(h).log_softmax(-1), (h, c)


class BeamSearch(nn.Module):
    def __init__(self, step: Step, begin: int, end: int, beam: int = 3, penalty: float = 0.6):
        super().__init__()
        self.step = step
        self.begin = begin
        self.end = end
        self.beam = beam
        self.penalty = penalty

    def normalized(self, h: Hypothesis) -> float:
        return h.score / ((5.0 + len(h.tokens)) / 6.0) ** self.penalty

    def best(self, hypotheses: List[Hypothesis]) -> Hypothesis:
        found: Optional[Hypothesis] = None
        for h in hypotheses:
            if found is None or self.normalized(h) > self.normalized(found):
                found = h
        assert found is not None
        return found

    def forward(self, limit: int) -> Tuple[List[int], float]:
        beams = [Hypothesis([self.begin], 0.0, self.step.initial(1))]
        finished: List[Hypothesis] = []
        for t in range(limit):
            candidates: List[Tuple[float, int, int]] = []
            states: List[Tuple[Tensor, Tensor]] = []
            for b, h in enumerate(beams):
                scores, state = self.step(torch.tensor([h.tokens[-1]]), h.state)
                states.append(state)
                values, tokens = scores[0].topk(self.beam)
                for k in range(self.beam):
                    candidates.append((h.score + values[k].item(), b, int(tokens[k])))
            candidates.sort(reverse=True)
            old = beams
            beams = []
            for score, b, token in candidates[: self.beam]:
                new = Hypothesis(old[b].tokens + [token], float(score), states[b], token == self.end)
                if new.done:
                    finished.append(new)
                else:
                    beams.append(new)
            if len(beams) == 0 or len(finished) >= self.beam:
                break
        if len(finished) == 0:
            finished = beams
        chosen = self.best(finished)
        return chosen.tokens, self.normalized(chosen)


def main():
    torch.manual_seed(11)
    search = torch.jit.script(BeamSearch(Step(12, 8), 0, 1))
    results = []
    with torch.no_grad():
        for limit in (1, 4, 12):
            tokens, score = search(limit)
            results.append([tokens, round(score, 4)])
    return results
