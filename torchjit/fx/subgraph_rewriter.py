"""Replacing a pattern in a graph."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx._symbolic_trace import symbolic_trace
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["Match", "replace_pattern"]


@compatibility(is_backward_compatible=True)
class Match(NamedTuple):
    """One place where a pattern was found."""

    # Where it was found from, in the pattern.
    anchor: Node
    # Nodes of the pattern -> nodes of the graph.
    nodes_map: dict[Node, Node]


def _submodule(module: torch.nn.Module, target: str) -> torch.nn.Module | None:
    try:
        return module.get_submodule(target)
    except AttributeError:
        return None


def _replace_submodules(gm: GraphModule, replacement: torch.nn.Module) -> None:
    """Gives gm the submodules that its new nodes call. Raises RuntimeError for one that replacement lacks too."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _submodule(gm, node.target) is not None:
            continue
        if _submodule(replacement, node.target) is None:
            raise RuntimeError(
                'Attempted to create a "',
                node.op,
                f'" node during subgraph rewriting with target {node.target}, but the referenced submodule does not exist in '
                "either the original GraphModule `gm` or the replacement GraphModule `replacement`",
            )
        gm.add_submodule(node.target, copy.deepcopy(getattr(replacement, node.target)))


@compatibility(is_backward_compatible=True)
def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replaces what pattern does, wherever gm does it, by what replacement does. Both are functions or modules that can be
    traced, with equally many parameters and results. gm is changed; the places are returned.

    >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> _ = torch.fx.replace_pattern(traced, lambda x: torch.relu(x), lambda x: torch.neg(x))
    >>> traced(torch.ones(1))
    tensor([0.])
    """
    graph = gm.graph
    pattern_graph = symbolic_trace(pattern).graph
    replacement_graph = symbolic_trace(replacement).graph
    matches = SubgraphMatcher(pattern_graph).match(graph)
    parameters = [n for n in replacement_graph.nodes if n.op == "placeholder"]
    replaced: dict[Any, Node] = {}
    for match in matches:
        assert len(match.placeholder_nodes) == len(parameters)
        val_map = {
            parameter: replaced.get(given, given) if isinstance(given, Node) else given
            for parameter, given in zip(parameters, match.placeholder_nodes, strict=True)
        }
        results: Any
        with graph.inserting_before(_first_user(graph, match)):
            results = graph.graph_copy(replacement_graph, val_map)
        results = (results,) if isinstance(results, Node) else results
        assert len(match.returning_nodes) == len(results)
        for old, new in zip(match.returning_nodes, results, strict=True):
            old.replace_all_uses_with(new)
            replaced[old] = new
        for node in reversed(pattern_graph.nodes):
            if node.op not in ("placeholder", "output"):
                graph.erase_node(match.nodes_map[node])
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _replace_submodules(gm, replacement)
    return [Match(anchor=m.anchors[0], nodes_map=m.nodes_map) for m in matches]


def _first_user(graph: Graph, match: InternalMatch) -> Node:
    users = {user for node in match.returning_nodes for user in node.users}
    assert users, "The returning_nodes should have at least one user node"
    return next(n for n in graph.nodes if n in users)
