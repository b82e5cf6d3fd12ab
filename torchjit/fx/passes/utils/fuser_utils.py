"""Nodes of a graph moved into a submodule."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.fx.passes.tools_common import legalize_graph
from torchjit.fx.passes.utils.common import lift_subgraph_as_module
from torchjit.fx.proxy import Proxy

__all__ = ["topo_sort", "validate_partition", "fuse_as_graphmodule", "insert_subgm", "erase_nodes", "fuse_by_partitions"]


@compatibility(is_backward_compatible=False)
def topo_sort(nodes: list[Node]) -> list[Node]:
    """The nodes, each behind those among them that it needs."""
    waiting = {node: sum(arg in nodes for arg in node.all_input_nodes) for node in nodes}
    ready, order = deque(node for node in nodes if waiting[node] == 0), []
    while ready:
        node = ready.popleft()
        order.append(node)
        for user in node.users:
            if user in waiting:
                waiting[user] -= 1
                if waiting[user] == 0:
                    ready.append(user)
    assert len(nodes) == len(order), "topological sorted nodes doesn't have same length as input nodes"
    return order


def leaves_and_returns(nodes: set[Node], part_of: Mapping[Node, Any]) -> bool:
    """Whether something outside of a set of nodes needs one of them and is needed by one. A part is computed as a whole."""
    waiting = [user for node in nodes for user in node.users if user not in nodes]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in nodes:
            return True
        if node in seen:
            continue
        whole = part_of[node].nodes if node in part_of else {node}
        seen |= whole
        waiting += [user for member in whole for user in member.users]
    return False


@compatibility(is_backward_compatible=False)
def validate_partition(partition: list[Node]) -> bool:
    """Whether nothing outside of the nodes needs one of them and is needed by one."""
    return not leaves_and_returns(set(partition), {})


@compatibility(is_backward_compatible=False)
def fuse_as_graphmodule(gm: GraphModule, nodes: list[Node], module_name: str) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Nodes as a module of their own, with the nodes that are its inputs and those that are its outputs.

    The nodes are in an order in which they can be computed. Raises AssertionError where they are not the module's, or no part that can be fused.
    """
    for node in nodes:
        assert node.graph.owning_module is gm, f"{node} doesn't belong to passed in graph module {gm._get_name()}"
        assert not node._erased, f"{node} has been removed from owning graph"
        assert node in gm.graph.nodes, f"{node} is not found in graph module {gm._get_name()}"
    assert validate_partition(nodes), "Invalid partition, found dependency cycles"
    subgraph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def copied(x: Node) -> Node:
        if x in nodes:
            return copies[x]
        if x not in inputs:
            inputs[x] = subgraph.placeholder(x.name, type_expr=x.type)
            inputs[x].meta = dict(x.meta)
        return inputs[x]

    for node in nodes:
        copies[node] = subgraph.node_copy(node, copied)
    outputs = {node: copies[node] for node in nodes if any(user not in nodes for user in node.users)}
    values = tuple(outputs.values())
    subgraph.output(values[0] if len(values) == 1 else values)
    subgraph.lint()
    return lift_subgraph_as_module(gm, subgraph, class_name=module_name), tuple(inputs), tuple(outputs)


@compatibility(is_backward_compatible=False)
def insert_subgm(gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...], orig_outputs: tuple[Node, ...]) -> GraphModule:
    """Adds a submodule, called by the name of its class, whose results take the place of nodes. The order of nodes may need legalize_graph."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    call = gm.graph.call_module(name, args=orig_inputs, kwargs=None)
    if len(orig_outputs) == 1:
        orig_outputs[0].replace_all_uses_with(call)
        return gm
    results: Any = Proxy(call)
    for i, output in enumerate(orig_outputs):
        output.replace_all_uses_with(results[i].node)
    return gm


@compatibility(is_backward_compatible=False)
def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Removes nodes; those that use others come later in the list."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


@compatibility(is_backward_compatible=False)
def fuse_by_partitions(gm: GraphModule, partitions: list[list[Node]]) -> GraphModule:
    """The module with a submodule fused_N in the place of each list of nodes."""
    for i, nodes in enumerate(partitions):
        ordered = topo_sort(nodes)
        sub_gm, inputs, outputs = fuse_as_graphmodule(gm, ordered, f"fused_{i}")
        insert_subgm(gm, sub_gm, inputs, outputs)
        erase_nodes(gm, ordered)
    return legalize_graph(gm)
