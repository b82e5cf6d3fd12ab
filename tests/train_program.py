"""Trains three small models, eager and compiled, and prints the first losses and the accuracy: `train_program.py torch` recorded data/train.txt."""

import importlib
import math
import sys
import warnings
from typing import Dict, List, Optional, Tuple

warnings.simplefilter("ignore")
torch = importlib.import_module(sys.argv[1])
nn = importlib.import_module(sys.argv[1] + ".nn")
F = importlib.import_module(sys.argv[1] + ".nn.functional")
optim = importlib.import_module(sys.argv[1] + ".optim")
Tensor = torch.Tensor
torch.set_num_threads(1)

SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgcde", "abc", "abcdefg", "abcdfg"]
STROKES = {"a": (1, 3, 2, 9), "b": (2, 8, 6, 9), "c": (6, 8, 10, 9), "d": (9, 3, 10, 9), "e": (6, 3, 10, 4), "f": (2, 3, 6, 4), "g": (5, 3, 6, 9)}


def digits(n):
    """n noisy pictures (n, 1, 12, 12) of seven-segment digits, each moved a little, and the digits."""
    labels = torch.randint(0, 10, (n,))
    pictures = 0.25 * torch.randn(n, 1, 12, 12)
    for i, digit in enumerate(labels.tolist()):
        dy, dx = torch.randint(-1, 2, (2,)).tolist()
        for s in SEGMENTS[digit]:
            top, left, bottom, right = STROKES[s]
            pictures[i, 0, top + dy : bottom + dy, left + dx : right + dx] += 1.0
    return pictures, labels


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.b1 = nn.BatchNorm2d(8)
        self.c2 = nn.Conv2d(8, 16, 3, padding=1)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(16 * 9, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(self.drop(torch.flatten(x, 1)))


TEXT = "the quick brown fox jumps over the lazy dog. the dog sleeps. the fox runs. "


class CharLM(nn.Module):
    def __init__(self, vocabulary: int):
        super().__init__()
        self.emb = nn.Embedding(vocabulary, 12)
        self.rnn = nn.LSTM(12, 32, batch_first=True)
        self.out = nn.Linear(32, vocabulary)

    def forward(self, x: Tensor, h: Optional[Tuple[Tensor, Tensor]] = None) -> Tensor:
        y, _ = self.rnn(self.emb(x), h)
        return self.out(y)


def characters(n):
    """n pieces of the text (n, 24) as numbers, and the characters that follow each one."""
    letters = sorted(set(TEXT))
    numbers = torch.tensor([letters.index(c) for c in TEXT * 4])
    starts = torch.randint(0, len(TEXT) * 2, (n,)).tolist()
    return torch.stack([numbers[s : s + 24] for s in starts]), torch.stack([numbers[s + 1 : s + 25] for s in starts])


class Majority(nn.Module):
    """Which of three symbols occurs most; 3 is padding."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 16, padding_idx=3)
        self.register_buffer("pos", 0.1 * torch.sin(torch.arange(12.0)[None, :, None] * torch.arange(1.0, 17.0)))
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), 2)
        self.head = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        pad = x == 3
        h = self.enc(self.emb(x) + self.pos[:, : x.size(1)], None, pad)
        keep = (~pad).unsqueeze(-1)
        return self.head((h * keep).sum(1) / keep.sum(1))


def sequences(n):
    x = torch.randint(0, 3, (n, 11))
    lengths = torch.randint(2, 6, (n, 1)) * 2 + 1
    x = x.masked_fill(torch.arange(11) >= lengths, 3)
    counts = torch.stack([(x == k).sum(1) for k in range(3)], 1).float() - 0.1 * torch.arange(3.0)
    return x, counts.argmax(1)


def train(name, model, data, make, steps, compiled):
    torch.manual_seed(7)
    model = model()
    if compiled:
        model = torch.jit.script(model)
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        x, y = data(32)
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        x, y = data(200)
        right = (model(x).argmax(-1) == y).float().mean().item()
    kind = "compiled" if compiled else "eager"
    print(f"{name} {kind} " + " ".join(f"{v:.5f}" for v in losses[:20]))
    print(f"{name}-accuracy {kind} {right:.3f}")


def main():
    for compiled in (False, True):
        train("digits", DigitNet, digits, lambda p: optim.Adam(p, 3e-3), 60, compiled)
        train("characters", lambda: CharLM(len(set(TEXT))), characters, lambda p: optim.Adam(p, 1e-2), 120, compiled)
        train("majority", Majority, sequences, lambda p: optim.AdamW(p, 3e-3), 150, compiled)


main()
