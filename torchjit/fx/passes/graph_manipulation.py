"""Changes and sizes of graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, Target, map_arg
from torchjit.fx.passes.shape_prop import ShapeProp

__all__ = ["replace_target_nodes_with", "size_bytes", "get_size_of_all_nodes", "get_tensor_meta", "get_size_of_node"]


@compatibility(is_backward_compatible=False)
def replace_target_nodes_with(fx_module: GraphModule, old_op: str, old_target: Target, new_op: str, new_target: Target) -> None:
    """Has nodes of one operation and target do another."""
    new_graph = Graph()
    val_map: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args = map_arg(node.args, lambda n: val_map[n])
            kwargs = map_arg(node.kwargs, lambda n: val_map[n])
            val_map[node] = new_graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            val_map[node] = new_graph.node_copy(node, lambda n: val_map[n])
    fx_module.graph = new_graph


@compatibility(is_backward_compatible=False)
class size_bytes(NamedTuple):  # noqa: N801
    """How much memory a node's result takes, and that with its parameters."""

    output_size: int
    total_size: int


@compatibility(is_backward_compatible=False)
def get_size_of_all_nodes(fx_module: GraphModule, args: list[torch.Tensor] | None = None) -> None:
    """Notes in every node's size_bytes how much memory it takes; with args, shapes are found by running the graph."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


@compatibility(is_backward_compatible=False)
def get_tensor_meta(node: Node) -> Any:
    """The shape and type that ShapeProp noted. Raises RuntimeError where there is none."""
    tensor_meta = node.meta.get("tensor_meta")
    if not tensor_meta:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return tensor_meta


@compatibility(is_backward_compatible=False)
def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """How much memory a node takes."""
    total = 0
    if node.op == "call_module":
        submodule = dict(fx_module.named_modules())[node.target]
        total += sum(p.nelement() * p.element_size() for _, p in submodule.named_parameters())
    meta = get_tensor_meta(node)
    output = torch.tensor([], dtype=meta.dtype).element_size() * meta.shape.numel()
    return size_bytes(output, total + output)
