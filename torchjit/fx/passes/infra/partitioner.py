"""Parts of a graph, as large as can be, of nodes that something supports."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable

from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, _get_qualified_name
from torchjit.fx.passes.operator_support import OperatorSupportBase
from torchjit.fx.passes.utils.fuser_utils import fuse_by_partitions, leaves_and_returns

logger: logging.Logger = logging.getLogger(__name__)


class Partition:
    """Some nodes with a number."""

    def __init__(self, id: int | None = None, nodes: Iterable[Node] | None = None) -> None:
        self.id = id
        self.nodes: set[Node] = set(nodes) if nodes is not None else set()

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node) -> None:
        """Adds a node."""
        self.nodes.add(node)

    def remove_node(self, node: Node) -> None:
        """Removes a node."""
        self.nodes.remove(node)

    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


# What computes nothing, so that a part of nothing else is worth nothing.
_NOT_COMPUTING = {"torch.ops.aten.view", "_operator.getitem"}


class CapabilityBasedPartitioner:
    """Puts the nodes that are supported into parts without dependencies that lead out of a part and back into it."""

    def __init__(self, graph_module: GraphModule, operator_support: OperatorSupportBase, allows_single_node_partition: bool = False) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition

    def propose_partitions(self) -> list[Partition]:
        """The parts."""
        submodules = dict(self.graph_module.named_modules())
        numbers = itertools.count()
        part_of: dict[Node, Partition] = {}
        for node in reversed(list(self.graph_module.graph.nodes)):
            if node.op in ("call_module", "call_function", "call_method") and self.operator_support.is_node_supported(submodules, node):
                self._place(node, part_of, numbers)
        self._move_getitems(part_of)
        parts = list({id(p): p for p in part_of.values()}.values())
        if not self.allows_single_node_partition:
            parts = [p for p in parts if sum(map(_computes, p.nodes)) > 1]
        return sorted((p for p in parts if p.nodes), key=lambda p: p.id or 0)

    def _place(self, node: Node, part_of: dict[Node, Partition], numbers: itertools.count[int]) -> None:
        """Adds a node to the first part of its users that can have it, and further ones to that."""
        home: Partition | None = None
        for other in {id(part_of[user]): part_of[user] for user in node.users if user in part_of}.values():
            joined = other.nodes | {node} | (home.nodes if home is not None else set())
            if leaves_and_returns(joined, part_of):
                continue
            home = home or other
            home.nodes |= joined
            for member in joined:
                part_of[member] = home
        if home is None:
            part_of[node] = Partition(next(numbers), [node])

    def _move_getitems(self, part_of: dict[Node, Partition]) -> None:
        """Puts what takes an item of a result where the result is made."""
        for node in self.graph_module.graph.nodes:
            if node.op == "call_function" and _get_qualified_name(node.target) == "_operator.getitem" and isinstance(node.args[0], Node):
                producer = part_of.get(node.args[0])
                if part_of.get(node) is producer:
                    continue
                if node in part_of:
                    part_of.pop(node).remove_node(node)
                if producer is not None:
                    producer.add_node(node)
                    part_of[node] = producer

    def fuse_partitions(self, partitions: list[Partition]) -> GraphModule:
        """The module with a submodule fused_N in the place of each part."""
        return fuse_by_partitions(self.graph_module, [list(p.nodes) for p in partitions])

    def partition_and_fuse(self) -> GraphModule:
        """The module with submodules in the place of the parts."""
        return self.fuse_partitions(self.propose_partitions())


def _computes(node: Node) -> bool:
    if node.op != "call_function":
        return False
    name = _get_qualified_name(node.target)
    return name not in _NOT_COMPUTING and name.rpartition(".")[0] not in _NOT_COMPUTING
