"""Finding a graph in another one."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.node import Node

__all__ = ["SubgraphMatcher", "InternalMatch"]


@compatibility(is_backward_compatible=False)
@dataclass
class InternalMatch:
    """One place where a pattern was found."""

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    # What the pattern's parameters and results are in the graph.
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


def _leaves(values: Iterable[Any]) -> list[Any]:
    """What lists, tuples and dictionaries hold, in order."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += _leaves(value)
        elif isinstance(value, dict):
            found += _leaves(value.values())
        else:
            found.append(value)
    return found


@compatibility(is_backward_compatible=False)
class SubgraphMatcher:
    """Finds where the nodes of a pattern stand in a graph, from its results upwards; its parameters stand for anything."""

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
    ) -> None:
        """Raises ValueError for an empty pattern, AssertionError for one with nodes that nobody uses."""
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output":
                assert len(node.users) > 0, "SubgraphMatcher cannot be initialized with an pattern with dead code"
        self.pattern_placeholder_nodes: list[Node] = [n for n in pattern.nodes if n.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        self.pattern_anchors: list[Node] = [output]
        if not match_output:
            # A result that the pattern itself uses is found on the way up.
            self.pattern_anchors = [n for n in output.all_input_nodes if len(n.users) == 1]

    def _nodes_are_equal(self, pn: Node, gn: Node) -> bool:
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if pn.op != gn.op:
            return False
        return pn.op in ("placeholder", "output") or pn.target == gn.target

    def _is_contained(self, nodes_map: dict[Node, Node]) -> bool:
        """Whether nothing outside uses what the pattern only computes on the way."""
        found = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            pn in self.pattern_returning_nodes or all(user in found for user in gn.users) for gn, pn in found.items()
        )

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            nodes = {gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")}
            if not nodes & taken:
                kept.append(match)
                taken |= nodes
        return kept

    def _match_args(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        if isinstance(pn, Node):
            # A parameter stands for anything, a number too.
            return self._match_nodes(pn, gn, match) if isinstance(gn, Node) else self._match_constant(pn, gn, match)
        return type(gn) is type(pn) and gn == pn

    def _match_constant(self, pn: Node, gn: Any, match: InternalMatch) -> bool:
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if pn.op != "placeholder" or self.match_placeholder:
            return False
        match.nodes_map[pn] = gn
        return True

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch) -> bool:
        """Whether gn and what it is made of are pn and what that is made of; if so, match has them."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if any(gn is found for found in match.nodes_map.values()) or not self._nodes_are_equal(pn, gn):
            return False
        before = match.nodes_map.copy()
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        wanted, given = _leaves([pn.args, pn.kwargs]), _leaves([gn.args, gn.kwargs])
        if len(wanted) == len(given) and all(self._match_args(p, g, match) for p, g in zip(wanted, given, strict=True)):
            return True
        match.nodes_map = before
        return False

    def match(self, graph: Graph) -> list[InternalMatch]:
        """Every place where the pattern stands, in the order of the graph."""
        candidates: dict[Node, list[Node]] = defaultdict(list)
        for anchor in self.pattern_anchors:
            for node in graph.nodes:
                if self._nodes_are_equal(anchor, node):
                    candidates[anchor].append(node)
        choices = list(candidates.items())
        matches: list[InternalMatch] = []

        def backtrack(index: int, match: InternalMatch) -> None:
            if index == len(choices):
                match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor, nodes = choices[index]
            for node in nodes:
                tried = copy.copy(match)
                if self._match_nodes(anchor, node, tried):
                    backtrack(index + 1, tried)

        if len(choices) == len(self.pattern_anchors) and choices:
            backtrack(0, InternalMatch(anchors=self.pattern_anchors))
        matches = [m for m in matches if self._is_contained(m.nodes_map)]
        return self._remove_overlapping_matches(matches) if self.remove_overlapping_matches else matches
