"""Graphs of modules and what they need."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any


class DiGraph:
    """A directed graph whose nodes have attributes, in the order in which they came."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self._next: dict[str, dict[str, None]] = {}
        self._before: dict[str, dict[str, None]] = {}

    def add_node(self, n: str, **kwargs: Any) -> None:
        """Adds a node, or attributes to one that is there."""
        self.nodes.setdefault(n, {}).update(kwargs)
        self._next.setdefault(n, {})
        self._before.setdefault(n, {})

    def add_edge(self, u: str, v: str) -> None:
        """Adds an edge and its nodes."""
        self.add_node(u)
        self.add_node(v)
        self._next[u][v] = self._before[v][u] = None

    def successors(self, n: str) -> Iterator[str]:
        """What n has edges to. Raises ValueError where n is no node."""
        return iter(self._of(self._next, n))

    def predecessors(self, n: str) -> Iterator[str]:
        """What has edges to n. Raises ValueError where n is no node."""
        return iter(self._of(self._before, n))

    def _of(self, edges: dict[str, dict[str, None]], n: str) -> dict[str, None]:
        if n not in edges:
            raise ValueError(f"The node {n} is not in the digraph.")
        return edges[n]

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """The edges as pairs."""
        return ((u, v) for u, following in self._next.items() for v in following)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __contains__(self, n: object) -> bool:
        return n in self.nodes

    def forward_transitive_closure(self, src: str) -> set[str]:
        """The nodes that edges lead to from src, itself included."""
        return self._reached(self._next, src)

    def backward_transitive_closure(self, src: str) -> set[str]:
        """The nodes from which edges lead to src, itself included."""
        return self._reached(self._before, src)

    def _reached(self, edges: dict[str, dict[str, None]], start: str) -> set[str]:
        found, waiting = {start}, deque([start])
        while waiting:
            for n in self._of(edges, waiting.popleft()):
                if n not in found:
                    found.add(n)
                    waiting.append(n)
        return found

    def all_paths(self, src: str, dst: str) -> str:
        """The part of the graph between two nodes, in the language of Graphviz."""
        between = self.forward_transitive_closure(src) & self.backward_transitive_closure(dst)
        part = DiGraph()
        for u, v in self.edges:
            if u in between and v in between:
                part.add_edge(u, v)
        return part.to_dot()

    def first_path(self, dst: str) -> list[str]:
        """Nodes that lead to dst from one that nothing leads to."""
        path = [dst]
        while True:
            before = next((n for n in self.predecessors(path[0]) if n not in path), None)
            if before is None:
                return path
            path.insert(0, before)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        edges = "\n".join(f'"{u}" -> "{v}";' for u, v in self.edges)
        return f"digraph G {{\nrankdir = LR;\nnode [shape=box];\n{edges}\n}}\n"
