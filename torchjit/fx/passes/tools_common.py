"""What passes that hand parts of a graph to other machines share."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, _get_qualified_name

__all__ = ["get_acc_ops_name", "get_node_target", "is_node_output_tensor", "FxNetAccFusionsFinder", "legalize_graph"]

Tensors = tuple[torch.Tensor] | list[torch.Tensor]
TensorOrTensors = torch.Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


@compatibility(is_backward_compatible=False)
def get_acc_ops_name(k: Any) -> str:
    """The name of a target: a string as it is, others with their module."""
    if isinstance(k, str):
        return k
    if "acc_ops" in (k.__module__ or ""):
        return f"acc_ops.{k.__name__}"
    name = _get_qualified_name(k)
    return name if "." in name else f"{k.__module__}.{name}"


@compatibility(is_backward_compatible=False)
def get_node_target(submodules: Mapping[str, torch.nn.Module], node: Node) -> str:
    """What a node calls: the name of a method, of a function or of a module's class. Raises AssertionError for other nodes."""
    assert node.op in CALLABLE_NODE_OPS, f"Expect op types of call_module, call_method, call_function, but found {node.op}"
    if node.op == "call_module":
        module = submodules[str(node.target)]
        return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))
    return get_acc_ops_name(node.target)


@compatibility(is_backward_compatible=False)
def is_node_output_tensor(node: Node) -> bool:
    """Whether a node gives a tensor, as ShapeProp noted."""
    kind = node.meta.get("type", None)
    return kind is not None and issubclass(kind, torch.Tensor)


@compatibility(is_backward_compatible=False)
class FxNetAccFusionsFinder:
    """Finds the groups of nodes that belong together because what passes between them is no tensor.

    Called, it gives for each node that is in a group the group.
    """

    @dataclass
    class FusionGroup:
        """A group while it grows."""

        top_node_idx: int
        nodes: set[Node]
        inputs: set[Node]
        nodes_need_process: set[Node]

        def add_node(self, node: Node) -> None:
            """Makes a node part of the group."""
            if node in self.nodes:
                return
            self.nodes_need_process.add(node)
            self.nodes.add(node)
            self.inputs.discard(node)
            self.inputs.update(n for n in node.all_input_nodes if n.op in CALLABLE_NODE_OPS and n not in self.nodes)

    def __init__(self, module: GraphModule, acc_nodes: set[Node]) -> None:
        self.module = module
        self.nodes: list[Node] = list(module.graph.nodes)
        self.acc_nodes = acc_nodes

    def recursive_add_node(self, fusion_group: FusionGroup, inputs: Iterable[Node]) -> bool:
        """Adds what leads from the group's nodes to inputs, and reports whether one of them was reached."""
        for arg in inputs:
            if arg.op not in CALLABLE_NODE_OPS or self.nodes.index(arg) < fusion_group.top_node_idx:
                continue
            if arg in fusion_group.nodes or self.recursive_add_node(fusion_group, arg.all_input_nodes):
                fusion_group.add_node(arg)
                return True
        return False

    def __call__(self) -> dict[Node, set[Node]]:
        found: dict[Node, set[Node]] = {}
        for node in list(self.acc_nodes):
            if node.op in CALLABLE_NODE_OPS and "tensor_meta" not in node.meta and node not in found and node in self.acc_nodes:
                self._close(self._grown(node), found)
        return found

    def _grown(self, node: Node) -> FusionGroup:
        group = self.FusionGroup(self.nodes.index(node), {node}, set(node.all_input_nodes), {node})
        while group.nodes_need_process:
            node = group.nodes_need_process.pop()
            self.recursive_add_node(group, group.inputs)
            if "tensor_meta" not in node.meta:
                for user in node.users:
                    if user.op in CALLABLE_NODE_OPS and user not in group.nodes:
                        group.add_node(user)
                        self.recursive_add_node(group, group.inputs)
            for arg in node.all_input_nodes:
                if arg.op in CALLABLE_NODE_OPS and "tensor_meta" not in arg.meta and arg not in group.nodes:
                    group.add_node(arg)
                    group.top_node_idx = min(group.top_node_idx, self.nodes.index(arg))
                    self.recursive_add_node(group, group.inputs)
        return group

    def _close(self, group: FusionGroup, found: dict[Node, set[Node]]) -> None:
        if not group.nodes <= self.acc_nodes:
            self.acc_nodes -= group.nodes
            return
        whole = set(group.nodes)
        for node in group.nodes:
            whole |= found.get(node, set())
        for node in whole:
            found[node] = whole


@compatibility(is_backward_compatible=False)
def legalize_graph(gm: GraphModule) -> GraphModule:
    """Puts the nodes of a module's graph in an order in which each stands behind what it needs. Raises RuntimeError where they form a cycle."""
    waiting = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    ready = collections.deque(node for node, n in waiting.items() if n == 0)
    env: dict[Any, Any] = {}
    graph = Graph()
    while ready:
        node = ready.popleft()
        env[node] = graph.node_copy(node, lambda x: env[x])
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if len(env) < len(waiting):
        raise RuntimeError(f"Input graph has cycles, unable to add {[node for node, n in waiting.items() if n]}")
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm
