"""Splits a graph into parts for an accelerator and parts for the processor, by what the accelerator supports."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.fx.passes.graph_drawer import FxGraphDrawer
from torchjit.fx.passes.operator_support import OperatorSupportBase
from torchjit.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torchjit.fx.passes.split_utils import split_by_tags
from torchjit.fx.passes.tools_common import (
    CALLABLE_NODE_OPS,
    FxNetAccFusionsFinder,
    get_node_target,
    is_node_output_tensor,
)

__all__ = ["FxNetAccNodesFinder", "FxNetSplitterInternalError", "Subgraph", "SplitResult", "generate_inputs_for_submodules"]

Dependencies = dict[Node, set[Node]]


class _SplitterSettingBase:
    """What decides of a splitting: the least nodes of a part for the accelerator, and what may pass between parts. Command lines may say it."""

    def __init__(self) -> None:
        parser = argparse.ArgumentParser(add_help=False)
        parser.add_argument("--min_acc_module_size", type=int, default=1)
        parser.add_argument("--skip_fusion", default=False, action="store_true")
        parser.add_argument("--allow_non_tensor", default=False, action="store_true")
        found, _ = parser.parse_known_args()
        self.min_acc_module_size: int = found.min_acc_module_size
        self.skip_fusion: bool = found.skip_fusion
        self.allow_non_tensor: bool = found.allow_non_tensor


@compatibility(is_backward_compatible=False)
class FxNetAccNodesFinder:
    """Finds the nodes that run on the accelerator: those that it supports.

    Where allow_non_tensor is False, a node is left out that would take from, or give to, a node on the processor what is no tensor.
    """

    def __init__(self, module: GraphModule, operator_support: OperatorSupportBase, allow_non_tensor: bool) -> None:
        self.module: GraphModule = module
        self.operator_support: OperatorSupportBase = operator_support
        self.allow_non_tensor: bool = allow_non_tensor
        self.acc_nodes: set[Node] = set()

    def reduce_acc_nodes_non_tensor_input_helper(self, cpu_worklist: list[Node]) -> None:
        """Leaves out what uses nodes whose results are no tensors, and what uses the results of these that are none."""
        while cpu_worklist:
            for user in cpu_worklist.pop(0).users:
                if user in self.acc_nodes:
                    self.acc_nodes.remove(user)
                    if not is_node_output_tensor(user):
                        cpu_worklist.append(user)

    def reduce_acc_nodes_non_tensor_input(self) -> None:
        """Leaves out nodes that take from the processor what is no tensor."""
        nodes = self.module.graph.nodes
        self.reduce_acc_nodes_non_tensor_input_helper(
            [n for n in nodes if n.op in CALLABLE_NODE_OPS and n not in self.acc_nodes and not is_node_output_tensor(n)]
        )

    def reduce_acc_nodes_non_tensor_output(self) -> None:
        """Leaves out nodes that give to the processor what is no tensor."""
        while True:
            left = [n for n in self.acc_nodes if not is_node_output_tensor(n) and any(user not in self.acc_nodes for user in n.users)]
            if not left:
                return
            self.acc_nodes.difference_update(left)
            self.reduce_acc_nodes_non_tensor_input_helper(left)

    def __call__(self) -> set[Node]:
        submodules = dict(self.module.named_modules())
        self.acc_nodes = {
            n for n in self.module.graph.nodes if n.op in CALLABLE_NODE_OPS and self.operator_support.is_node_supported(submodules, n)
        }
        if not self.allow_non_tensor:
            self.reduce_acc_nodes_non_tensor_input()
            self.reduce_acc_nodes_non_tensor_output()
        return self.acc_nodes


@compatibility(is_backward_compatible=False)
class FxNetSplitterInternalError(Exception):
    """A graph that cannot be split."""


@compatibility(is_backward_compatible=False)
@dataclass
class Subgraph:
    """The nodes of a part, which is for the accelerator or not."""

    is_acc: bool
    nodes: list[Node]


@compatibility(is_backward_compatible=False)
class SplitResult(NamedTuple):
    """The module that calls the parts, what each of them was called with, and how the names of those for the processor begin."""

    split_module: GraphModule
    submodule_inputs: dict[str, Any]
    non_acc_submodule_prefix: str


@compatibility(is_backward_compatible=False)
def generate_inputs_for_submodules(model: torch.nn.Module, inputs: Sequence[Any], target_submodules: Iterable[str]) -> dict[str, Any]:
    """What submodules are called with when a module is called with inputs, by their names. No module may have two of the names."""
    found: dict[str, Any] = {}
    wanted = set(target_submodules)
    handles = [
        module.register_forward_pre_hook(lambda _module, given, name=name: found.__setitem__(name, given))
        for name, module in model.named_modules()
        if name in wanted
    ]
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


class _SplitterBase:
    """Splits a module: nodes that the accelerator supports are put into parts of their own as far as what they depend on lets them.

    A subclass may lower a part to a backend (`_lower_model_to_backend`) to see in a preview whether the backend takes it.
    """

    PCIe_BW = 100 * 2**30  # bytes a second

    def __init__(
        self, module: GraphModule, sample_input: Sequence[Any], operator_support: OperatorSupportBase, settings: _SplitterSettingBase,
        non_acc_submodule_name: str = "_run_on_cpu_",
    ) -> None:  # fmt: skip
        assert isinstance(module, GraphModule)
        self.module = module
        ShapeProp(self.module).propagate(*sample_input)
        self.settings, self.operator_support, self.sample_input = settings, operator_support, sample_input
        self.acc_nodes: set[Node] = FxNetAccNodesFinder(self.module, operator_support, settings.allow_non_tensor)()
        self.fusions: Dependencies = {} if settings.skip_fusion else FxNetAccFusionsFinder(module, self.acc_nodes)()
        self.deps: Dependencies = self.find_deps()
        self.update_deps_for_fusions()
        self.non_acc_submodule_name = non_acc_submodule_name
        self._node_submodule_map: dict[str, str] = {}
        self.tags: list[str] = []

    def get_node_submodule_map(self) -> dict[str, str]:
        """The names of the parts by the names of their nodes, once there are parts."""
        return self._node_submodule_map

    def find_deps(self) -> Dependencies:
        """For each node that calls something, those of its inputs that do."""
        return {
            n: {x for x in n.all_input_nodes if x.op in CALLABLE_NODE_OPS} for n in self.module.graph.nodes if n.op in CALLABLE_NODE_OPS
        }

    def update_deps_for_fusions(self) -> None:
        """Has the nodes of a group depend on what any of them does, and what depends on one of them on all."""
        for node, group in self.fusions.items():
            for other in group:
                self.deps[node].update(self.deps[other] - group)
                for user in other.users:
                    if user in self.deps and user not in group:
                        self.deps[user].add(node)

    # ---- what a backend does ----

    def _lower_model_to_backend(self, mod: GraphModule, inputs: Any) -> torch.nn.Module:
        """The module that the backend makes of a part: the part itself."""
        return mod

    def _find_culprit(self, mod: GraphModule, inputs: Any) -> str:
        """What in a part a backend failed at."""
        return "Unable to find a culprit because _find_culprit() function is not implemented."

    # ---- previews ----

    def _draw_graph_based_on_node_support(self, mod: GraphModule, supported_nodes: list[Node]) -> None:
        """Writes a drawing, in which nodes that the accelerator supports have another colour, to node_support.dot."""
        drawn = FxGraphDrawer(mod, "node_support").get_main_dot_graph()
        names = {n.name for n in supported_nodes}
        for node in drawn.get_nodes():
            node.set_fillcolor("AliceBlue" if node.get_name().strip('"') in names else "chartreuse1")
        drawn.write_raw("node_support.dot")

    def node_support_preview(self, dump_graph: bool = False) -> str:
        """Prints, and returns, what the accelerator supports of the graph and what it does not: targets with the types of their arguments."""
        submodules = dict(self.module.named_modules())
        supported: list[Node] = []
        found: tuple[dict[str, None], dict[str, None]] = ({}, {})
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            fits = self.operator_support.is_node_supported(submodules, node)
            if fits:
                supported.append(node)
            named = {k: types[0] for k, a in node.kwargs.items() if (types := _types_of([a]))}
            found[0 if fits else 1][f"{get_node_target(submodules, node)}: ({_types_of(node.args)}, {named})\n"] = None
        if dump_graph:
            self._draw_graph_based_on_node_support(self.module, supported)
        report = "\nSupported node types in the model:\n" + "".join(found[0]) + "\nUnsupported node types in the model:\n" + "".join(found[1])
        print(report)
        return report

    def split_preview(self, dump_graph: bool = False) -> str:
        """Prints, and returns, what parts there would be, and for those of the accelerator what passes in and out and whether a backend takes them."""
        report = ""
        subgraphs = self.put_nodes_into_subgraphs()
        report += f"Before removing small acc subgraphs, total {_counted(subgraphs)}\n"
        subgraphs = self.remove_small_acc_subgraphs(subgraphs)
        report += f"After removing small acc subgraphs, total {_counted(subgraphs)}\n"
        self.tag(subgraphs)
        module = self.split(remove_tag=True)
        if dump_graph:
            for name, drawn in FxGraphDrawer(module, "preview").get_all_dot_graphs().items():
                drawn.write_raw(f"{name}.dot")
        slowest: tuple[float, str] = (self.PCIe_BW, "")
        for node in module.graph.nodes:
            if node.op != "call_module":
                continue
            part = getattr(module, str(node.target))
            report += f"{node.target}: {sum(n.op in CALLABLE_NODE_OPS for n in part.graph.nodes)} node(s)\n"
        for node in module.graph.nodes:
            if node.op != "call_module" or "acc" not in str(node.target):
                continue
            part = getattr(module, str(node.target))
            report += f"\nProcessing acc submodule {node.target}\n"
            text, rate = self._preview(part, generate_inputs_for_submodules(module, self.sample_input, [str(node.target)])[str(node.target)])
            report += text
            if rate is not None and rate < slowest[0]:
                slowest = rate, str(node.target)
        report += f"\nTheoretical max qps (bounds by PCIe bandwidth) for this model is {slowest[0]}, bottleneck is submodule {slowest[1]}."
        print(report)
        return report

    def _preview(self, part: GraphModule, inputs: Any) -> tuple[str, float | None]:
        """What is said of a part for the accelerator, and how often a second its data could pass, None where they are no tensors."""
        report, sizes = "", []
        for what, values in (("inputs", inputs), ("outputs", None)):
            report += f"Checking {what}...\n"
            if values is None:
                values = part(*inputs)
                values = values if isinstance(values, (list, tuple)) else [values]
            if not all(isinstance(v, torch.Tensor) for v in values):
                return report + f"Not all {what} of this submodule are tensors!\n", None
            sizes.append(sum(v.element_size() * v.numel() for v in values))
        rate = self.PCIe_BW / max(*sizes, 1)
        report += (
            f"Total input size in bytes is {sizes[0]}, total output size in bytes is {sizes[1]}, theoretical max qps (bounds by PCIe bandwidth) "
            f"for this submodule is {rate}.\n"
        )
        try:
            self._lower_model_to_backend(part, inputs)(*inputs)
        except RuntimeError:
            return report + "Run into an error during lowering!\n" + self._find_culprit(part, inputs), rate
        return report + "Lowering and running succeed!\n", rate

    # ---- parts that grow ----

    def find_reverse_deps(self, tag_id: int | None = None) -> Dependencies:
        """For each node that calls something, what uses it, in parts before that of a number where one is given."""
        return {
            n: {u for u in n.users if u.op in CALLABLE_NODE_OPS and (tag_id is None or int(u.tag.split("_")[-1]) < tag_id)}
            for n in self.module.graph.nodes
            if n.op in CALLABLE_NODE_OPS
        }

    def update_reverse_deps_for_fusions(self, deps: Dependencies) -> None:
        """Has the nodes of a group be used by what uses any of them, and use what any of them uses."""
        for node, group in self.fusions.items():
            for other in group:
                deps[node].update(deps[other] - group)
                for used in other.all_input_nodes:
                    if used in deps and used not in group:
                        deps[used].add(node)
        for node, group in self.fusions.items():
            deps[node] -= group

    def find_parent_nodes_of_subgraph(self, tag: str) -> set[Node]:
        """The nodes outside of a part that it uses."""
        return {
            used
            for node in self.module.graph.nodes
            if node.op in CALLABLE_NODE_OPS and node.tag == tag
            for used in node.all_input_nodes
            if used.op in CALLABLE_NODE_OPS and used.tag != tag
        }

    def extend_acc_subgraph(self, tag: str) -> None:
        """Takes into a part for the accelerator what it uses, as far as the accelerator supports it and earlier parts do not need it."""
        deps = self.find_reverse_deps(tag_id=int(tag.split("_")[-1]))
        self.update_reverse_deps_for_fusions(deps)
        parents = {n: None for n in self.module.graph.nodes if n in self.find_parent_nodes_of_subgraph(tag)}
        visited: set[Node] = set()
        while True:
            node = next((n for n in parents if deps[n] <= visited and n in self.acc_nodes), None)
            if node is None:
                return
            node.tag = tag
            del parents[node]
            visited.add(node)
            for other in (*self.fusions.get(node, ()), *(n for n in node.all_input_nodes if n.op in CALLABLE_NODE_OPS)):
                if other not in visited:
                    parents[other] = None

    # ---- parts ----

    def starter_nodes(self) -> tuple[set[Node], set[Node]]:
        """The nodes that parts may begin with, on the processor and on the accelerator: those that use inputs or attributes, or nothing."""
        found: tuple[set[Node], set[Node]] = (set(), set())
        for node in self.module.graph.nodes:
            starts = node.op in CALLABLE_NODE_OPS and (
                not node.all_input_nodes or any(n.op in ("placeholder", "get_attr") for n in node.all_input_nodes)
            )
            if starts:
                found[node in self.acc_nodes].add(node)
        return found

    def put_nodes_into_subgraphs(self) -> list[Subgraph]:
        """The parts, each with its nodes in an order in which they can run. Raises FxNetSplitterInternalError where there are none."""
        order = {n: i for i, n in enumerate(self.module.graph.nodes)}
        waiting = [dict.fromkeys(sorted(nodes, key=order.__getitem__)) for nodes in self.starter_nodes()]
        visited: set[Node] = set()
        is_acc = not any(not self.deps[n] for n in waiting[False])
        subgraphs: list[Subgraph] = []
        nodes: list[Node] = []
        while waiting[False] or waiting[True]:
            node = next((n for n in waiting[is_acc] if self.deps[n] <= visited), None)
            if node is None:
                if not nodes:
                    raise FxNetSplitterInternalError("Subgraph can't be empty")
                subgraphs.append(Subgraph(is_acc, nodes))
                is_acc, nodes = not is_acc, []
                continue
            del waiting[is_acc][node]
            visited.add(node)
            nodes.append(node)
            for other in self.fusions.get(node, ()):
                if other not in visited:
                    waiting[other in self.acc_nodes][other] = None
            for user in node.users:
                if user.op in CALLABLE_NODE_OPS and user not in visited:
                    waiting[user in self.acc_nodes][user] = None
        if nodes:
            subgraphs.append(Subgraph(is_acc, nodes))
        if not subgraphs:
            raise FxNetSplitterInternalError("Couldn't create subgraphs")
        return subgraphs

    def remove_small_acc_subgraphs(self, subgraphs: list[Subgraph]) -> list[Subgraph]:
        """The parts, where the processor has those for the accelerator that have less nodes than the settings say."""
        result: list[Subgraph] = []
        for part in subgraphs:
            is_acc, least = part.is_acc, self.settings.min_acc_module_size
            if is_acc and len(part.nodes) < least:
                print(f"Eliminating acc subgraph because it's smaller than the threshold: {len(part.nodes)} < {least}")
                is_acc = False
            if not is_acc and result and not result[-1].is_acc:
                result[-1].nodes.extend(part.nodes)
            else:
                result.append(Subgraph(is_acc, list(part.nodes)))
        return result

    def tag(self, subgraphs: list[Subgraph]) -> None:
        """Gives nodes the names of their parts, by which split splits. Raises FxNetSplitterInternalError where one has a name already."""
        self.tags = []
        for part in subgraphs:
            tag = f"_run_on_acc_{len(self.tags)}" if part.is_acc else f"{self.non_acc_submodule_name}{len(self.tags)}"
            self.tags.append(tag)
            for node in part.nodes:
                if hasattr(node, "tag"):
                    raise FxNetSplitterInternalError(f"Node {node} was already tagged")
                node.tag = tag
                self._node_submodule_map[node.name] = tag

    def split(self, remove_tag: bool = False) -> GraphModule:
        """The module that calls the parts; nodes lose the names of these where remove_tag says so."""
        made = split_by_tags(self.module, self.tags)
        if remove_tag:
            for node in self.module.graph.nodes:
                if hasattr(node, "tag"):
                    del node.tag
        return made

    def __call__(self) -> GraphModule:
        subgraphs = self.remove_small_acc_subgraphs(self.put_nodes_into_subgraphs())
        acc = sum(part.is_acc for part in subgraphs)
        print(f"Got {acc} acc subgraphs and {len(subgraphs) - acc} non-acc subgraphs")
        self.tag(subgraphs)
        return self.split()

    def generate_split_results(self) -> SplitResult:
        """The module that calls the parts, and what they are called with for the sample input."""
        made = self()
        names = [name for name, _ in made.named_children()]
        return SplitResult(made, generate_inputs_for_submodules(made, self.sample_input, names), self.non_acc_submodule_name)


def _counted(subgraphs: list[Subgraph]) -> str:
    acc = sum(part.is_acc for part in subgraphs)
    return f"{len(subgraphs)} subgraphs are created: {acc} acc subgraphs and {len(subgraphs) - acc} cpu subgraphs."


def _types_of(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """The element types of the tensors among arguments, as ShapeProp noted."""
    notes = (a.meta.get("tensor_meta") for a in arguments if isinstance(a, Node))
    return tuple(note.dtype for note in notes if isinstance(note, TensorMetadata))
