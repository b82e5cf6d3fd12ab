"""What the documents say that PyTorch was designed by: each test names the document and its section."""

import collections
import os
import re
import subprocess
import sys

import pytest

import torchjit as torch
from torchjit import _C
from torchjit.testing._internal.jit_utils import JitTestCase, check_ad, normalize_check_ad


def child(program, **env):
    """What a program prints, and what it prints as errors, in a process of its own."""
    found = subprocess.run([sys.executable, "-c", program], env={**os.environ, **env}, capture_output=True, text=True, check=True)
    return found.stdout, found.stderr


# ---- IR document (2018) ----


def test_nodes_are_found_by_a_schema():
    """IR document, "Node": a node matches the text of a schema, whose overload need not be named."""
    node = _C.parse_ir("graph(%a : Tensor):\n  %1 : int = prim::Constant[value=1]()\n  %c : Tensor = aten::add(%a, %a, %1)\n  return (%c)").findNode("aten::add")
    assert node.matches("aten::add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    assert not node.matches("aten::sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    with pytest.raises(RuntimeError, match="Couldn't find an operator for aten::add"):
        node.matches("aten::add(Tensor self) -> Tensor")


def test_kinds_of_attributes():
    """IR document, "Node": attributes have kinds, lists of tensors too."""
    node = _C.Graph().create("my::thing", [], 1)
    node.ts_("a", [torch.ones(1)]).t_("b", torch.ones(2)).is_("c", [1])
    assert [node.kindOf(name) for name in ("a", "b", "c")] == ["ts", "t", "is"]


def test_values_belong_to_one_graph():
    """IR document, "Graph": a result is a value of the graph."""
    value = _C.Graph().addInput()
    with pytest.raises(RuntimeError, match="another graph"):
        _C.Graph().registerOutput(value)


LSTM = """
def cell(input: Tensor, hx: Tensor, cx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor):
    gates = torch.mm(input, w_ih.t()) + torch.mm(hx, w_hh.t()) + b_ih + b_hh
    ingate, forgetgate, cellgate, outgate = gates.chunk(4, 1)
    cy = torch.sigmoid(forgetgate) * cx + torch.sigmoid(ingate) * torch.tanh(cellgate)
    return torch.sigmoid(outgate) * torch.tanh(cy), cy


def lstm(input: Tensor, hx: Tensor, cx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor):
    outputs = []
    for i in range(input.size(0)):
        hx, cx = cell(input[i], hx, cx, w_ih, w_hh, b_ih, b_hh)
        outputs.append(hx)
    return hx, cx
"""


def lstm_arguments(*sizes, gradients=False):
    return [torch.randn(*size, requires_grad=gradients) for size in (sizes, (3, 5), (3, 5), (20, 4), (20, 5), (20,), (20,))]


def test_lists_that_nothing_reads_are_no_part_of_a_loop():
    """IR document (2018), the graph of simple_lstm: the loop carries the state, and its list of outputs is gone."""
    graph = torch.jit.CompilationUnit(LSTM).lstm.graph
    assert graph.findNode("aten::append") is None and graph.findNode("prim::ListConstruct") is None
    loop = graph.findNode("prim::Loop")
    assert [v.debugName() for v in loop.outputs()] == ["hx", "cx"]


@pytest.fixture
def grouping():
    """The executor as in PyTorch's builds with LLVM: functions are profiled, and groups are made on the CPU."""
    for name, value in GROUPING.items():
        getattr(_C, name)(value)
    yield
    for name, value in GROUPING.items():
        if name != "_jit_set_profiling_executor":
            getattr(_C, name)(not value)


GROUPING = {"_jit_set_profiling_executor": True, "_jit_override_can_fuse_on_cpu": True, "_jit_set_te_must_use_llvm_cpu": False}


def specialized(*sizes, gradients=False):
    f = torch.jit.CompilationUnit(LSTM).cell
    for _ in range(3):
        f(*lstm_arguments(*sizes, gradients=gradients))
    return torch.jit.last_executed_optimized_graph()


def kinds(graph):
    return [node.kind() for node in graph.nodes() if node.kind() != "prim::Constant"]


def test_executors_specialize_by_arguments(grouping):
    """IR document (2018), "Specialization": the graph that runs says what elements, sizes and gradients it is for, and has a way for others."""
    graph = specialized(3, 4)
    check = graph.findNode("prim::TypeCheck")
    assert "Float(3, 20, strides=[20, 1], requires_grad=0, device=cpu)" in str(check)
    yes, no = (kinds(block) for block in list(check.outputs())[-1].uses()[0].user.blocks())
    assert (yes, no) == (["prim::TensorExprGroup"], ["prim::CallFunction", "prim::TupleUnpack"])


# ---- JIT overview, old ----


def test_fusion_groups_are_made():
    """JIT overview (old), "FusionGroup": a graph makes a node with an empty Subgraph."""
    graph = _C.Graph()
    node = graph.insertNode(graph.createFusionGroup())
    assert node.kind() == "prim::FusionGroup" and str(node.g("Subgraph")) == "graph():\n  return ()\n"
    assert str(graph) == "graph():\n   = prim::FusionGroup_0()\n  return ()\nwith prim::FusionGroup_0 = graph():\n  return ()\n"


# ---- JIT overview ----

SHOWN = """graph(%x.1 : Tensor,
      %y.1 : Tensor):
  %2 : Tensor = prim::DifferentiableGraph_0(%x.1, %y.1)
  return (%2)
with prim::DifferentiableGraph_0 = graph(%x.1 : Tensor,
      %y.1 : Tensor):
  %2 : Tensor = aten::mul(%x.1, %y.1)
  %3 : int = prim::Constant[value=1]()
  %4 : Tensor = aten::add(%2, %x.1, %3)
  return (%4)
"""


def test_shown_graphs_are_read_back_and_run():
    """JIT overview, "DifferentiableGraphOp": texts with `with prim::X_0 = graph(...)` are graphs."""
    graph = _C.parse_ir(SHOWN)
    assert str(graph) == SHOWN
    assert torch.equal(_C._jit_interpret_graph(graph, (torch.full((2,), 3.0), torch.full((2,), 2.0))), torch.full((2,), 9.0))
    with pytest.raises(RuntimeError, match="no node of the text runs prim::X_0"):
        _C.parse_ir("graph():\n  return ()\nwith prim::X_0 = graph():\n  return ()")


LOGGED = """
import torchjit as torch
cu = torch.jit.CompilationUnit("def f(x):\\n    y = x.neg()\\n    z = x + 1\\n    return z * (x + 1)\\n")
cu.f(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("level", "has", "lacks"),
    [
        ("common_subexpression_elimination", "[DUMP equal] After equal:", "UPDATE"),
        (">equal", "[UPDATE equal] -  %", "DEBUG"),
        (">>equal:peephole", "[DEBUG equal] Before equal:", "dead_code"),
        ("nothing", "", "["),
        ("", "", "["),
    ],
)
def test_passes_are_logged(level, has, lacks):
    """JIT overview, "Jit Logging": GRAPH_DUMP, GRAPH_UPDATE and GRAPH_DEBUG of the passes that PYTORCH_JIT_LOG_LEVEL names."""
    _, printed = child(LOGGED, PYTORCH_JIT_LOG_LEVEL=level)
    assert has in printed and lacks not in printed


def test_logging_is_set_by_a_program(tmp_path):
    """JIT overview, "Jit Logging": a program sets what is logged, and where."""
    file = tmp_path / "log"
    program = LOGGED.replace("cu =", f"torch._C._jit_set_logging_option('equal'); torch._C._jit_set_logging_stream({str(file)!r})\ncu =")
    assert child(program) == ("", "") and file.read_text().startswith("[DUMP equal] After equal:\n[DUMP equal] graph(%x.1 : Tensor):")


VERBOSE = "import torchjit as torch\nprint(torch.jit.trace(lambda x: x.t(), torch.ones(2, 3)).graph)"


@pytest.mark.parametrize(
    ("level", "parameter"),
    [("0", "%x)"), ("1", "%x : Float(2, 3))"), ("2", "%x : Float(2, 3, strides=[3, 1]))"), ("3", "%x : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu))")],
)
def test_verbosity_of_types(level, parameter):
    """JIT overview, "Jit Logging": PYTORCH_JIT_TYPE_VERBOSITY says how much of types is shown."""
    printed, _ = child(VERBOSE, PYTORCH_JIT_TYPE_VERBOSITY=level)
    assert printed.startswith(f"graph({parameter}:\n")


def test_optimizations_are_limited():
    """JIT overview, "Jit Opt Limit": a step runs as often as PYTORCH_JIT_OPT_LIMIT says."""
    logged = {"PYTORCH_JIT_LOG_LEVEL": "equal:sweep"}
    for limit, steps in (("equal=0", ["sweep"]), ("dead_code_elimination=0", ["equal"]), ("equal=1", ["equal", "sweep"]), ("x", ["equal", "sweep"])):
        _, printed = child(LOGGED, PYTORCH_JIT_OPT_LIMIT=limit, **logged)
        assert [s for s in ("equal", "sweep") if f"After {s}:" in printed] == steps, limit


def test_cells_are_one_group(grouping):
    """JIT overview, "Fusers": what is elementwise in a cell, chunk among it, is one group."""
    group = specialized(3, 4).findNode("prim::TensorExprGroup").g("Subgraph")
    assert collections.Counter(kinds(group)) == {"aten::add": 4, "prim::ConstantChunk": 1, "aten::sigmoid": 3, "aten::tanh": 2, "aten::mul": 3}


def test_cells_are_one_differentiable_graph(grouping):
    """JIT overview, "Derivate Splitting": with gradients the whole cell is one differentiable graph, behind a check of what requires them."""
    graph = specialized(3, 4, gradients=True)
    assert kinds(graph) == ["prim::RequiresGradCheck", "prim::If", "prim::TupleConstruct"]
    body = graph.findNode("prim::DifferentiableGraph").g("Subgraph")
    assert [kinds(body).count(kind) for kind in ("aten::mm", "aten::t", "prim::ConstantChunk", "aten::sigmoid")] == [2, 2, 1, 3]


class TestPrograms(JitTestCase):
    """JIT overview, "Testing Programs"."""

    def test_programs_are_compared(self):
        self.checkScript("def func(x, n: int):\n    if n > 2:\n        return x * n\n    return x\n", (torch.ones(2), 3))
        self.checkModule(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
        self.checkTrace(lambda x: x.relu() * 2, (torch.randn(3),))

        def prints(n: int):
            print(n)
            return n

        with pytest.raises(RuntimeError, match=r"I got this output for .* \(stdout\):\n\n3"):
            self.checkScript(prints, (3,), capture_output=True)

    def test_differences_fail(self):
        def differs(x):
            if torch.jit.is_scripting():
                return x + 1
            return x

        with pytest.raises(AssertionError):
            self.checkScript(differs, (torch.ones(2),))

    def test_errors_are_compared(self):
        def fails(x):
            raise ValueError("no such thing")

        self.checkScriptRaisesRegex(fails, (torch.ones(1),), Exception, "no such thing")
        with self.assertRaisesRegexWithHighlight(RuntimeError, "undefined value", "missing"):
            torch.jit.CompilationUnit("def f(x):\n    return missing\n")

    def test_graphs_are_counted(self):
        graph = torch.jit.script(_branches).graph
        self.assertGraphContains(graph, "aten::relu")
        self.assertGraphContainsExactly(graph, "aten::neg", 1)
        with pytest.raises(AssertionError, match="graph does not contain aten::exp"):
            self.assertGraphContains(graph, "aten::exp")
        assert "aten::relu" in str(self.run_pass("cse", graph))

    def test_autodiff_is_checked(self):
        should, nonfusible, fusible = normalize_check_ad(check_ad(True, ["aten::mul"], "aten::add"), "f")
        self.assertAutodiffNode(_C.parse_ir(SHOWN), should, nonfusible, fusible)
        assert normalize_check_ad([False], "conv1d") == (False, ["aten::conv1d"], [])
        with pytest.raises(AssertionError, match="should be in a DifferentiableGraph"):
            self.assertAutodiffNode(_C.parse_ir(SHOWN), True, ["aten::tanh"], [])


def _branches(x, n: int):
    if n > 0:
        return x.relu()
    return x.neg()


class Printed(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x + 1


def test_script_modules_without_init_are_compiled(tmp_path):
    """JIT overview, "Python Printer": its class has no __init__, and is compiled when it is made."""
    module = Printed()
    assert module.graph.findNode("aten::add") is not None and "def forward(self" in module.code
    module.save(str(tmp_path / "m.pt"))
    assert torch.equal(torch.jit.load(str(tmp_path / "m.pt"))(torch.ones(1)), torch.full((1,), 2.0))


@torch.jit.script
def _forked(x):
    return torch.jit.fork(torch.neg, x)


def test_traces_know_futures():
    """JIT overview, "Fork/wait": a trace waits for a Future that a script function gave, and records forks of its own."""
    traced = torch.jit.trace(lambda x: torch.jit.wait(_forked(x)) + 1, torch.ones(2))
    assert torch.equal(traced(torch.full((2,), 5.0)), torch.full((2,), -4.0))
    graph = torch.jit.trace(lambda x: torch.jit.wait(torch.jit.fork(torch.relu, x)), torch.ones(2)).graph
    assert [graph.findNode(kind) is not None for kind in ("prim::fork", "aten::wait")] == [True, True]


def test_with_blocks_are_left():
    """JIT overview, "Exit transforms": return, break and continue leave a with."""
    text = (
        "def f(n: int):\n    for i in range(n):\n        with torch.no_grad():\n            if i == 1:\n                continue\n"
        "            if i == 3:\n                break\n            if i > n - 2:\n                return i\n    return -1\n"
    )
    f = torch.jit.CompilationUnit(text).f
    assert [f(n) for n in (0, 1, 2, 3, 5)] == [-1, 0, -1, 2, -1]


def test_names_of_values_behind_exits():
    """JIT overview, "Exit Transform": the names in the graph of its example are PyTorch's, numbers included, also where both branches leave."""
    text = "def f(n: int):\n    i = 0\n    while i < 5:\n        if i == 3:\n            i += 1\n            continue\n        i += 2\n    return i\n"

    def names(text):
        return re.findall(r"%(i(?:\.\d+)?) :", str(torch.jit.CompilationUnit(text).f.graph))

    assert names(text) == ["i.1", "i", "i.31", "i.9", "i.41"]
    assert names(text.replace("continue", "break")) == ["i.1", "i", "i.31", "i.9", "i.37"]
    assert names(text.replace("        i += 2", "        else:\n            i += 2\n            break")) == ["i.1", "i", "i.33", "i.9", "i.15"]


def test_exits_leave_out_what_follows():
    """JIT overview, "Exit Transform": behind branches that raise and return nothing stays; what a branch leaves with has its own type."""
    unreachable = "def f(i: float):\n    if i < 0:\n        raise Exception('negative')\n    else:\n        return i * i\n    print(i)\n"
    f = torch.jit.CompilationUnit(unreachable).f
    assert f(4.0) == 16.0 and f.graph.findNode("prim::Print") is None and f.graph.findNode("prim::Uninitialized") is not None
    refined = torch.jit.CompilationUnit(
        "def f(n: int, c: bool):\n    x: Optional[int] = 0\n    s = 0\n    for i in range(n):\n        if c:\n            if i < 3:\n                x = None\n"
        "                continue\n            x = 1\n        else:\n            x = 2\n        s += x\n    return s, x\n"
    ).f
    assert [refined(n, c) for n, c in ((2, True), (5, True), (2, False))] == [(0, None), (2, 1), (4, 2)]


def test_dead_writes_are_removed():
    """JIT overview, "Dead code elimination": writes to values of the function that nothing reads go, with their loops and views."""
    text = "def f(x):\n    l = [1]\n    y = torch.zeros(2)\n    for i in range(3):\n        y[i] = 1\n        l.append(i)\n    return x\n"
    assert {node.kind() for node in torch.jit.CompilationUnit(text).f.graph.nodes()} <= {"prim::Constant"}


def test_batched_products_have_a_side():
    """JIT overview, "BatchMM": products with a common factor are one node, which runs."""
    body = ", ".join(f"torch.mm(x, y + {i})" for i in range(8))
    graph = torch.jit.CompilationUnit(f"def f(x, y):\n    return [{body}]\n").f.graph
    _C._jit_pass_batch_mm(graph)
    assert graph.findNode("prim::MMBatchSide") is not None and graph.findNode("aten::mm") is None
    x, y = torch.randn(2, 3), torch.randn(3, 2)
    for i, product in enumerate(_C._jit_interpret_graph(graph, (x, y))):
        torch.testing.assert_close(product, torch.mm(x, y + i))


def test_chunks_and_checks_of_graphs_run():
    """JIT overview, "Fusion" and "Guards": prim::ConstantChunk and prim::RequiresGradCheck run."""
    chunk = _C.parse_ir("graph(%x : Tensor):\n  %a : Tensor, %b : Tensor = prim::ConstantChunk[chunks=2, dim=1](%x)\n  return (%b)")
    assert torch.equal(_C._jit_interpret_graph(chunk, (torch.arange(4).view(1, 4),)), torch.tensor([[2, 3]]))
    check = _C.parse_ir(
        "graph(%x : Tensor):\n  %0 : Float(2), %1 : bool = prim::RequiresGradCheck[types=[Float(2, requires_grad=1)]](%x)\n  return (%1)"
    )
    assert [_C._jit_interpret_graph(check, (torch.ones(2, requires_grad=needed),)) for needed in (True, False)] == [True, False]


def test_static_modules_run_frozen_graphs():
    """JIT overview, "Executors": what runs without gradients is made static, of a module or of a graph."""
    module = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval())
    x = torch.randn(3, 2)
    static = _C._jit_to_static_module(module._c)
    assert torch.equal(static(x), module(x)) and not static(x).requires_grad
    metrics = static.benchmark_individual_ops([x], {}, 1, 3)
    assert metrics.instances_per_node_type == {"aten::linear": 1, "aten::relu": 1} and metrics.total_nodes_count == 2
    assert metrics.total_time > 0 and abs(sum(metrics.percent_per_node_type.values()) - 100) < 1e-6
    of_graph = _C._jit_to_static_module(torch.jit.CompilationUnit("def f(a, b):\n    return a - b, [a]\n").f.graph)
    assert of_graph(x, x)[0].sum() == 0 and of_graph.runAsync((x, x), {}).wait()[0].shape == (3, 2)
    with pytest.raises(RuntimeError, match="Schema is not available"):
        of_graph(a=x, b=x)
    with pytest.raises(RuntimeError, match="missing value for argument 'b'"):
        of_graph(x)


SHOWN_AND_RUN = """
import torchjit as torch
@torch.jit.script
def f(x, y):
    return (x * y + x).relu()
with torch.autograd.profiler.profile() as profile:
    f(torch.ones(64), torch.ones(64))
print("TensorExprGroup" in str(torch.jit.explain(f)), any("fused" in e.name for e in profile.function_events), torch._C._jit_texpr_fuser_enabled())
"""


@pytest.mark.parametrize(
    ("setting", "printed"),
    [
        ("", "True True True\n"),
        ("torch._C._jit_set_texpr_fuser_enabled(False)", "False False False\n"),
        ("torch._C._set_graph_executor_optimize(False)", "False False True\n"),
    ],
)
def test_groups_are_shown_where_they_run(setting, printed, tmp_path):
    """JIT overview, "Fusion": while the fuser or the optimizer is off, no group runs and none is shown."""
    file = tmp_path / "program.py"
    file.write_text(SHOWN_AND_RUN.replace("@torch", f"{setting}\n@torch", 1))
    assert child(f"import runpy; runpy.run_path({str(file)!r})")[0] == printed


@pytest.mark.parametrize(
    ("strategy", "guards"),
    [
        ([("STATIC", 1), ("DYNAMIC", 1)], ["prim::TypeCheck", "prim::TensorExprDynamicGuard"]),
        ([("STATIC", 2)], ["prim::TypeCheck", "prim::TypeCheck"]),
        ([("DYNAMIC", 1)], ["prim::TensorExprDynamicGuard"]),
    ],
)
def test_specializations_are_limited(grouping, strategy, guards):
    """JIT overview, "Dynamic Shapes Options": so many graphs are for sizes or for any sizes, in the order of the strategy, each the fallback of the one before."""
    former = _C._jit_set_fusion_strategy(strategy)
    try:
        f = torch.jit.CompilationUnit("def f(x, y):\n    return torch.sigmoid(x) * y + 1\n").f
        for size in (3, 4, 5, 6):
            for _ in range(3):
                assert torch.allclose(f(torch.zeros(size), torch.ones(size)), torch.full((size,), 1.5))
        graph = torch.jit.last_executed_optimized_graph()
    finally:
        _C._jit_set_fusion_strategy(former)
    for _ in guards:
        _C._jit_pass_inline(graph)
    assert re.findall(r"prim::Type\w+|prim::TensorExprDynamicGuard", str(graph)) == guards


def test_libraries_for_pytorch_are_refused():
    """IR document (2018), "Operator registration": what was compiled against PyTorch cannot be loaded, which an error says."""
    with pytest.raises(OSError, match="cannot load libraries that were compiled against PyTorch. Operators can be defined with torch.library"):
        torch.ops.load_library("operators_of_nobody/my.so")


# ---- source-code read note (2018) ----


class MyModule(torch.jit.ScriptModule):
    @torch.jit.script_method
    def f(self, x):
        return x


def test_script_methods_are_compiled_without_init():
    """Source-code read note, "script_method": the note's module has one method, no __init__ and no forward."""
    module = MyModule()
    assert str(module.f.graph).endswith("return (%x.1)\n") and torch.equal(module.f(torch.ones(1)), torch.ones(1))


def test_code_has_executors_of_gradients():
    """Source-code read note, "Code": code has an executor for each differentiable graph."""
    f = torch.jit.CompilationUnit("def f(x):\n    return x * x + x\n").f
    profiling = _C._jit_set_profiling_executor(True), _C._jit_set_profiling_mode(True)
    try:
        for _ in range(3):
            f(torch.ones(2, requires_grad=True)).sum().backward()
        plans = f.get_debug_state().execution_plans.values()
        assert [len(plan.code.grad_executor_states()) for plan in plans] == [1]
    finally:
        _C._jit_set_profiling_executor(profiling[0]), _C._jit_set_profiling_mode(profiling[1])


def test_script_methods_are_stubs():
    """Source-code read note, "ScriptMethodStub": a marked method is a named tuple of what the compiler needs."""

    @torch.jit.script_method
    def f(self, x):
        return x

    assert type(f).__name__ == "ScriptMethodStub" and f._fields == ("resolution_callback", "def_", "original_method")
    callback, definition, method = f
    assert method.__name__ == "f" and definition.name().name == "f" and callback("torch") is torch


# ---- Export IR specification ----


def test_cond_has_its_name_in_functorch():
    """Export IR specification, "Control flow": its example imports cond from functorch."""
    program = (
        "import torchjit\ntorchjit.install_as_torch()\nfrom functorch.experimental.control_flow import cond\nimport torch\n"
        "def f(x):\n    return cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, [x])\n"
        "print(f(torch.ones(1)).item(), f(-torch.ones(1)).item(), cond is torch.cond)"
    )
    assert child(program)[0] == "2.0 -2.0 True\n"


def test_assertions_of_tensors_run():
    """Export IR specification, "Asserts": aten::_assert_async runs, in Python and in programs."""
    torch._assert_async(torch.ones(1))
    compiled = torch.jit.CompilationUnit("def f(x):\n    torch._assert_async(x)\n    return x\n").f
    assert torch.equal(compiled(torch.ones(1)), torch.ones(1))
    for call in (torch._assert_async, compiled):
        with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
            call(torch.zeros(1))
    with pytest.raises(RuntimeError, match="more than one value"):
        torch._assert_async(torch.ones(2))


class Asserts(torch.nn.Module):
    def forward(self, x):
        with torch.profiler.record_function("part"):  # tells a profiler, and is no node
            torch._assert_async(x.sum())
        return x + 1


def test_assertions_of_tensors_are_exported():
    """Export IR specification, "call_function": aten::_assert_async is a node of the graph, though nothing uses it."""
    program = torch.export.export(Asserts(), (torch.ones(1),))
    assert [node.name for node in program.graph.nodes] == ["x", "sum_1", "_assert_async", "add", "output"]
    for module in (program.module(), program.run_decompositions().module()):
        assert torch.equal(module(torch.ones(1)), torch.full((1,), 2.0))
        with pytest.raises(RuntimeError, match="nonzero value, but got zero"):
            module(torch.zeros(1))
