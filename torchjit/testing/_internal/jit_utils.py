"""Test cases that hold compiled programs to what the same programs do in Python."""

from __future__ import annotations

import contextlib
import inspect
import io
import textwrap
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit.testing import FileCheck as FileCheck
from torchjit.testing import assert_close

_DIFFERENTIABLE = "prim::DifferentiableGraph"
_GROUPS = ("prim::FusionGroup", "prim::TensorExprGroup")


def check_ad(
    should_autodiff_node: bool, nonfusible_nodes: Any = None, fusible_nodes: Any = None
) -> tuple[bool, Any, Any]:
    """What a test expects of the gradients of a program, for normalize_check_ad."""
    return should_autodiff_node, nonfusible_nodes, fusible_nodes


def normalize_check_ad(expected: Sequence[Any], name: str) -> tuple[bool, list[str], list[str]]:
    """(whether the graph has differentiable graphs, the nodes in these, the nodes in groups in these) of what check_ad or a shorter tuple says.

    Nodes are the operator of a name where none are given. Raises Exception for more than three items.
    """
    if len(expected) > 3:
        raise Exception(f"Invalid check_ad, requires (bool, str|List[str], str|List[str]), got {expected!r}")
    should, nonfusible, fusible = [*expected, *[None] * 3][:3]
    operator = name if "::" in name else "aten::" + name
    return bool(should), _names(nonfusible, [operator]), _names(fusible, [])


def _names(given: Any, default: list[str]) -> list[str]:
    if given is None:
        return default
    return [given] if isinstance(given, str) else list(given)


def clone_inputs(args: Sequence[Any]) -> list[Any]:
    """The arguments with copies of the tensors, which require gradients as these do."""
    return [a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in args]


def get_forward(c: Any) -> Any:
    """The method forward of a module of the library."""
    return c._get_method("forward")


def get_forward_graph(c: Any) -> Any:
    """The graph of forward of a module of the library."""
    return c._get_method("forward").graph


def get_module_method(m: Any, module: str, method: str) -> Any:
    """A method of a submodule."""
    return getattr(m, module)._c._get_method(method)


def execWrapper(code: str, glob: Any, loc: Any) -> None:
    """Runs a program."""
    exec(code, glob, loc)


def make_global(*args: Any) -> None:
    """Makes functions and classes global names of the module in which they are defined."""
    for arg in args:
        inspect.getmodule(arg).__dict__[arg.__name__] = arg  # type: ignore[union-attr]


def warmup_forward(f: Callable[..., Any], *args: Any, profiling_count: int = 2) -> Any:
    """The result of the last of several calls, of which the first are profiled."""
    for _ in range(profiling_count):
        results = f(*args)
    return results


def warmup_backward(f: Any, *args: Any, profiling_count: int = 2) -> Any:
    """The gradients of the last of several backward passes."""
    results = []
    for _ in range(profiling_count):
        if args:
            results.append(torch.autograd.grad(f, *args, retain_graph=True))
        else:
            f.backward(retain_graph=True)
    return results


@contextlib.contextmanager
def enable_profiling_mode() -> Iterator[None]:
    """A context in which functions run by the profiling executor."""
    executor = torch._C._jit_set_profiling_executor(True)
    mode = torch._C._get_graph_executor_optimize(True)
    try:
        yield
    finally:
        torch._C._jit_set_profiling_executor(executor)
        torch._C._get_graph_executor_optimize(mode)


@contextlib.contextmanager
def inline_everything_mode(should_inline: bool) -> Iterator[None]:
    """A context in which compiled programs have the bodies of what they call."""
    old = torch._C._jit_get_inline_everything_mode()
    torch._C._jit_set_inline_everything_mode(should_inline)
    try:
        yield
    finally:
        torch._C._jit_set_inline_everything_mode(old)


@contextlib.contextmanager
def disable_autodiff_subgraph_inlining(enabled: bool = True) -> Iterator[None]:
    """A context in which differentiable graphs of single operators stay."""
    torch._C._debug_set_autodiff_subgraph_inlining(not enabled)
    try:
        yield
    finally:
        torch._C._debug_set_autodiff_subgraph_inlining(True)


def _tensors(values: Any) -> list[Any]:
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    return [t for v in values for t in _tensors(v)] if isinstance(values, (list, tuple, type({}.values()))) else []


def _subgraphs(graph: Any) -> Iterator[Any]:
    """The nodes of a graph, of its blocks and of the graphs that its nodes run."""
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from _subgraphs(block)
        if "Subgraph" in node.attributeNames():
            yield from _subgraphs(node.g("Subgraph"))


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from _nodes(block)


class JitTestCase(unittest.TestCase):
    """A test case with checks of compiled programs."""

    def assertEqual(self, first: Any, second: Any, msg: Any = None, **kwargs: Any) -> None:
        """Fails unless two values are equal, tensors in them to within rounding."""
        if _tensors(first) or _tensors(second):
            assert_close(first, second, equal_nan=True, **kwargs)
        else:
            super().assertEqual(first, second, msg)

    # Programs.

    def checkScript(
        self, script: Any, inputs: Any, name: str = "func", optimize: bool = True, inputs_requires_grad: bool = False,
        capture_output: bool = False, frames_up: int = 1, profiling: Any = None, atol: Any = None, rtol: Any = None,
    ) -> Any:  # fmt: skip
        """Compiles a function, or the function of a name in a text, runs it twice, and fails unless it gives, prints and raises what Python does.

        Returns the compiled function, or the CompilationUnit of a text.
        """
        if isinstance(script, str):
            unit = torch.jit.CompilationUnit(script)
            compiled = getattr(unit, name)
            names: dict[str, Any] = {"torch": torch, **_annotations()}
            execWrapper(textwrap.dedent(script), names, names)
            eager, made = names[name], unit
        else:
            compiled = made = torch.jit.script(script)
            eager = script
        given = _with_gradients(inputs) if inputs_requires_grad else inputs
        with contextlib.redirect_stdout(io.StringIO()) as printed_by_python:
            expected = eager(*clone_inputs(given))
        for _ in range(2):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                found = compiled(*clone_inputs(given))
            self.assertEqual(expected, found, **({"atol": atol, "rtol": rtol} if atol is not None else {}))
            if capture_output:
                self.assertEqual(printed_by_python.getvalue(), printed.getvalue())
        return made

    def checkModule(self, nn_module: Any, args: Sequence[Any]) -> Any:
        """Compiles a module and fails unless it gives what the module does. Returns the compiled one."""
        compiled = torch.jit.script(nn_module)
        self.assertEqual(nn_module(*clone_inputs(args)), compiled(*clone_inputs(args)))
        self.assertExportImportModule(compiled, args)
        return compiled

    def checkTrace(
        self, func: Any, reference_tensors: Any, input_tensors: Any = None, drop: int | None = None, allow_unused: bool = False,
        inputs_require_grads: bool = True, check_tolerance: float = 1e-5, export_import: bool = True, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Traces a function or module and fails unless it gives what the function does, gradients too. Returns the traced one."""
        inputs = reference_tensors if input_tensors is None else input_tensors
        traced = torch.jit.trace(func, tuple(reference_tensors), check_tolerance=check_tolerance, **kwargs)
        self.assertEqual(func(*inputs), traced(*inputs))
        if inputs_require_grads:
            self._checkGradients(func, traced, inputs, drop, allow_unused)
        if export_import and isinstance(traced, torch.jit.ScriptModule):
            self.assertExportImportModule(traced, inputs)
        return traced

    def _checkGradients(
        self, func: Any, compiled: Any, inputs: Sequence[Any], drop: int | None, allow_unused: bool
    ) -> None:
        found = []
        for f in (func, compiled):
            given = _with_gradients(inputs)
            wanted = [t for t in _tensors(given) if t.requires_grad]
            results = _tensors(f(*given))
            total: Any = sum(
                (t.double().sum() for t in (results[:-drop] if drop else results) if t.requires_grad), torch.zeros(())
            )
            if not wanted or not total.requires_grad:
                return
            found.append(torch.autograd.grad(total, wanted, allow_unused=allow_unused))
        for expected, other in zip(*found, strict=True):
            self.assertEqual(expected, other)

    # Errors.

    def checkScriptRaisesRegex(
        self, script: Any, inputs: Any, exception: type[BaseException], regex: str, name: str | None = None, outputs: Any = None,
        capture_output: bool = False, frames_up: int = 1, profiling: Any = None,
    ) -> None:  # fmt: skip
        """Fails unless a function raises in Python and, with a message that the pattern matches, as a compiled program."""
        if isinstance(script, str):
            compiled = getattr(torch.jit.CompilationUnit(script), name or "func")
        else:
            with self.assertRaises(exception):
                script(*clone_inputs(inputs))
            compiled = torch.jit.script(script)
        for _ in range(2):
            with self.assertRaisesRegex(exception, regex):
                compiled(*clone_inputs(inputs))

    @contextlib.contextmanager
    def assertRaisesRegexWithHighlight(
        self, exception: type[BaseException], regex: str, highlight: str
    ) -> Iterator[None]:
        """Fails unless the block raises such an exception, whose message underlines a text, or nothing where the text is empty."""
        with self.assertRaisesRegex(exception, regex) as caught:
            yield
        if highlight:
            FileCheck().check_source_highlighted(highlight).run(str(caught.exception))

    # Graphs.

    def run_pass(self, name: str, graph: Any) -> Any:
        """The graph that a pass makes of a graph, _jit_pass_NAME."""
        result = getattr(torch._C, "_jit_pass_" + name)(graph)
        if result is not None and not isinstance(result, bool):
            graph = result
        torch._C._jit_pass_lint(graph)
        return graph

    def assertGraphContains(self, graph: Any, kind: str, consider_subgraphs: bool = False) -> None:
        """Fails unless a graph has a node of a kind."""
        if not any(n.kind() == kind for n in (_subgraphs(graph) if consider_subgraphs else _nodes(graph))):
            raise AssertionError(f"{graph}\nError: graph does not contain {kind}.")

    def assertGraphContainsExactly(
        self, graph: Any, kind: str, num_kind_nodes: int, consider_subgraphs: bool = False
    ) -> None:
        """Fails unless a graph has so many nodes of a kind."""
        found = [n for n in (_subgraphs(graph) if consider_subgraphs else _nodes(graph)) if n.kind() == kind]
        if len(found) != num_kind_nodes:
            raise AssertionError(f"{graph}\nError: graph contains {len(found)} {kind} nodes, expected {num_kind_nodes}")

    def assertAutodiffNode(
        self, graph: Any, should_autodiff_node: bool, nonfusible_nodes: list[str], fusible_nodes: list[str]
    ) -> None:
        """Fails unless the differentiable graphs of a graph have nodes as check_ad says: those that are fusible in groups, if there are groups."""
        differentiable = [n.g("Subgraph") for n in _subgraphs(graph) if n.kind() == _DIFFERENTIABLE]
        groups = [n.g("Subgraph") for d in differentiable for n in _subgraphs(d) if n.kind() in _GROUPS]
        inside = {n.kind() for d in differentiable for n in _nodes(d)}
        fused = {n.kind() for g in groups for n in _nodes(g)}
        found = all(kind in inside for kind in nonfusible_nodes) and all(
            kind in fused or kind in inside for kind in fusible_nodes
        )
        if should_autodiff_node != (bool(differentiable) and found):
            raise AssertionError(
                f"{graph}\nExpected {'' if should_autodiff_node else 'no '}nodes {[*nonfusible_nodes, *fusible_nodes]} in {_DIFFERENTIABLE}, "
                f"which has {sorted(inside | fused)}"
            )

    # Archives.

    def getExportImportCopy(self, m: Any, also_test_file: bool = True, map_location: Any = None) -> Any:
        """What comes back when a module is saved and loaded."""
        content = io.BytesIO()
        torch.jit.save(m, content)
        content.seek(0)
        return torch.jit.load(content, map_location=map_location)

    def assertExportImportModule(self, m: Any, inputs: Sequence[Any]) -> None:
        """Fails unless a module gives the same when it has been saved and loaded."""
        self.assertEqual(m(*clone_inputs(inputs)), self.getExportImportCopy(m)(*clone_inputs(inputs)))


def _annotations() -> dict[str, Any]:
    import typing

    return {name: getattr(typing, name) for name in ("Any", "Dict", "List", "NamedTuple", "Optional", "Tuple", "Union")}


def _with_gradients(values: Sequence[Any]) -> list[Any]:
    return [
        v.detach().clone().requires_grad_() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
        for v in values
    ]
