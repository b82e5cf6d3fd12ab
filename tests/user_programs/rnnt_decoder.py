"""A transducer's greedy decoder: prediction network with optional state, joint network, symbols per frame limited."""

from typing import List, Optional, Tuple

import torch
import torch.nn as nn
from torch import Tensor

State = Tuple[Tensor, Tensor]


class Prediction(nn.Module):
    def __init__(self, symbols: int, width: int, layers: int):
        super().__init__()
        self.embedding = nn.Embedding(symbols, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, layers)
        self.norm = nn.LayerNorm(width)
        self.start = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, label: Optional[Tensor], state: Optional[State]) -> Tuple[Tensor, State]:
        if label is None:
            x = self.start
        else:
            x = self.embedding(label)
        if state is None:
            y, state = self.lstm(x)
        else:
            y, state = self.lstm(x, state)
        return self.norm(y), state


class Joint(nn.Module):
    def __init__(self, encoder: int, prediction: int, hidden: int, symbols: int):
        super().__init__()
        self.encoder = nn.Linear(encoder, hidden, bias=False)
        self.prediction = nn.Linear(prediction, hidden)
        self.out = nn.Sequential(nn.Tanh(), nn.Dropout(0.1), nn.Linear(hidden, symbols))

    def forward(self, f: Tensor, g: Tensor) -> Tensor:
        return self.out(self.encoder(f) + self.prediction(g))


class Greedy(nn.Module):
    blank: int
    limit: torch.jit.Final[int]

    def __init__(self, prediction: Prediction, joint: Joint, blank: int, limit: int):
        super().__init__()
        self.prediction = prediction
        self.joint = joint
        self.blank = blank
        self.limit = limit

    def forward(self, frames: Tensor, lengths: Tensor) -> Tuple[List[List[int]], List[List[int]]]:
        outputs: List[List[int]] = []
        times: List[List[int]] = []
        for n in range(frames.size(1)):
            labels, when = self.one(frames[: int(lengths[n]), n])
            outputs.append(labels)
            times.append(when)
        return outputs, times

    def one(self, x: Tensor) -> Tuple[List[int], List[int]]:
        labels: List[int] = []
        when: List[int] = []
        state: Optional[State] = None
        last: Optional[Tensor] = None
        g, new_state = self.prediction(last, state)
        for t in range(x.shape[0]):
            f = x[t].view(1, 1, -1)
            emitted = 0
            running = True
            while running and emitted < self.limit:
                k = int(self.joint(f, g)[0, 0].argmax().item())
                if k == self.blank:
                    running = False
                    continue
                labels.append(k)
                when.append(t)
                last, state = torch.tensor([[k]]), new_state
                g, new_state = self.prediction(last, state)
                emitted += 1
        return labels, when


def main():
    torch.manual_seed(5)
    model = Greedy(Prediction(6, 10, 2), Joint(7, 10, 9, 6), 0, 2).eval()
    scripted = torch.jit.script(model)
    frames = torch.randn(8, 3, 7) * 3
    with torch.no_grad():
        return [scripted(frames, torch.tensor([8, 5, 2])), scripted(frames[:1], torch.tensor([1, 0, 1]))]
