"""Test cases that hold compiled programs to what the same programs do in Python."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing import FileCheck as FileCheck
from torchjit.testing._internal._conditions import GRAPH_EXECUTOR
from torchjit.testing._internal._conditions import IS_WINDOWS as IS_WINDOWS
from torchjit.testing._internal._conditions import TEST_BAILOUTS as TEST_BAILOUTS
from torchjit.testing._internal._contexts import enable_profiling_mode as enable_profiling_mode
from torchjit.testing._internal._contexts import (
    enable_profiling_mode_for_profiling_tests as enable_profiling_mode_for_profiling_tests,
)
from torchjit.testing._internal._contexts import freeze_rng_state as freeze_rng_state
from torchjit.testing._internal.common_jit import JitCommonTestCase, clone_inputs, nodes_in, tensors_in
from torchjit.testing._internal.common_utils import ProfilingMode as ProfilingMode
from torchjit.testing._internal.common_utils import is_iterable_of_tensors as is_iterable_of_tensors

RUN_CUDA = RUN_CUDA_HALF = RUN_CUDA_MULTI_GPU = False
FUSION_GROUP = "prim::TensorExprGroup"


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
        inspect.getmodule(arg).__dict__[arg.__name__] = arg


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
            gradients: Any = torch.autograd.grad
            results.append(gradients(f, *args, retain_graph=True))
        else:
            f.backward(retain_graph=True)
    return results


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


@contextlib.contextmanager
def set_fusion_group_inlining(inlining: bool) -> Iterator[None]:
    """A context in which small groups are taken apart, or not."""
    old = torch._C._debug_get_fusion_group_inlining()
    torch._C._debug_set_fusion_group_inlining(inlining)
    try:
        yield
    finally:
        torch._C._debug_set_fusion_group_inlining(old)


class NoTracerWarnContextManager:
    """A context in which traces do not warn."""

    def __enter__(self) -> None:
        self.saved = torch._C._jit_get_tracer_state_warn()
        torch._C._jit_set_tracer_state_warn(False)

    def __exit__(self, *args: Any) -> None:
        torch._C._jit_set_tracer_state_warn(self.saved)


class TensorExprTestOptions:
    """Settings in which elementwise operators on the CPU form groups after the first profiled call, until restore."""

    def __init__(self) -> None:
        native = torch._C
        self._saved = [
            (native._jit_set_profiling_executor, native._jit_set_profiling_executor(True)),
            (native._get_graph_executor_optimize, native._get_graph_executor_optimize(True)),
            (native._jit_override_can_fuse_on_cpu, native._jit_can_fuse_on_cpu()),
            (native._jit_set_texpr_fuser_enabled, native._jit_texpr_fuser_enabled()),
            (native._debug_set_fusion_group_inlining, native._debug_get_fusion_group_inlining()),
            (native._jit_set_te_must_use_llvm_cpu, native._jit_get_te_must_use_llvm_cpu()),
        ]
        native._jit_override_can_fuse_on_cpu(True)
        native._jit_set_texpr_fuser_enabled(True)
        native._debug_set_fusion_group_inlining(False)
        native._jit_set_te_must_use_llvm_cpu(False)

    def restore(self) -> None:
        """Puts the settings back."""
        for setter, value in self._saved:
            setter(value)


def enable_cpu_fuser(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for tests in which operators on the CPU form groups."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        saved = torch._C._jit_can_fuse_on_cpu(), torch._C._jit_get_te_must_use_llvm_cpu()
        torch._C._jit_override_can_fuse_on_cpu(True)
        torch._C._jit_set_te_must_use_llvm_cpu(False)
        try:
            fn(*args, **kwargs)
        finally:
            torch._C._jit_override_can_fuse_on_cpu(saved[0])
            torch._C._jit_set_te_must_use_llvm_cpu(saved[1])

    return wrapper


def enable_cpu_fuser_if(cond: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """enable_cpu_fuser where a condition holds."""
    return enable_cpu_fuser if cond else lambda fn: fn


def _inlining(inline: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> None:
            with inline_everything_mode(inline):
                fn(*args, **kwargs)

        return wrapper

    return decorate


_inline_everything = _inlining(True)
_tmp_donotuse_dont_inline_everything = _inlining(False)


def _trace(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that traces a function with example inputs."""
    return lambda function: torch.jit.trace(function, args, **kwargs)


def clear_class_registry() -> None:
    """Forgets the names of scripted classes, and what is compiled by type."""
    torch._C._jit_clear_class_registry()
    torch.jit._recursive.concrete_type_store = torch.jit._recursive.ConcreteTypeStore()
    torch.jit._state._clear_class_state()


def get_execution_plan(graph_executor_state: Any) -> Any:
    """The only plan of the state of an executor."""
    plans = list(graph_executor_state.execution_plans.values())
    if len(plans) != 1:
        raise RuntimeError(f"This test assumes this GraphExecutor should only have one execution plan, got: {len(plans)}")
    return plans[0]


def do_input_map(fn: Callable[[Any], Any], input: Any) -> Any:
    """The input with a function of each of its tensors."""
    return torch.utils._pytree.tree_map(lambda x: fn(x) if isinstance(x, torch.Tensor) else x, input)


def is_lambda(lamb: Any) -> bool:
    """Whether an object is a function without a name."""
    return isinstance(lamb, types.FunctionType) and lamb.__name__ == "<lambda>"


def attrs_with_prefix(module: Any, prefix: str) -> list[str]:
    """The names of submodules of a compiled module that begin with a text."""
    return [name for name, _ in module._modules._c.items() if name.startswith(prefix)]


class _Lines(list):
    """A list of the text that is written to a stream in a context."""

    def __init__(self, stream: str) -> None:
        super().__init__()
        self._stream = stream

    def __enter__(self) -> _Lines:
        self._saved = getattr(sys, self._stream)
        self._text = io.StringIO()
        setattr(sys, self._stream, self._text)
        return self

    def __exit__(self, *args: Any) -> None:
        self.append(self._text.getvalue())
        setattr(sys, self._stream, self._saved)


class JitTestCase(JitCommonTestCase):
    """A test case with checks of compiled programs."""

    class capture_stdout(_Lines):  # noqa: N801
        """A context that is a list of what is printed in it, one text."""

        def __init__(self) -> None:
            super().__init__("stdout")

    class capture_stderr(_Lines):  # noqa: N801
        """A context that is a list of what is written as errors in it, one text."""

        def __init__(self) -> None:
            super().__init__("stderr")

    def setUp(self) -> None:
        """Saves and loads each module and function that is compiled, as a check."""
        super().setUp()
        self.setHooks()

    def tearDown(self) -> None:
        """Ends what setUp began, and forgets the names of scripted classes."""
        super().tearDown()
        self.clearHooks()
        clear_class_registry()

    def setHooks(self) -> None:
        """Calls emitModuleHook and emitFunctionHook for what is compiled."""
        torch._C._jit_set_emit_hooks(self.emitModuleHook, self.emitFunctionHook)

    def clearHooks(self) -> None:
        """Ends setHooks."""
        torch._C._jit_set_emit_hooks(None, None)

    def emitFunctionHook(self, func: Any) -> None:
        """Fails unless a compiled function has the same code when it is saved and loaded."""
        if func.name != "<lambda>" and "aten::" not in func.name:
            self._compared_saved_loaded(func)

    def emitModuleHook(self, module: Any) -> None:
        """Fails unless a compiled module has the same code when it is saved and loaded."""
        self._compared_saved_loaded(module)

    def _compared_saved_loaded(self, m: Any) -> None:
        content = io.BytesIO()
        try:
            torch.jit.save(m, content)
        except RuntimeError as e:
            if not self._isHookExceptionOk(e):
                raise
            return
        loaded = torch.jit.load(io.BytesIO(content.getvalue()))
        again = io.BytesIO()
        torch.jit.save(loaded, again)
        self.assertEqual(_codes(loaded), _codes(torch.jit.load(io.BytesIO(again.getvalue()))))

    def _isHookExceptionOk(self, e: Exception) -> bool:
        """Whether saving fails because the program has what cannot be saved."""
        return any(text in str(e) for text in ("Could not export Python function", "closures are not exportable"))

    def get_frame_vars(self, frames_up: int) -> dict[str, Any]:
        """The names of a caller: its own, then global ones."""
        frame = inspect.currentframe()
        for _ in range(frames_up + 1):
            frame = frame and frame.f_back
        if frame is None:
            raise RuntimeError("failed to get frame")
        return {**frame.f_locals, **frame.f_globals}

    # Programs.

    def checkScript(
        self, script: Any, inputs: Any, name: str = "func", optimize: bool = True, inputs_requires_grad: bool = False,
        capture_output: bool = False, frames_up: int = 1, profiling: Any = GRAPH_EXECUTOR, atol: Any = None, rtol: Any = None,
    ) -> Any:  # fmt: skip
        """Compiles a function, or the function of a name in a text, runs it twice, and fails unless it gives what Python does.

        With capture_output it must print what assertExpected has recorded. Returns the compiled function.
        """
        if isinstance(script, str):
            compiled = getattr(torch.jit.CompilationUnit(script), name)
            names: dict[str, Any] = {"torch": torch, **_annotations()}
            execWrapper(textwrap.dedent(script), names, names)
            eager = names[name]
        else:
            compiled = torch.jit.script(script)
            eager = script
        given = _with_gradients(inputs) if inputs_requires_grad else inputs
        with contextlib.redirect_stdout(io.StringIO()):
            expected = eager(*clone_inputs(given))
        for _ in range(2):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                found = compiled(*clone_inputs(given))
            self.assertEqual(expected, found, **({"atol": atol, "rtol": rtol} if atol is not None else {}))
            if capture_output:
                self.assertExpected(printed.getvalue(), subname="stdout")
        return compiled

    def checkModule(self, nn_module: Any, args: Sequence[Any]) -> Any:
        """Compiles a module and fails unless it gives what the module does. Returns the compiled one."""
        compiled = torch.jit.script(nn_module)
        expected, found = (self.runAndSaveRNG(m, clone_inputs(args)) for m in (nn_module, compiled))
        self.assertEqual(expected, found)
        self.assertExportImportModule(compiled, args)
        return compiled

    def checkTrace(
        self, func: Any, reference_tensors: Any, input_tensors: Any = None, drop: int | None = None, allow_unused: bool = False,
        verbose: bool = False, inputs_require_grads: bool = True, check_tolerance: float = 1e-5, export_import: bool = True,
        _force_outplace: bool = False,
    ) -> Any:  # fmt: skip
        """Traces a function or module and fails unless it gives what the function does, gradients too. Returns the traced one, saved and loaded with export_import."""
        inputs = reference_tensors if input_tensors is None else input_tensors
        traced = torch.jit.trace(func, tuple(reference_tensors), check_tolerance=check_tolerance, _force_outplace=_force_outplace)
        if verbose:
            print(traced.graph)
        if export_import:
            traced = self.getExportImportCopy(traced)
        expected, found = (self.runAndSaveRNG(f, clone_inputs(inputs)) for f in (func, traced))
        self.assertEqual(expected, found)
        if inputs_require_grads:
            self._checkGradients(func, traced, inputs, drop, allow_unused)
        return traced

    def _checkGradients(
        self, func: Any, compiled: Any, inputs: Sequence[Any], drop: int | None, allow_unused: bool
    ) -> None:
        found = []
        for f in (func, compiled):
            given = _with_gradients(inputs)
            wanted = [t for t in tensors_in(given) if t.requires_grad]
            results = tensors_in(f(*given))
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
        capture_output: bool = False, frames_up: int = 1, profiling: Any = GRAPH_EXECUTOR,
    ) -> None:  # fmt: skip
        """Fails unless a function raises in Python and, with a message that the pattern matches, as a compiled program."""
        if isinstance(script, str):
            compiled = getattr(torch.jit.CompilationUnit(script), name or "func")
        else:
            with self.assertRaisesRegex(exception, regex):
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
        found = any(n.kind() == kind for n in nodes_in(graph, consider_subgraphs))
        self.assertTrue(found, f"{graph}\nError: graph does not contain {kind}.")

    def assertGraphContainsExactly(
        self, graph: Any, kind: str, num_kind_nodes: int, consider_subgraphs: bool = False
    ) -> None:
        """Fails unless a graph has so many nodes of a kind."""
        found = [n for n in nodes_in(graph, consider_subgraphs) if n.kind() == kind]
        if len(found) != num_kind_nodes:
            raise AssertionError(f"{graph}\nError: graph contains {len(found)} {kind} nodes, expected {num_kind_nodes}")

    def assertAllFused(self, graph: Any, except_for: Sequence[str] = ()) -> None:
        """Fails unless all nodes of a graph but constants, checks and some kinds are in one group."""
        others = {"prim::TypeCheck", "prim::RequiresGradCheck", "prim::Constant", *except_for}
        found = [n for n in _behind_guards(graph) if n.kind() not in others]
        kinds = [n.kind() for n in found]
        self.assertTrue(kinds == [FUSION_GROUP], f"got {graph}")

    def checkBailouts(self, model: Any, inputs: Sequence[Any], expected: Any) -> None:
        """Fails unless a model gives what is expected where each guard of its graph may fail; guards fall back to the program here."""
        self.assertEqual(model(*clone_inputs(inputs)), expected)

    def assertExpectedGraph(self, trace: Any, *args: Any, **kwargs: Any) -> None:
        """assertExpected of the text of a graph, with its values numbered."""
        graph = trace if isinstance(trace, torch._C.Graph) else trace.graph()
        torch._C._jit_pass_lint(graph)
        torch._C._jit_pass_dce(graph)
        torch._C._jit_pass_lint(graph)
        self.assertExpected(str(torch._C._jit_pass_canonicalize(graph)), *args, **kwargs)

    # Archives.

    def getExportImportCopyWithPacking(self, m: Any, also_test_file: bool = True, map_location: Any = None) -> Any:
        """getExportImportCopy; methods _pack are called before saving, _unpack after loading."""
        content = io.BytesIO()
        m.apply(lambda s: s._pack() if s._c._has_method("_pack") else None)
        torch.jit.save(m, content)
        m.apply(lambda s: s._unpack() if s._c._has_method("_unpack") else None)
        content.seek(0)
        loaded = torch.jit.load(content, map_location=map_location)
        loaded.apply(lambda s: s._unpack() if s._c._has_method("_unpack") else None)
        return loaded


def _codes(module: Any) -> dict[str, str]:
    """The code of each method of a module and of its submodules."""
    return {f"{path}.{name}": m._c._get_method(name).code for path, m in module.named_modules() for name in m._c._method_names()}


def _behind_guards(graph: Any) -> list[Any]:
    """The nodes of a graph; of an If behind a check, those of its first block."""
    found = []
    for node in graph.nodes():
        if node.kind() == "prim::If":
            found += _behind_guards(next(iter(node.blocks())))
        elif node.kind() == "prim::DifferentiableGraph":
            found += _behind_guards(node.g("Subgraph"))
        else:
            found.append(node)
    return found


def _annotations() -> dict[str, Any]:
    import typing

    return {name: getattr(typing, name) for name in ("Any", "Dict", "List", "NamedTuple", "Optional", "Tuple", "Union")}


def _with_gradients(values: Sequence[Any]) -> list[Any]:
    return [
        v.detach().clone().requires_grad_() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
        for v in values
    ]


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._C._onnx": "OperatorExportTypes",
    "torchjit._jit_internal": "BroadcastingList2 BroadcastingList3",
    "torchjit.autograd.function": "_nested_map",
    "torchjit.autograd.variable": "Variable",
})  # fmt: skip
