"""A graph as several, each a submodule of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, map_arg
from torchjit.fx.proxy import Proxy

__all__ = ["Partition", "split_module"]


@compatibility(is_backward_compatible=True)
class Partition:
    """One of the parts: its nodes, what it takes from and gives to others, and its graph."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name: str = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.partitions_dependent_on: dict[str, None] = {}
        self.partition_dependents: dict[str, None] = {}
        self.graph: Graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
            f"partitions depenent on: {self.partitions_dependent_on},\n parition dependents: {self.partition_dependents}"
        )


@compatibility(is_backward_compatible=True)
def split_module(
    m: GraphModule,
    root_m: torch.nn.Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
) -> GraphModule:
    """A module that calls submodules submod_N, one for each number that split_callback gives to nodes.

    qualname_map gets the former paths of what the submodules have. With keep_original_order the calls stand in the order in
    which the numbers first occur. Raises RuntimeError where two parts would need each other.
    """
    split = _Split(m)
    for node in m.graph.nodes:
        split.assign(node, split_callback)
    order = split.sorted_partitions()
    split.fill(qualname_map)
    return split.joined([p for p in split.partitions if p in order] if keep_original_order else order)


class _Split:
    """The parts of a module while they are made."""

    def __init__(self, m: GraphModule) -> None:
        self.module = m
        self.partitions: dict[str, Partition] = {}
        self.part_of: dict[Node, str] = {}
        self.nodes: dict[str, Node] = {node.name: node for node in m.graph.nodes}

    def assign(self, node: Node, split_callback: Callable[[Node], int]) -> None:
        """Gives a node its part and notes what that takes from others."""
        if node.op in ("placeholder", "get_attr"):
            return
        name = None
        if node.op != "output":
            name = str(split_callback(node))
            self.partitions.setdefault(name, Partition(name)).node_names.append(node.name)
            self.part_of[node] = name
        map_arg(node.args, lambda used: self._note_use(used, name))
        map_arg(node.kwargs, lambda used: self._note_use(used, name))

    def _note_use(self, used: Node, user: str | None) -> None:
        maker = self.part_of.get(used)
        if maker == user:
            return
        if maker is not None:
            self.partitions[maker].outputs.setdefault(used.name)
            if user is not None:
                self.partitions[maker].partition_dependents.setdefault(user)
        if user is not None:
            self.partitions[user].inputs.setdefault(used.name)
            if maker is not None:
                self.partitions[user].partitions_dependent_on.setdefault(maker)

    def sorted_partitions(self) -> list[str]:
        """The parts, each behind those that it takes from."""
        waiting = {name: set(p.partitions_dependent_on) for name, p in self.partitions.items()}
        ready = [name for name, needs in waiting.items() if not needs]
        order = []
        while ready:
            name = ready.pop()
            order.append(name)
            for dependent in self.partitions[name].partition_dependents:
                waiting[dependent].discard(name)
                if not waiting[dependent]:
                    ready.append(dependent)
        if len(order) != len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return order

    def fill(self, qualname_map: dict[str, str] | None) -> None:
        """Makes the graphs of the parts."""
        for partition in self.partitions.values():
            for name in partition.inputs:
                old = self.nodes[name]
                placeholder = partition.graph.placeholder(name, type_expr=old.type)
                placeholder.meta = old.meta.copy()
                partition.environment[old] = placeholder
        for node in self.module.graph.nodes:
            if node in self.part_of:
                self._copy(node, self.partitions[self.part_of[node]], qualname_map)

    def _copy(self, node: Node, partition: Partition, qualname_map: dict[str, str] | None) -> None:
        target = node.target
        if node.op == "call_module":
            assert isinstance(target, str)
            found: Any = self.module.get_submodule(target)
            target = target.replace(".", "_")
            partition.targets[target] = found
            if qualname_map is not None:
                qualname_map[f"{partition.submod_name}.{target}"] = str(node.target)
        new = partition.graph.create_node(
            node.op, target, map_arg(node.args, partition.environment.__getitem__),
            map_arg(node.kwargs, partition.environment.__getitem__), type_expr=node.type,
        )  # fmt: skip
        new.meta = node.meta.copy()
        partition.environment[node] = new

    def joined(self, order: list[str]) -> GraphModule:
        """The module that calls the parts in order."""
        graph = Graph()
        env: dict[str, Node] = {}
        attributes: dict[str, Any] = {}
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                default = node.args[0] if node.args else inspect.Signature.empty
                env[node.name] = graph.placeholder(node.target, type_expr=node.type, default_value=default)
                env[node.name].meta = node.meta.copy()
            elif node.op == "get_attr":
                env[node.name] = graph.get_attr(node.target)
                env[node.name].meta = node.meta.copy()
                owner, _, name = node.target.rpartition(".")
                attributes[node.target] = getattr(self.module.get_submodule(owner), name)
        for part in order:
            self._call(self.partitions[part], graph, env, attributes)
        for node in self.module.graph.nodes:
            if node.op == "output":
                graph.output(map_arg(node.args[0], lambda n: env[n.name]))
        return GraphModule(attributes, graph)

    def _call(self, partition: Partition, graph: Graph, env: dict[str, Node], attributes: dict[str, Any]) -> None:
        values = tuple(partition.environment[self.nodes[name]] for name in partition.outputs)
        partition.graph.output(values[0] if len(values) == 1 else values)
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        result = graph.call_module(partition.submod_name, tuple(env[name] for name in partition.inputs))
        if len(values) == 1:
            env[next(iter(partition.outputs))] = result
            return
        proxy = Proxy(result)
        for i, name in enumerate(partition.outputs):
            env[name] = proxy[i].node  # type: ignore[index]
