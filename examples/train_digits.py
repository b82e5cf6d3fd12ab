"""Trains a network on noisy seven-segment digits, with a progress bar, and draws the curve of the loss.

    python examples/train_digits.py [curve.svg] [model.pt]
"""

import sys

import torchjit as torch
from torchjit import nn
from torchjit.nn import functional as F

SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgcde", "abc", "abcdefg", "abcdfg"]
STROKES = {"a": (1, 3, 2, 9), "b": (2, 8, 6, 9), "c": (6, 8, 10, 9), "d": (9, 3, 10, 9), "e": (6, 3, 10, 4), "f": (2, 3, 6, 4), "g": (5, 3, 6, 9)}


def digits(n):
    labels = torch.randint(0, 10, (n,))
    pictures = 0.4 * torch.randn(n, 1, 12, 12)
    for i, digit in enumerate(labels.tolist()):
        for s in SEGMENTS[digit]:
            top, left, bottom, right = STROKES[s]
            pictures[i, 0, top:bottom, left:right] += 1.0
    return pictures, labels


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.classes = nn.Linear(16 * 9, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classes(self.features(x).flatten(1))


def progress(step, steps, loss):
    done = 30 * step // steps
    end = "\n" if step == steps else ""
    print(f"\r[{'#' * done}{'.' * (30 - done)}] {step:3}/{steps} loss {loss:.3f}", end=end, flush=True)


def draw(losses, path):
    """The curve as an SVG picture, 600 by 300 points."""
    top = max(losses)
    points = " ".join(f"{40 + 540 * i / (len(losses) - 1):.1f},{270 - 240 * v / top:.1f}" for i, v in enumerate(losses))
    with open(path, "w") as f:
        f.write(
            '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300" font-family="sans-serif" font-size="12">'
            '<rect width="600" height="300" fill="white"/><path d="M40 20V270H590" fill="none" stroke="black"/>'
            f'<text x="5" y="34">{top:.2f}</text><text x="15" y="274">0</text><text x="540" y="290">{len(losses)} steps</text>'
            f'<polyline points="{points}" fill="none" stroke="steelblue" stroke-width="2"/></svg>\n'
        )


def main():
    curve, saved = (sys.argv[1:] + ["digits_loss.svg", "digits.pt"][len(sys.argv) - 1 :])[:2]
    torch.manual_seed(0)
    model = torch.jit.script(DigitNet())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=120)
    losses = []
    for step in range(120):
        x, y = digits(64)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        progress(step + 1, 120, losses[-1])
    model.eval()
    with torch.no_grad():
        x, y = digits(1000)
        right = (model(x).argmax(1) == y).float().mean().item()
    draw(losses, curve)
    model.save(saved)
    print(f"{right:.1%} of 1000 new pictures are recognized; the curve is in {curve}, the model in {saved}")


if __name__ == "__main__":
    main()
