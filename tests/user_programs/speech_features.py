"""Log-mel features with deltas and normalization per utterance: windows, Fourier transforms, filter banks made in script."""

import math
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def mel(frequency: float) -> float:
    return 2595.0 * math.log10(1.0 + frequency / 700.0)


@torch.jit.script
def filter_bank(filters: int, bins: int, rate: int) -> Tensor:
    top = 2595.0 * math.log10(1.0 + rate / 2 / 700.0)
    points = torch.linspace(0.0, top, filters + 2, dtype=torch.float64)
    hertz = 700.0 * (torch.pow(10.0, points / 2595.0) - 1.0)
    frequencies = torch.linspace(0, rate // 2, bins, dtype=torch.float64)
    slopes = hertz.unsqueeze(0) - frequencies.unsqueeze(1)
    widths = hertz[1:] - hertz[:-1]
    down = -slopes[:, :-2] / widths[:-1]
    up = slopes[:, 2:] / widths[1:]
    return torch.max(torch.zeros(1, dtype=torch.float64), torch.min(down, up)).float()


class Features(nn.Module):
    window: Tensor

    def __init__(self, rate: int = 800, size: int = 64, hop: int = 16, filters: int = 8, dither: Optional[float] = None):
        super().__init__()
        self.size, self.hop, self.dither = size, hop, dither
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("bank", filter_bank(filters, size // 2 + 1, rate))
        self.eps = 1e-6

    def spectrum(self, x: Tensor) -> Tensor:
        padded = F.pad(x.unsqueeze(1), [self.size // 2, self.size // 2], mode="reflect").squeeze(1)
        frames = padded.unfold(-1, self.size, self.hop) * self.window
        return torch.fft.rfft(frames).abs().square()

    @staticmethod
    def delta(x: Tensor, n: int = 2) -> Tensor:
        scale = 2.0 * sum([i * i for i in range(1, n + 1)])
        padded = F.pad(x.transpose(1, 2), (n, n), mode="replicate")
        kernel = torch.arange(-n, n + 1, dtype=x.dtype).view(1, 1, -1).repeat(padded.size(1), 1, 1)
        return (F.conv1d(padded, kernel, groups=padded.size(1)) / scale).transpose(1, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> List[Tensor]:
        if self.dither is not None:
            x = x + self.dither * torch.randn_like(x)
        emphasized = torch.cat((x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]), dim=1)
        features = torch.log(self.spectrum(emphasized) @ self.bank + self.eps)
        features = torch.cat([features, self.delta(features)], -1)
        out: List[Tensor] = []
        sizes: List[int] = lengths.tolist()
        for f, n in zip(features, sizes):
            frames = n // self.hop + 1
            f = f[:frames]
            std, mean = torch.std_mean(f, dim=0, unbiased=False, keepdim=True)
            out.append((f - mean) / (std + 1e-5))
        return out


def main():
    torch.manual_seed(0)
    features = torch.jit.script(Features())
    noisy = torch.jit.script(Features(dither=0.01))
    t = torch.arange(160, dtype=torch.float32) / 800
    x = torch.stack([torch.sin(2 * math.pi * 50 * t), torch.sin(2 * math.pi * 200 * t * t)]) + 0.1 * torch.randn(2, 160)
    a = features(x, torch.tensor([160, 80]))
    b = noisy(x, torch.tensor([160, 160]))
    return [features.bank, a, [m.shape[0] for m in b], b[0][:, 0]]
