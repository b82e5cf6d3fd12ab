"""An encoder written from scratch: heads, masks, relative positions, two kinds of feed-forward, an embedding shared with the output."""

import math
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float = 0.0, span: int = 4):
        super().__init__()
        assert width % heads == 0
        self.heads, self.size = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.span = span
        self.relative = nn.Embedding(2 * span + 1, heads)

    def split(self, x: Tensor) -> Tensor:
        b, t, _ = x.size()
        return x.view(b, t, self.heads, self.size).transpose(1, 2)

    def bias(self, t: int) -> Tensor:
        p = torch.arange(t)
        distance = (p[None, :] - p[:, None]).clamp(-self.span, self.span) + self.span
        return self.relative(distance).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x: Tensor, padding: Optional[Tensor] = None, causal: bool = False) -> Tuple[Tensor, Tensor]:
        q, k, v = [self.split(p) for p in self.qkv(x).chunk(3, dim=-1)]
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.size)
        t = x.size(1)
        scores = scores + self.bias(t)
        if padding is not None:
            scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        if causal:
            mask = torch.ones(t, t, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(mask, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        y = torch.matmul(self.dropout(weights), v).transpose(1, 2).contiguous()
        return self.out(y.flatten(2)), weights.mean(1)


class GatedForward(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, gated: bool):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, 0.1)
        if gated:
            self.forward_net = GatedForward(width, 2 * width)
        else:
            self.forward_net = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, padding: Optional[Tensor], causal: bool) -> Tuple[Tensor, Tensor]:
        y, weights = self.attention(self.norm1(x), padding, causal=causal)
        x = x + y
        return x + self.forward_net(self.norm2(x)), weights


class Encoder(nn.Module):
    maps: Dict[str, Tensor]

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.register_buffer("positions", self.sinusoids(32, width))
        self.blocks = nn.ModuleList([Block(width, heads, i % 2 == 0) for i in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.scale = math.sqrt(width)
        self.maps = torch.jit.annotate(Dict[str, Tensor], {})

    @staticmethod
    def sinusoids(length: int, width: int) -> Tensor:
        position = torch.arange(length).float().unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        return table

    def forward(self, tokens: Tensor, lengths: Optional[List[int]] = None, causal: bool = False) -> Tensor:
        t = tokens.shape[1]
        x = self.embedding(tokens) * self.scale + self.positions[:t]
        padding: Optional[Tensor] = None
        if lengths is not None:
            steps = torch.arange(t).expand(len(lengths), t)
            padding = steps >= torch.tensor(lengths).unsqueeze(1)
        for i, block in enumerate(self.blocks):
            x, weights = block(x, padding, causal)
            self.maps[f"block{i}"] = weights
        return F.linear(self.norm(x), self.embedding.weight)

    @torch.jit.export
    def attention_entropy(self) -> Dict[str, float]:
        out: Dict[str, float] = {}
        for name, w in self.maps.items():
            out[name] = round(1e4 * float(-(w * (w + 1e-9).log()).sum(-1).mean())) / 1e4
        return out


def main():
    torch.manual_seed(2)
    encoder = torch.jit.script(Encoder(20, 16, 4, 3).eval())
    tokens = torch.randint(0, 20, (2, 7))
    logits = encoder(tokens, [7, 4])
    loss = F.cross_entropy(logits[:, :-1].reshape(-1, 20), tokens[:, 1:].reshape(-1))
    loss.backward()
    grads = {n: p.grad.abs().sum() for n, p in encoder.named_parameters() if n.endswith("bias") or "relative" in n}
    entropy = encoder.attention_entropy()
    with torch.no_grad():
        return [logits.detach(), loss.detach(), grads, entropy, encoder(tokens, causal=True)[:, 0]]
