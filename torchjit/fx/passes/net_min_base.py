"""The search for the nodes of a graph whose results differ between two ways to run it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, map_arg
from torchjit.fx.passes.shape_prop import ShapeProp
from torchjit.fx.passes.split_utils import split_by_tags
from torchjit.fx.passes.tools_common import CALLABLE_NODE_OPS, FxNetAccFusionsFinder, Names, Tensors

__all__ = ["FxNetMinimizerBadModuleError", "FxNetMinimizerRunFuncError", "FxNetMinimizerResultMismatchError"]

_LOGGER = logging.getLogger(__name__)


@compatibility(is_backward_compatible=False)
class FxNetMinimizerBadModuleError(Exception):
    """The module could not be split."""


@compatibility(is_backward_compatible=False)
class FxNetMinimizerRunFuncError(Exception):
    """A part could not be run in one of the ways."""


@compatibility(is_backward_compatible=False)
class FxNetMinimizerResultMismatchError(Exception):
    """The results of a part differ."""


@dataclass
class _MinimizerSettingBase:
    """How the search goes.

    accumulate_error: parts get what the second way gave for the parts before them. traverse_method: sequential, binary or accumulate.
    find_all: it goes on behind what it has found. return_intermediate: parts give what every node of theirs gave.
    """

    accumulate_error: bool = False
    traverse_method: str = "sequential"
    find_all: bool = False
    return_intermediate: bool = False

    def __str__(self) -> str:
        return "FX Minimizer Settings:\n" + "".join(f"\t{f.name}: {getattr(self, f.name)}\n" for f in fields(self))


class _MinimizerBase:
    """Searches a module for its nodes whose results differ. Subclasses say by run_a and run_b how a part is run.

    compare_fn(result of run_a, result of run_b, names) gives a number to report and whether the results agree. module_exporter, if any, gets each
    part that is run, its inputs and the number of the iteration.
    """

    def __init__(
        self, module: GraphModule, sample_input: Tensors, compare_fn: Callable[[Any, Any, Names], tuple[float, bool]],
        settings: _MinimizerSettingBase, module_exporter: Callable[..., None] | None = None,
    ) -> None:  # fmt: skip
        assert isinstance(module, GraphModule)
        self.module = module
        self.sample_input = sample_input
        self.compare_fn = compare_fn
        self.module_exporter = module_exporter
        self.settings = settings
        self.a_outputs: dict[str, Any] = {}
        self.b_outputs: dict[str, Any] = {}
        self.results: dict[Any, Any] = {}
        self.reports: list[list[str]] = []
        self.iteration = 0
        nodes = {n for n in module.graph.nodes if n.op in CALLABLE_NODE_OPS}
        ShapeProp(module).propagate(*sample_input)
        self.fusions = FxNetAccFusionsFinder(module, nodes)()
        for node in module.graph.nodes:
            if node.op == "placeholder":
                i = [n for n in module.graph.nodes if n.op == "placeholder"].index(node)
                self.a_outputs[node.name] = self.b_outputs[node.name] = sample_input[i]

    def run_a(self, mod: GraphModule, inputs: Tensors) -> Any:
        """The results of a part in the first way. Raises RuntimeError in this class."""
        raise RuntimeError("run_a() is not implemented.")

    def run_b(self, mod: GraphModule, inputs: Tensors) -> Any:
        """The results of a part in the second way. Raises RuntimeError in this class."""
        raise RuntimeError("run_b() is not implemented.")

    def _store_outputs(self, a_result: Any, b_result: Any, submodule: GraphModule) -> None:
        """Keeps the results of a part under the names of the nodes that give them."""
        output = next(n for n in submodule.graph.nodes if n.op == "output")
        names = output.args[0]
        if isinstance(names, Node):
            self.a_outputs[names.name], self.b_outputs[names.name] = a_result, b_result
            return
        for i, arg in enumerate(names):
            self.a_outputs[arg.name], self.b_outputs[arg.name] = a_result[i], b_result[i]

    def _get_submod_inputs(self, main_module: GraphModule, submod_path: str) -> tuple[Any, Any]:
        """The inputs of a part for the two ways."""
        submodule = main_module.get_submodule(submod_path)
        if self.settings.accumulate_error:
            names = [n.name for n in submodule.graph.nodes if n.op == "placeholder"]
            if all(name in self.a_outputs for name in names):
                return [self.a_outputs[name] for name in names], [self.b_outputs[name] for name in names]
        found: list[Any] = []
        handle = submodule.register_forward_pre_hook(lambda module, inputs: found.append(inputs))
        main_module(*self.sample_input)
        handle.remove()
        return found[0], found[0]

    def _tag_nodes(self, selected_nodes: set[Node]) -> None:
        """Tags the nodes: before the selected ones, these, behind them."""
        for node in self.module.graph.nodes:
            if node.op in CALLABLE_NODE_OPS:
                behind = any(getattr(arg, "tag", "main_0") in ("minimize", "main_1") for arg in node.all_input_nodes)
                node.tag = "minimize" if node in selected_nodes else "main_1" if behind else "main_0"
        for node in self.module.graph.nodes:
            if getattr(node, "tag", None) == "minimize" and any(getattr(arg, "tag", None) == "main_1" for arg in node.all_input_nodes):
                raise FxNetMinimizerBadModuleError(f"{node.name} needs what comes behind the selected nodes")

    def _build_submodule(self, nodes: set[Node]) -> tuple[GraphModule, str]:
        """The module split so that some nodes are a part of their own, and the name of that. Raises FxNetMinimizerBadModuleError."""
        self._tag_nodes(nodes)
        used = {node.tag for node in self.module.graph.nodes if node.op in CALLABLE_NODE_OPS}
        split = split_by_tags(self.module, [tag for tag in ("main_0", "minimize", "main_1") if tag in used])
        if "minimize" not in used:
            raise FxNetMinimizerBadModuleError(f"no node of the module is among {nodes}")
        return split, "minimize"

    def _run_and_compare(self, split_module: GraphModule, submod_name: str, output_names: Names) -> None:
        """Runs a part in both ways. Raises FxNetMinimizerRunFuncError where that fails, FxNetMinimizerResultMismatchError where they differ."""
        submodule: Any = getattr(split_module, submod_name)
        a_input, b_input = self._get_submod_inputs(split_module, submod_name)
        report = self.reports[-1] if self.reports else []
        report.append("Run and compare ...")
        self.iteration += 1
        if output_names:
            nodes = [n for n in submodule.graph.nodes if n.name in output_names]
            for node in submodule.graph.nodes:
                if node.op == "output":
                    submodule.graph.erase_node(node)
            submodule.graph.output(nodes[0] if len(nodes) == 1 else tuple(nodes))
            submodule.graph.lint()
            submodule.recompile()
        names: list[str] = []
        for node in submodule.graph.nodes:
            if node.op == "output":
                map_arg(node.args, lambda n: names.append(n.name))
        key = tuple(names)
        if self.module_exporter:
            self.module_exporter(submodule, a_input, str(self.iteration))
        try:
            a_result, b_result = self.run_a(submodule, a_input), self.run_b(submodule, b_input)
            self._store_outputs(a_result, b_result, submodule)
        except Exception as e:
            report.append(f"Exception raised when running {submod_name}: {e}")
            raise FxNetMinimizerRunFuncError(f"Exception raised when running {submod_name}: {e}") from e
        number, agree = self.compare_fn(a_result, b_result, names)
        self.results[key] = number
        report.append(f"Numerical accuracy = {number}")
        if not agree:
            report.append(f"Result mismatch for {key}")
            raise FxNetMinimizerResultMismatchError(f"Result mismatch for {key}")

    def _differ(self, nodes: set[Node]) -> Exception | None:
        """What running a part of some nodes failed with, None where the results agree."""
        try:
            split, name = self._build_submodule(nodes)
            self._run_and_compare(split, name, [])
        except (FxNetMinimizerRunFuncError, FxNetMinimizerResultMismatchError) as e:
            return e
        return None

    def _begin_report(self, title: str) -> list[str]:
        report = [title]
        self.reports.append(report)
        return report

    def _binary_search_impl(self, all_nodes: list[Node], start_idx: int, end_idx: int) -> set[Node]:
        """The culprits among nodes from start_idx to before end_idx."""
        nodes = all_nodes[start_idx:end_idx]
        report = self._begin_report(f"Binary search iteration {self.iteration + 1}.")
        report.append(f"From node index {start_idx} to {end_idx - 1}. Size of the interested node list is {len(nodes)}")
        if self._differ(self._whole(nodes)) is None:
            report.append("No discrepancy found.")
            self.print_report(report)
            return set()
        if len(nodes) == 1:
            report.append(f"This is the last node in the sub-module. Search in the current branch is successful with culprit = {set(nodes)}.")
            self.print_report(report)
            return set(nodes)
        report.append("Proceed to split and lower the halves of the current sub-module individually.")
        self.print_report(report)
        middle = len(nodes) // 2
        culprits = self._binary_search_impl(all_nodes, start_idx, start_idx + middle)
        if culprits and not self.settings.find_all:
            return culprits
        culprits |= self._binary_search_impl(all_nodes, start_idx + middle, end_idx)
        if not culprits:
            report.append(f"Further split and lowering found no errors. Unable to minimize the submodule with list of nodes: {nodes}")
            self.print_report(report)
        return culprits

    def _whole(self, nodes: list[Node]) -> set[Node]:
        """Nodes, with those that cannot be parted from them."""
        found = set(nodes)
        for node in nodes:
            found |= self.fusions.get(node, set())
        return found

    def _binary_traverse(self, nodes: list[Node]) -> set[Node]:
        """The culprits, by halving."""
        return self._binary_search_impl(nodes, 0, len(nodes))

    def _sequential_traverse(self, nodes: list[Node]) -> set[Node]:
        """The culprits, node by node."""
        culprits: set[Node] = set()
        for node in nodes:
            report = self._begin_report(f"Sequential traverse iteration {self.iteration + 1}.")
            report.append(f"Visit node: {node.name}")
            whole = self._whole([node])
            found = self._differ(whole)
            if found is not None:
                culprits |= whole
                kind = "numeric error" if isinstance(found, FxNetMinimizerResultMismatchError) else "run error"
                report.append(f"Found culprit from {kind}: {node}")
            self.print_report(report)
            if found is not None and not self.settings.find_all:
                break
        return culprits

    def _accumulate_traverse(self, nodes: list[Node]) -> set[Node]:
        """The culprit: the first node up to which the results differ."""
        culprits: set[Node] = set()
        before: set[Node] = set()
        if self.settings.find_all:
            print("'Find All' mode is not supported in accumulate traversal.")
            return culprits
        for node in nodes:
            report = self._begin_report(f"Accumulate traverse iteration {self.iteration + 1}.")
            report.append(f"Add node: {node.name}")
            before |= self._whole([node])
            found = self._differ(before)
            if found is not None:
                culprits.add(node)
                report.append(f"Found culprit {node}")
            self.print_report(report)
            if found is not None:
                break
        return culprits

    def _collect_nodes(self, start: str | None, end: str | None) -> list[Node]:
        """The nodes from one name to another."""
        found: list[Node] = []
        collecting = start is None
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            collecting = collecting or node.name == start
            if collecting:
                found.append(node)
            if node.name == end:
                break
        return found

    def run_nodes(self, start: str | None = None, end: str | None = None) -> None:
        """Runs the nodes from one name to another as one part, and prints how the results differ, if they do."""
        nodes = self._collect_nodes(start, end)
        whole = self._whole(nodes)
        try:
            split, name = self._build_submodule(whole)
            names = [node.name for node in nodes] if self.settings.return_intermediate else []
            self._run_and_compare(split, name, names)
        except (FxNetMinimizerRunFuncError, FxNetMinimizerResultMismatchError) as e:
            print(e)

    def print_report(self, report: list[str]) -> None:
        """Prints what an iteration did."""
        for i, line in enumerate(report):
            print(line if i == 0 else f" . {line}")

    def print_reports(self) -> None:
        """Prints what all iterations did."""
        for report in self.reports:
            self.print_report(report)

    def minimize(self, start: str | None = None, end: str | None = None) -> set[Node]:
        """The nodes between two names whose results differ. Raises RuntimeError for an unknown way to search."""
        print(self.settings)
        print(self.module.graph)
        nodes = self._collect_nodes(start, end)
        ways = {"sequential": self._sequential_traverse, "binary": self._binary_traverse, "accumulate": self._accumulate_traverse}
        if self.settings.traverse_method not in ways:
            raise RuntimeError(f"Unknow traverse method {self.settings.traverse_method}!")
        return ways[self.settings.traverse_method](nodes)
