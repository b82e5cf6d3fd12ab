"""Which nodes of a graph a pattern of a backend configuration is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torchjit import nn
from torchjit.ao.quantization.backend_config import BackendConfig, BackendPatternConfig
from torchjit.fx import Graph, Node
from torchjit.nn.utils.parametrize import type_before_parametrizations


class MatchAllNode:
    """Stands in a pattern for what may be anything."""


@dataclass
class Match:
    """Nodes that are a pattern: `nodes` has its shape, with a node for each part and the last of the graph first."""

    config: BackendPatternConfig
    nodes: Any
    last: Node
    root: Node

    def flat(self) -> list[Node]:
        """The nodes, the last of the graph first."""
        return list(_flat(self.nodes))


def _flat(nodes: Any) -> Iterator[Node]:
    if isinstance(nodes, Node):
        yield nodes
    elif isinstance(nodes, tuple):
        for part in nodes:
            yield from _flat(part)


def _root(nodes: Any) -> Node:
    """The innermost of the nodes, which has the weight where there is one."""
    while not isinstance(nodes, Node):
        nodes = nodes[-1]
    return nodes


def _is(node: Node, pattern: Any, modules: dict[str, Any]) -> bool:
    """Whether a node is a call of a class of modules, of a function or of a method."""
    if isinstance(pattern, type) and issubclass(pattern, nn.Module):
        return node.op == "call_module" and type_before_parametrizations(modules[str(node.target)]) is pattern
    if callable(pattern):
        return node.op == "call_function" and node.target is pattern
    if node.op == "call_function" and node.target is getattr:
        return len(node.args) > 1 and node.args[1] == pattern
    return node.op == "call_method" and node.target == pattern


def _match(value: Any, pattern: Any, modules: dict[str, Any], inner: bool) -> Any:
    """The nodes of a pattern that ends with a value, in its shape; None where it is another. Inner nodes may have one use."""
    if pattern is MatchAllNode:
        return value
    if not isinstance(value, Node) or (inner and len(value.users) > 1):
        return None
    if not isinstance(pattern, tuple):
        return value if _is(value, pattern, modules) else None
    first, *before = pattern
    if not _is(value, first, modules) or len(before) != len(value.args):
        return None
    found = [_match(arg, part, modules, True) for arg, part in zip(value.args, before)]
    return None if any(part is None for part in found) else (value, *found)


def _length(pattern: Any) -> int:
    return sum(map(_length, pattern)) if isinstance(pattern, tuple) else 1


def find_matches(graph: Graph, modules: dict[str, Any], configs: list[BackendPatternConfig]) -> list[Match]:
    """The parts of a graph that are patterns, the last first: each node is in one at most, and longer patterns win."""
    ordered = sorted(configs, key=lambda config: -_length(config.pattern))
    found: list[Match] = []
    taken: set[Node] = set()
    for node in reversed(graph.nodes):
        if node.op in ("placeholder", "output", "get_attr") or node in taken:
            continue
        for config in ordered:
            nodes = _match(node, config.pattern, modules, False)
            if nodes is None or not taken.isdisjoint(_matched(nodes, config.pattern)):
                continue
            getter = config._root_node_getter or _root
            found.append(Match(config, nodes, node, getter(nodes)))
            taken.update(_matched(nodes, config.pattern))
            break
    return found


def _matched(nodes: Any, pattern: Any) -> Iterator[Node]:
    """The nodes that a pattern says something about."""
    if pattern is MatchAllNode:
        return
    if not isinstance(pattern, tuple):
        yield nodes
        return
    yield nodes[0]
    for part, inner in zip(nodes[1:], pattern[1:]):
        yield from _matched(part, inner)


def configs_by_class(backend_config: BackendConfig, attribute: str) -> dict[Any, Any]:
    """What the configurations of single classes have as an attribute, by class."""
    return {
        pattern: getattr(config, attribute)
        for pattern, config in backend_config.configs.items()
        if not isinstance(pattern, tuple) and getattr(config, attribute) is not None
    }


def reference_classes(backend_config: BackendConfig) -> dict[Any, Any]:
    """The classes that round their weights, by the classes of floats that they stand for."""
    return {
        config.root_module: config.reference_quantized_module
        for config in backend_config.configs.values()
        if config.root_module is not None and config.reference_quantized_module is not None
    }
