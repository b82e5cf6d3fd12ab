"""Message passing on graphs in coordinate form: scatter by index_add and scatter_reduce, attention with segment softmax, pooling per graph."""

from typing import List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def segment_softmax(scores: Tensor, index: Tensor, n: int) -> Tensor:
    width = scores.size(1)
    expanded = index[:, None].expand(-1, width)
    top = torch.full((n, width), -1e9, dtype=scores.dtype).scatter_reduce(0, expanded, scores, "amax", include_self=True)
    e = (scores - top[index]).exp()
    total = torch.zeros(n, width, dtype=scores.dtype).scatter_add(0, expanded, e)
    return e / total[index].clamp(min=1e-9)


class GraphConvolution(nn.Module):
    def __init__(self, inside: int, outside: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inside, outside))
        self.bias = nn.Parameter(torch.zeros(outside))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor, edges: Tensor, weights: Optional[Tensor] = None) -> Tensor:
        n = x.size(0)
        source, target = edges[0], edges[1]
        loops = torch.arange(n, device=x.device)
        source, target = torch.cat((source, loops)), torch.cat((target, loops))
        w = torch.ones(source.numel()) if weights is None else torch.cat([weights, torch.ones(n)])
        degree = torch.zeros(n).index_add_(0, target, w)
        norm = degree.pow(-0.5)
        norm[torch.isinf(norm)] = 0
        coefficient = norm[source] * w * norm[target]
        messages = (x @ self.weight)[source] * coefficient.unsqueeze(-1)
        return torch.zeros(n, messages.size(1)).index_add(0, target, messages) + self.bias


class GraphAttention(nn.Module):
    __constants__ = ["heads", "outside"]

    def __init__(self, inside: int, outside: int, heads: int):
        super().__init__()
        self.linear = nn.Linear(inside, heads * outside, bias=False)
        self.left = nn.Parameter(torch.randn(heads, outside) * 0.3)
        self.right = nn.Parameter(torch.randn(heads, outside) * 0.3)
        self.heads, self.outside = heads, outside

    def forward(self, x: Tensor, edges: Tensor) -> Tuple[Tensor, Tensor]:
        h = self.linear(x).view(-1, self.heads, self.outside)
        source, target = edges.unbind(0)
        scores = F.leaky_relu((h * self.left).sum(-1)[source] + (h * self.right).sum(-1)[target], 0.2)
        alpha = segment_softmax(scores, target, x.size(0))
        out = torch.zeros_like(h).index_add_(0, target, h[source] * alpha[..., None])
        return out.reshape(x.size(0), -1), alpha


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = GraphConvolution(4, 8)
        self.attention = GraphAttention(8, 3, 2)
        self.read = nn.Linear(12, 2)

    def forward(self, x: Tensor, edges: Tensor, graph: Tensor) -> Tuple[Tensor, Tensor]:
        h = F.elu(self.convolution(x, edges))
        h, alpha = self.attention(h, edges)
        count = int(graph.max()) + 1
        sizes = torch.bincount(graph, minlength=count)
        mean = torch.zeros(count, h.size(1)).index_add_(0, graph, h) / sizes.unsqueeze(1)
        top = torch.stack([h[graph == g].max(0)[0] for g in range(count)])
        return F.log_softmax(self.read(torch.cat([mean, top], -1)), dim=-1), alpha


def main():
    torch.manual_seed(6)
    net = torch.jit.script(Net())
    x = torch.randn(7, 4, requires_grad=True)
    edges = torch.tensor([[0, 1, 2, 0, 3, 4, 5, 6, 5], [1, 2, 0, 2, 4, 3, 6, 5, 4]])
    graph = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    y, alpha = net(x, edges, graph)
    F.nll_loss(y, torch.tensor([0, 1])).backward()
    weighted = net.convolution(x.detach(), edges, torch.linspace(0.1, 1, 9))
    return [y.detach(), alpha.detach(), x.grad, net.attention.left.grad, weighted.detach()]
