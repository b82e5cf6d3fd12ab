"""Shortest paths, order of dependencies, union-find and spanning trees with script classes and dictionaries."""

from typing import Dict, List, Optional, Tuple

import torch


@torch.jit.script
class Heap:
    def __init__(self):
        self.items: List[Tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.items)

    def push(self, priority: float, item: int):
        self.items.append((priority, item))
        i = len(self.items) - 1
        while i > 0:
            parent = (i - 1) // 2
            if self.items[parent][0] <= self.items[i][0]:
                break
            self.items[parent], self.items[i] = self.items[i], self.items[parent]
            i = parent

    def pop(self) -> Tuple[float, int]:
        top = self.items[0]
        last = self.items.pop()
        if len(self.items) > 0:
            self.items[0] = last
            i = 0
            while 2 * i + 1 < len(self.items):
                child = 2 * i + 1
                if child + 1 < len(self.items) and self.items[child + 1][0] < self.items[child][0]:
                    child += 1
                if self.items[i][0] <= self.items[child][0]:
                    break
                self.items[i], self.items[child] = self.items[child], self.items[i]
                i = child
        return top


@torch.jit.script
class DisjointSets:
    def __init__(self, n: int):
        self.parent = [i for i in range(n)]
        self.rank = [0] * n

    def find(self, x: int) -> int:
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a: int, b: int) -> bool:
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        if self.rank[a] == self.rank[b]:
            self.rank[a] += 1
        return True


@torch.jit.script
def dijkstra(edges: Dict[int, List[Tuple[int, float]]], source: int, n: int) -> Tuple[List[float], List[Optional[int]]]:
    distance = [float("inf") for _ in range(n)]
    previous: List[Optional[int]] = [None for _ in range(n)]
    distance[source] = 0.0
    heap = Heap()
    heap.push(0.0, source)
    while len(heap) > 0:
        d, u = heap.pop()
        if d > distance[u]:
            continue
        if u not in edges:
            continue
        for v, w in edges[u]:
            if d + w < distance[v]:
                distance[v] = d + w
                previous[v] = u
                heap.push(d + w, v)
    return distance, previous


@torch.jit.script
def kruskal(edges: List[Tuple[float, int, int]], n: int) -> Tuple[float, List[Tuple[int, int]]]:
    sets = DisjointSets(n)
    total = 0.0
    tree: List[Tuple[int, int]] = []
    for w, a, b in sorted(edges):
        if sets.union(a, b):
            total += w
            tree.append((a, b))
    return total, tree


@torch.jit.script
def topological(needs: Dict[str, List[str]]) -> List[str]:
    waiting: Dict[str, int] = {}
    users: Dict[str, List[str]] = {}
    for name, deps in needs.items():
        waiting[name] = len(deps)
        for dep in deps:
            if dep not in users:
                users[dep] = torch.jit.annotate(List[str], [])
            users[dep].append(name)
            waiting.setdefault(dep, len(needs[dep]) if dep in needs else 0)
    ready: List[str] = []
    for k in waiting.keys():
        if waiting[k] == 0:
            ready.append(k)
    order: List[str] = []
    while len(ready) > 0:
        ready.sort()
        name = ready.pop(0)
        order.append(name)
        if name in users:
            for user in users[name]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    ready.append(user)
    if len(order) != len(waiting):
        raise ValueError("there is a cycle among " + str(len(waiting) - len(order)) + " names")
    return order


@torch.jit.script
def floyd(weights: torch.Tensor) -> torch.Tensor:
    d = weights.clone()
    for k in range(d.size(0)):
        d = torch.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def main():
    edges = {0: [(1, 4.0), (2, 1.0)], 1: [(3, 1.0)], 2: [(1, 2.0), (3, 5.0)], 3: [(4, 3.0)]}
    weights = torch.full((5, 5), float("inf"))
    for u, out in edges.items():
        for v, w in out:
            weights[u, v] = w
    weights.fill_diagonal_(0)
    try:
        topological({"a": ["b"], "b": ["a"]})
        cycle = "none"
    except Exception as e:
        cycle = "cycle among 2" if "there is a cycle among 2 names" in str(e) else str(e)
    return [
        dijkstra(edges, 0, 6),
        kruskal([(3.0, 0, 1), (1.0, 1, 2), (2.0, 0, 2), (4.0, 2, 3), (1.5, 1, 3)], 4),
        topological({"app": ["lib", "log"], "lib": ["base"], "log": ["base"], "base": []}),
        floyd(weights),
        cycle,
    ]
