"""Causal dilated convolutions that run on a whole signal or chunk by chunk with the same result, states kept in the module."""

from typing import Dict, List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class CausalConvolution(nn.Module):
    state: Optional[Tensor]

    def __init__(self, channels: int, kernel: int, dilation: int):
        super().__init__()
        self.convolution = nn.Conv1d(channels, 2 * channels, kernel, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.left = (kernel - 1) * dilation
        self.state = None

    def forward(self, x: Tensor, streaming: bool = False) -> Tensor:
        if streaming:
            state = self.state
            if state is None:
                state = x.new_zeros((x.size(0), x.size(1), self.left))
            padded = torch.cat([state, x], 2)
            self.state = padded[:, :, padded.size(2) - self.left :]
        else:
            padded = F.pad(x, (self.left, 0))
        a, b = self.convolution(padded).chunk(2, 1)
        return x + self.residual(torch.tanh(a) * torch.sigmoid(b))

    def reset(self) -> None:
        self.state = None


class Stack(nn.Module):
    def __init__(self, channels: int, dilations: List[int]):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleDict({f"d{d}": CausalConvolution(channels, 3, d) for d in dilations})
        self.last = nn.Sequential(nn.PReLU(channels), nn.Conv1d(channels, 1, 1))
        self.seen = torch.jit.Attribute(0, int)

    def forward(self, x: Tensor, streaming: bool = False) -> Tensor:
        x = self.first(x)
        for name, layer in self.layers.items():
            x = layer(x, streaming)
        if streaming:
            self.seen += x.size(-1)
        return self.last(x)

    @torch.jit.export
    def reset(self):
        for layer in self.layers.values():
            layer.reset()
        self.seen = 0

    @torch.jit.export
    def receptive_field(self) -> Dict[str, int]:
        total = 1
        out: Dict[str, int] = {}
        for name, layer in self.layers.items():
            total += layer.left
            out[name] = total
        return out


def main():
    torch.manual_seed(12)
    stack = torch.jit.script(Stack(4, [1, 2, 4]))
    x = torch.randn(2, 1, 20)
    with torch.no_grad():
        whole = stack(x)
        pieces = [stack(p, True) for p in x.split([3, 1, 9, 7], dim=2)]
        seen = stack.seen
        joined = torch.cat(pieces, 2)
        same = bool(torch.allclose(joined, whole, atol=1e-5))
        stack.reset()
        again = stack(x[..., :2], streaming=True)
    return [whole, same, seen, again, stack.seen, stack.receptive_field()]
