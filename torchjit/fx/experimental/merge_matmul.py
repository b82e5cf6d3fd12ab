"""Products with one matrix, made as one product."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import torchjit as torch
from torchjit.fx._symbolic_trace import symbolic_trace
from torchjit.fx.node import Node
from torchjit.fx.passes.tools_common import legalize_graph


def split_result_tensors(result: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The rows of a product of joined tensors that belong to each of them."""
    if isinstance(result, torch.fx.Proxy):
        sizes = [0] * len(inputs)
    else:
        sizes = [x.shape[0] for x in inputs]
    return torch.split(result, sizes)


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Whether a node may need another one; True where that cannot be seen within search_depth steps."""
    if a == b:
        return True
    if not a.all_input_nodes:
        return False
    if search_depth == 0:
        return True
    return any(may_depend_on(arg, b, search_depth - 1) for arg in a.all_input_nodes)


def are_nodes_independent(nodes: list[Node]) -> bool:
    """Whether none of the nodes may need another."""
    return not any(may_depend_on(a, b) or may_depend_on(b, a) for a, b in itertools.combinations(nodes, 2))


def _merge(gm: torch.fx.GraphModule, products: list[Node], right: Any) -> None:
    """Has products with one right side, a node or the path of an attribute, made as one."""
    left = [node.args[0] for node in products]
    with gm.graph.inserting_before(products[0]):
        if isinstance(right, str):
            right = gm.graph.get_attr(right)
        joined = gm.graph.call_function(torch.cat, (left,))
        product = gm.graph.call_function(torch.matmul, (joined, right))
        parts = gm.graph.call_function(split_result_tensors, (product, left))
        results = [gm.graph.call_function(operator.getitem, (parts, i)) for i in range(len(products))]
    for old, new in zip(products, results, strict=True):
        old.replace_all_uses_with(new)
        gm.graph.erase_node(old)


def merge_matmul(in_mod: torch.nn.Module) -> torch.fx.GraphModule:
    """A module whose products (torch.matmul) with the same right side are one product, where none of them needs another."""
    gm = symbolic_trace(in_mod)
    by_right: dict[Any, list[Node]] = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.matmul:
            right = node.args[1]
            by_right.setdefault(right.target if right.op == "get_attr" else right, []).append(node)
    for right, products in by_right.items():
        if len(products) > 1 and are_nodes_independent(products):
            _merge(gm, products, right)
            legalize_graph(gm)
    gm.recompile()
    gm.graph.lint()
    return gm
