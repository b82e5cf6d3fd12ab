"""A ranking model: bags of embeddings by feature name, pairwise interactions, towers built from a configuration."""

from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def tower(sizes: List[int], last: Optional[nn.Module] = None) -> nn.Sequential:
    layers: List[nn.Module] = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    if last is not None:
        layers[-1] = last
    return nn.Sequential(*layers)


class Bags(nn.Module):
    def __init__(self, tables: Dict[str, int], width: int):
        super().__init__()
        self.tables = nn.ModuleDict({name: nn.EmbeddingBag(rows, width, mode="mean" if rows > 10 else "sum") for name, rows in tables.items()})

    def forward(self, features: Dict[str, Tuple[Tensor, Tensor]]) -> List[Tensor]:
        out: List[Tensor] = []
        for name, table in self.tables.items():
            if name in features:
                values, offsets = features[name]
                out.append(table(values, offsets))
            else:
                any_offsets = list(features.values())[0][1]
                out.append(torch.zeros(any_offsets.numel(), table.embedding_dim))
        return out


class Interaction(nn.Module):
    def __init__(self, fields: int):
        super().__init__()
        rows, columns = [], []
        for i in range(fields):
            for j in range(i):
                rows.append(i)
                columns.append(j)
        self.register_buffer("rows", torch.tensor(rows), persistent=False)
        self.register_buffer("columns", torch.tensor(columns), persistent=False)

    def forward(self, dense: Tensor, sparse: List[Tensor]) -> Tensor:
        stacked = torch.stack([dense] + sparse, dim=1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        return torch.cat([dense, products[:, self.rows, self.columns]], dim=1)


class Ranker(nn.Module):
    def __init__(self, dense: int, tables: Dict[str, int], width: int):
        super().__init__()
        self.bottom = tower([dense, 8, width])
        self.bags = Bags(tables, width)
        fields = len(tables) + 1
        self.interaction = Interaction(fields)
        self.top = tower([width + fields * (fields - 1) // 2, 8, 1], nn.Sigmoid())

    def forward(self, dense: Tensor, features: Dict[str, Tuple[Tensor, Tensor]]) -> Tensor:
        x = torch.log1p(F.relu(dense))
        return self.top(self.interaction(self.bottom(x), self.bags(features))).squeeze(-1)

    @torch.jit.export
    def rank(self, dense: Tensor, features: Dict[str, Tuple[Tensor, Tensor]], k: int) -> List[Tuple[int, float]]:
        scores = self.forward(dense, features)
        order = torch.argsort(scores, descending=True)[:k]
        return [(int(i), round(1e4 * float(scores[i])) / 1e4) for i in order]


def main():
    torch.manual_seed(14)
    ranker = torch.jit.script(Ranker(5, {"user": 20, "genre": 6, "tag": 30}, 4))
    dense = torch.rand(3, 5) * 4 - 1
    features = {
        "user": (torch.tensor([3, 7, 19]), torch.tensor([0, 1, 2])),
        "genre": (torch.tensor([0, 1, 5, 2]), torch.tensor([0, 2, 2])),
    }
    y = ranker(dense, features)
    F.binary_cross_entropy(y, torch.tensor([1.0, 0.0, 1.0])).backward()
    grads = {n: p.grad.abs().sum() for n, p in ranker.named_parameters() if p.grad is not None}
    return [y.detach(), grads, ranker.rank(dense, features, 2), sorted(ranker.state_dict().keys())]
