"""A graph as submodules, by the tags of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, map_arg
from torchjit.fx.passes.tools_common import NodeList as NodeList
from torchjit.fx.passes.utils.common import HolderModule, lift_subgraph_as_module
from torchjit.fx.proxy import Proxy

__all__ = ["getattr_recursive", "setattr_recursive", "Component", "split_by_tags"]


@compatibility(is_backward_compatible=False)
def getattr_recursive(obj: Any, name: str) -> Any:
    """The attribute at a path, None where a part of the path is missing."""
    for part in name.split("."):
        if not hasattr(obj, part):
            return None
        obj = getattr(obj, part)
    return obj


@compatibility(is_backward_compatible=False)
def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Sets the attribute at a path."""
    owner, _, name = attr.rpartition(".")
    for part in owner.split(".") if owner else []:
        obj = getattr(obj, part)
    setattr(obj, name, value)


@compatibility(is_backward_compatible=False)
@dataclass
class Component:
    """A part while it is made: its graph, its name, and what it takes and gives."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)  # in the part
    orig_inputs: list[Node] = field(default_factory=list)  # in the graph that is split
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


@compatibility(is_backward_compatible=False)
def split_by_tags(gm: GraphModule, tags: list[str]) -> GraphModule:
    """A module that calls a submodule for each tag, named and ordered as the list says, of the nodes whose attribute tag it is.

    Every node that calls something has a tag. Raises AssertionError where a node has none of these or needs a node of a later tag.
    """
    return _Split(gm, tags).joined()


class _Split:
    """The parts while they are made."""

    def __init__(self, gm: GraphModule, tags: list[str]) -> None:
        self.module = gm
        self.parts = [Component(Graph(), i, tag) for i, tag in enumerate(tags)]
        self.by_tag = {part.name: part for part in self.parts}
        self.part_of: dict[Node, Component] = {}
        self.copies: dict[Node, Node] = {}
        self.used_in_main: dict[Node, None] = {}  # attributes that the module itself returns
        self.graph = Graph()
        self.env: dict[Node, Node] = {}

    def joined(self) -> GraphModule:
        """The module that calls the parts."""
        output = self._assign()
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                self.env[node] = self.graph.placeholder(node.name, type_expr=node.type)
                self.env[node].meta = dict(node.meta)
        for node in self.used_in_main:
            self.env[node] = self.graph.get_attr(node.target)
        attributes: dict[str, Any] = {}
        for part in self.parts:
            attributes[part.name] = self._call(part)
        self.graph.output(map_arg(output.args[0], lambda n: self.env[n]))
        root = HolderModule(attributes)
        for node in self.used_in_main:
            self._lend(root, str(node.target))
        return GraphModule(root, self.graph)

    def _assign(self) -> Node:
        """Copies every node into its part; returns the output."""
        output = None
        for node in self.module.graph.nodes:
            if node.op == "output":
                assert output is None, "Multiple output nodes found in graph"
                output = node
                map_arg(node.args[0], self._note_output)
            elif node.op not in ("placeholder", "get_attr"):
                tag = getattr(node, "tag", None)
                assert tag in self.by_tag, f"node {node.format_node()} has the tag {tag!r}, which is none of {list(self.by_tag)}"
                part = self.part_of[node] = self.by_tag[tag]
                self.copies[node] = part.graph.node_copy(node, lambda x, part=part: self._input(x, part))  # type: ignore[misc]
        assert output is not None, "Graph had no output node!"
        return output

    def _input(self, x: Node, part: Component) -> Node:
        """What a part has for a node that it uses."""
        if x.op == "get_attr":
            if x not in part.getattr_maps:
                part.getattr_maps[x] = part.graph.get_attr(x.target, type_expr=x.type)
            return part.getattr_maps[x]
        if x.op != "placeholder" and self.part_of[x] is part:
            return self.copies[x]
        if x.op != "placeholder":
            maker = self.part_of[x]
            assert maker.order < part.order, f"node {x.name} of {maker.name} is used in {part.name}, which comes earlier"
            self._give(x, maker)
        if x not in part.orig_inputs:
            part.orig_inputs.append(x)
            placeholder = part.graph.placeholder(x.name, type_expr=x.type)
            placeholder.meta = dict(x.meta)
            part.input_placeholders.append(placeholder)
        return part.input_placeholders[part.orig_inputs.index(x)]

    def _give(self, node: Node, maker: Component) -> None:
        if node not in maker.orig_outputs:
            maker.orig_outputs.append(node)

    def _note_output(self, x: Node) -> None:
        if x.op == "get_attr":
            self.used_in_main.setdefault(x)
        elif x.op != "placeholder":
            self._give(x, self.part_of[x])

    def _call(self, part: Component) -> GraphModule:
        values = tuple(self.copies[node] for node in part.orig_outputs)
        part.graph.output(values[0] if len(values) == 1 else values)
        part.gm = lift_subgraph_as_module(self.module, part.graph)
        call = self.graph.call_module(part.name, args=tuple(self.env[node] for node in part.orig_inputs), kwargs=None)
        if len(values) == 1:
            self.env[part.orig_outputs[0]] = call
        else:
            results: Any = Proxy(call)
            for i, node in enumerate(part.orig_outputs):
                self.env[node] = results[i].node
        return part.gm

    def _lend(self, root: torch.nn.Module, path: str) -> None:
        """Gives the root what the module has at a path."""
        owner: Any = root
        *owners, name = path.split(".")
        for part in owners:
            if not hasattr(owner, part):
                owner.add_module(part, HolderModule({}))
            owner = getattr(owner, part)
        setattr(owner, name, getattr_recursive(self.module, path))
