"""Parts of graphs that do not depend on arguments, computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.fx import Graph, GraphModule, Node, map_arg, symbolic_trace
from torchjit.fx.passes.split_module import split_module

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module whose constant part runs when it is first called; its results are attributes from then on."""

    def __init__(
        self,
        root: torch.nn.Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module: GraphModule | None = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run: bool = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Computes the constant part."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        assert not self.has_folding_been_run
        self.has_folding_been_run = True
        folded = self.const_subgraph_module()
        made: Any = self._parameter(folded) if not isinstance(folded, tuple) else None
        if made is None:
            made = torch.nn.ParameterList([self._parameter(x) for x in folded])
        setattr(self, self.fx_const_folded_attrs_name, made)

    def _parameter(self, value: Any) -> torch.nn.Parameter:
        if isinstance(value, torch.Tensor):
            return torch.nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad)
        return torch.nn.Parameter(torch.tensor([value], device=self.device_for_folded_attrs), requires_grad=False)


def _inline_module(gm: GraphModule, inline_mod_name: str) -> None:
    """Puts the nodes of a submodule in the place of its call."""
    inlined = dict(gm.named_modules())[inline_mod_name]
    assert isinstance(inlined, GraphModule)
    call = next((n for n in gm.graph.nodes if n.op == "call_module" and n.target == inline_mod_name), None)
    assert call is not None
    values: dict[Node, Any] = {}
    given = iter(call.args)
    with gm.graph.inserting_before(call):
        for node in inlined.graph.nodes:
            if node.op == "placeholder":
                values[node] = call.kwargs[node.target] if node.target in call.kwargs else next(given)
            elif node.op == "output":
                call.replace_all_uses_with(map_arg(node.args[0], values.__getitem__))
            else:
                values[node] = gm.graph.node_copy(node, values.__getitem__)
    gm.graph.eliminate_dead_code()


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """A name like name that the module has no attribute of."""
    base, number = name, 0
    while hasattr(mod_traced, name):
        number += 1
        name = f"{base}_{number}"
    return name


def split_const_subgraphs(
    module: torch.nn.Module | GraphModule,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """The module with everything that depends on attributes alone computed once; nodes that skip_folding_node_fn takes are not."""
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant: set[Node] = set()
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output") or node.op != "get_attr" and not set(node.all_input_nodes) <= constant:
            continue
        if node.is_impure() or skip_folding_node_fn and skip_folding_node_fn(node):
            continue
        constant.add(node)
    if all(node.op == "get_attr" for node in constant):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constant else 1)
    const_gm, call = split.submod_0, next(n for n in split.graph.nodes if n.target == "submod_0")
    for placeholder, given in zip([n for n in const_gm.graph.nodes if n.op == "placeholder"], call.args, strict=True):
        with const_gm.graph.inserting_before(placeholder):
            attribute = const_gm.graph.create_node("get_attr", given.target)
        attribute.meta = placeholder.meta.copy()
        placeholder.replace_all_uses_with(attribute)
        const_gm.graph.erase_node(placeholder)
    for node in const_gm.graph.nodes:
        if node.op == "call_module":
            split.add_submodule(node.target, const_gm.get_submodule(node.target))
    name = get_unique_attr_name_in_module(split, "_FX_CONST_FOLDED_ATTRS")
    setattr(split, name, torch.nn.Parameter(torch.randn(1)))  # its place, until the values are there
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    split.graph.erase_node(call)
    if hasattr(split, "submod_1"):
        for node in split.submod_1.graph.nodes:
            if node.op == "call_module":
                split.add_submodule(node.target, split.submod_1.get_submodule(node.target))
        _inline_module(split, "submod_1")
    return FoldedGraphModule(split, split.graph, const_gm.graph, name, device_for_folded_attrs)
