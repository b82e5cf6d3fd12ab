"""Test cases that hold compiled programs to functions: results, gradients, graphs, archives."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing._internal._contexts import freeze_rng_state
from torchjit.testing._internal.common_utils import TestCase

_DIFFERENTIABLE = "prim::DifferentiableGraph"
_GROUPS = ("prim::FusionGroup", "prim::TensorExprGroup")


def clone_inputs(args: Sequence[Any]) -> list[Any]:
    """The arguments with copies of the tensors, which require gradients as these do."""
    return [a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in args]


def tensors_in(values: Any) -> list[Any]:
    """The tensors of nested lists, tuples and dicts."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    return [t for v in values for t in tensors_in(v)] if isinstance(values, (list, tuple, type({}.values()))) else []


def nodes_in(graph: Any, subgraphs: bool = False) -> Iterator[Any]:
    """The nodes of a graph and of its blocks, with subgraphs also those of the graphs that nodes run."""
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from nodes_in(block, subgraphs)
        if subgraphs and "Subgraph" in node.attributeNames():
            yield from nodes_in(node.g("Subgraph"), subgraphs)


def _subgraphs_of(graph: Any, kinds: Sequence[str]) -> list[Any]:
    return [n.g("Subgraph") for n in nodes_in(graph, subgraphs=True) if n.kind() in kinds]


def check_output_types(self: Any, func: Any, ref_outputs: Any, args: Any, kwargs: Any) -> None:
    """Fails unless the function that ran last has, in its graph, one output of the class of what was expected."""
    graph = getattr(func, "last_graph", None)
    outputs = list(graph.outputs())  # type: ignore[union-attr]
    self.assertEqual(len(outputs), 1)
    type_ = outputs[0].type()
    if isinstance(ref_outputs, torch.Tensor):
        self.assertTrue(type_.isSubtypeOf(torch._C.TensorType.get()))
    elif isinstance(ref_outputs, (list, tuple)):
        self.assertEqual(type_.kind(), "ListType" if isinstance(ref_outputs, list) else "TupleType")


def check_against_reference(
    self: Any, func: Any, reference_func: Any, output_func: Any, args: Any, kwargs: Any = None, allow_unused: bool = True,
    check_types: bool = True, no_grad: bool = False, no_gradgrad: bool = False,
) -> None:  # fmt: skip
    """Fails unless a function gives what a reference does, with first and second gradients of what output_func takes of the results."""
    kwargs = kwargs or {}

    expected, found = (self.runAndSaveRNG(f, clone_inputs(args), kwargs) for f in (reference_func, func))
    self.assertEqual(expected, found)
    if check_types:
        check_output_types(self, func, expected, args, kwargs)
    if no_grad:
        return
    both = []
    for f in (reference_func, func):
        given = clone_inputs(args)
        wanted = [t for t in tensors_in(given) if t.requires_grad]
        differentiable = [t for t in tensors_in(output_func(self.runAndSaveRNG(f, given, kwargs))) if t.requires_grad]
        if not wanted or not differentiable:
            return
        total = sum(t.abs().sum() for t in differentiable)
        first = torch.autograd.grad(total, wanted, allow_unused=allow_unused, create_graph=not no_gradgrad)
        second: Any = ()
        if not no_gradgrad and any(g is not None and g.requires_grad for g in first):
            again = sum(g.abs().sum() for g in first if g is not None and g.requires_grad)
            second = torch.autograd.grad(again, wanted, allow_unused=True)
        both.append((first, second))
    for reference, gradients in zip(*both, strict=True):
        self.assertEqual(reference, gradients)


class JitCommonTestCase(TestCase):
    """A test case with checks of graphs and archives."""

    def createFunctionFromGraph(self, trace: Any) -> Any:
        """A compiled function of a graph."""
        graph = trace if isinstance(trace, torch._C.Graph) else trace.graph()
        return torch._C._create_function_from_graph("forward", graph)

    def runAndSaveRNG(self, func: Callable[..., Any], inputs: Sequence[Any], kwargs: Any = None) -> Any:
        """The result of a call, after which the generator is where it was."""
        with freeze_rng_state():
            return func(*inputs, **(kwargs or {}))

    # Archives.

    def assertExportImport(self, trace: Any, inputs: Sequence[Any]) -> None:
        """Fails unless the function of a graph gives the same when it has been saved and loaded."""
        self.assertExportImportModule(self.createFunctionFromGraph(trace), inputs)

    def assertExportImportModule(self, m: Any, inputs: Sequence[Any]) -> None:
        """Fails unless a module or function gives the same when it has been saved and loaded."""
        loaded = self.getExportImportCopy(m)
        self.assertEqual(self.runAndSaveRNG(m, clone_inputs(inputs)), self.runAndSaveRNG(loaded, clone_inputs(inputs)))

    def getExportImportCopy(self, m: Any, also_test_file: bool = True, map_location: Any = None) -> Any:
        """What comes back when a module or function is saved and loaded, by a file too."""
        content = io.BytesIO()
        torch.jit.save(m, content)
        content.seek(0)
        imported = torch.jit.load(content, map_location=map_location)
        if not also_test_file:
            return imported
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            imported.save(file.name)
            return torch.jit.load(file.name, map_location=map_location)

    # Graphs.

    def autoDiffErrorMessage(
        self, should_autodiff_node: bool, nodes_not_in_diff_graph: list[str], fusion_nodes_not_found: list[str],
        non_fusible_nodes_being_fused: list[str], fusion_nodes_found: list[str], nodes_in_diff_graph: list[str],
    ) -> str:  # fmt: skip
        """What is wrong with the differentiable graphs of a graph."""
        group, graph = "FusionGroup", "DifferentiableGraph"
        if should_autodiff_node:
            wrong = [
                (nodes_not_in_diff_graph, f"should be in a {graph} and are in none"),
                (non_fusible_nodes_being_fused, f"should be in a {graph} alone and are in a {group} of it"),
                (fusion_nodes_not_found, f"should be in a {group} of a {graph} and are in none"),
            ]
        else:
            wrong = [(fusion_nodes_found, f"are in a {group} of a {graph}"), (nodes_in_diff_graph, f"are in a {graph}")]
        head = "expected to be differentiated" if should_autodiff_node else "not expected to be differentiated"
        return "\n".join([f"Nodes were {head}:", *(f"  {nodes} {what}" for nodes, what in wrong if nodes)])

    def assertAutodiffNode(
        self, graph: Any, should_autodiff_node: bool, nonfusible_nodes: list[str], fusible_nodes: list[str]
    ) -> None:
        """Fails unless the differentiable graphs of a graph have nodes as check_ad says: those that are fusible in groups, if there are groups."""
        differentiable = _subgraphs_of(graph, [_DIFFERENTIABLE])
        groups = [g for d in differentiable for g in _subgraphs_of(d, _GROUPS)]
        inside = {n.kind() for d in differentiable for n in nodes_in(d)}
        fused = {n.kind() for g in groups for n in nodes_in(g)}
        missing = [kind for kind in nonfusible_nodes if kind not in inside]
        unfused = [kind for kind in fusible_nodes if kind not in fused and kind not in inside]
        found = bool(differentiable) and not missing and not unfused
        message = self.autoDiffErrorMessage(
            should_autodiff_node, missing, unfused, [kind for kind in nonfusible_nodes if kind in fused],
            [kind for kind in fusible_nodes if kind in fused], [kind for kind in nonfusible_nodes if kind in inside],
        )  # fmt: skip
        self.assertEqual(should_autodiff_node, found, "\n" + message)

    def checkShapeAnalysis(
        self, out_sizes: Any, traced_graph: Any, assert_propagation: bool, constant_prop: bool = True
    ) -> None:
        """Fails unless propagating shapes tells the sizes of the outputs of a graph; nothing is told where it must not."""
        graph = traced_graph.copy()
        torch._C._jit_erase_non_input_shape_information(graph)
        if constant_prop:
            torch._C._jit_pass_constant_propagation(graph)
        torch._C._jit_pass_propagate_shapes_on_graph(graph)
        outputs = list(graph.outputs())
        sizes = out_sizes if isinstance(out_sizes[0], list) else [out_sizes]
        self.assertEqual(len(outputs), len(sizes))
        for value, expected in zip(outputs, sizes, strict=True):
            found = value.type().symbolic_sizes()
            if assert_propagation:
                self.assertIsNotNone(found)
            for size, wanted in zip(found or [], expected, strict=False):
                if assert_propagation or size >= 0:
                    self.assertEqual(size, wanted)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "TensorType",
    "torchjit.testing._internal.common_utils": """
        TemporaryFileName enable_profiling_mode enable_profiling_mode_for_profiling_tests is_iterable_of_tensors
    """,
    "torchjit.testing._legacy": "floating_and_complex_types_and",
})  # fmt: skip
