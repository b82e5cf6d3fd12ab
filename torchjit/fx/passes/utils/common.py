"""Parts of graphs as modules, and whether two graphs are the same."""

from __future__ import annotations

from typing import Any

from torchjit import nn
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.passes.utils.matcher_utils import SubgraphMatcher

__all__ = ["HolderModule", "lift_subgraph_as_module", "compare_graphs"]


@compatibility(is_backward_compatible=False)
class HolderModule(nn.Module):
    """A module that has what a dictionary names."""

    def __init__(self, d: dict[str, Any]) -> None:
        super().__init__()
        for name, value in d.items():
            self.add_module(name, value)


@compatibility(is_backward_compatible=False)
def lift_subgraph_as_module(gm: GraphModule, subgraph: Graph, class_name: str = "GraphModule") -> GraphModule:
    """A graph of targets of a module as a module that has what the graph uses of that one."""
    submodule = HolderModule({})
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        source: Any = gm
        target: Any = submodule
        *owners, name = node.target.split(".")
        for owner in owners:
            source = getattr(source, owner)
            if not hasattr(target, owner):
                target.add_module(owner, HolderModule({}))
            target = getattr(target, owner)
        setattr(target, name, getattr(source, name))
    return GraphModule(submodule, subgraph, class_name)


@compatibility(is_backward_compatible=False)
def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs are the same but for names."""
    matches = SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)
    return len(matches) > 0
