"""What is shown of a call is what ran: the events of a call are the nodes of the graph that torch.jit.explain shows.

The JIT overview, "Graph Executor" and "Fusers", shows the graph that runs; so does the source-code read note, "GraphExecutor". Here each call of tests/programs,
and of modules, runs in a profile, and its events are counted against the nodes: a node outside of branches and loops runs once, one in a branch at
most once, and nothing runs that is not shown.
"""

import collections
import copy
import pathlib
import re
import shutil
import tarfile

import conformance
import pytest

import torchjit as torch
from torchjit import _C, nn
from torchjit.nn import functional as F

HERE = pathlib.Path(__file__).parent

# The settings of the executor in which calls run.
SETTINGS = {
    "usual": {},
    "fuser off": {"_jit_set_texpr_fuser_enabled": False},
    "optimizer off": {"_set_graph_executor_optimize": False},
    "profiling": {"_jit_set_profiling_executor": True},
    "groups": {"_jit_set_profiling_executor": True, "_jit_override_can_fuse_on_cpu": True, "_jit_set_te_must_use_llvm_cpu": False},
}
# What the settings are without a program that sets them.
USUAL = {
    "_jit_set_texpr_fuser_enabled": True,
    "_set_graph_executor_optimize": True,
    "_jit_override_can_fuse_on_cpu": False,
    "_jit_set_te_must_use_llvm_cpu": True,
}

# The events of nodes that have another name.
NAMES = {
    "prim::ConstantChunk": "aten::chunk",
    "prim::Loop": "native loop",  # one of numbers, which is machine code
    "prim::DifferentiableGraph": "<forward op>",
    "aten::grad": "autograd::engine::execute",
}
GROUP = "prim::TensorExprGroup"
# Nodes of containers and control flow are instructions of the interpreter, and tell no profile: so do all with prim.
INSTRUCTIONS = {"aten::__getitem__", "aten::append", "aten::_unwrap_optional", "aten::wait", "aten::item"}
MANY = 10**6

NODE = re.compile(r"(\s+)(?:(%.*?) = )?([a-z_]\w*::\w+|\^\w+)[\[(]")


class Node:
    """A node of the text of a graph, and the nodes of its blocks."""

    def __init__(self, indent, results, kind, place, planned, is_fallback):
        self.indent, self.results, self.kind, self.place, self.planned, self.is_fallback = indent, results or "", kind, place, planned, is_fallback
        self.blocks = []

    def tells(self):
        """Whether it must have an event: an operator that gives a tensor."""
        return self.kind in ("prim::ConstantChunk", "aten::grad") or (
            self.kind.startswith("aten::") and self.kind not in INSTRUCTIONS and re.search(r": (Tensor|\w+\(.*\))", self.results) is not None
        )


def parts(text):
    """The nodes of the graph of a text; those of a subgraph are in the node that runs it. A graph's subgraphs stand behind it, numbered by themselves."""
    main = graph = []
    open_nodes, fallbacks, runs, outer = [], set(), [], []
    for line in text.splitlines():
        if found := re.match(r"with (\S+) = graph\(", line):
            outer.append(runs)
            while not (running := [node for node in outer[-1] if node.kind == found[1]]):
                outer.pop()
            running[0].kind = found[1].rpartition("_")[0]
            graph, open_nodes, runs = running[0].blocks, [], []
        elif found := NODE.match(line):
            indent, results, kind = len(found[1]), found[2], found[3]
            while open_nodes and open_nodes[-1].indent >= indent:
                open_nodes.pop()
            if "fallback=1" in line:
                fallbacks.add(results.partition(" ")[0])
            node = Node(indent, results, kind, line.partition(" # ")[2], "region=" in line, any(f"({name}," in line or f"({name})" in line for name in fallbacks))
            (open_nodes[-1].blocks if open_nodes else graph).append(node)
            open_nodes.append(node)
            runs.append(node)
    return main


def operators(group):
    """The kinds of the nodes of a group, and of those that lie in it."""
    found = []
    for node in group.blocks:
        if node.kind == GROUP:
            found += operators(node)
        elif node.kind not in ("prim::Constant", "prim::ListConstruct"):
            found.append(node.kind)
    return found


def kernel(group):
    """The name of the event of a group that runs as one."""
    return "plan" if group.planned else "fused_" + "_".join(kind.partition("::")[2] for kind in operators(group))


def counted(nodes, events, once=True, most=1):
    """The least and the most events of each name that nodes may have; once says that they run exactly once, most how often else."""
    least, greatest = collections.Counter(), collections.Counter()
    for node in nodes:
        name = NAMES.get(node.kind, node.kind)
        if node.kind == GROUP:
            name = kernel(node)
            ran = events[name] > 0  # else its nodes ran one by one
            inner_least, inner_greatest = counted(node.blocks, events, once, most)
            least += collections.Counter({name: 1}) if once and ran else inner_least
            greatest += inner_greatest
        else:
            inner_once = once and node.kind == "prim::DifferentiableGraph"
            inner_least, inner_greatest = counted(node.blocks, events, inner_once, MANY if node.kind == "prim::Loop" else most)
            least += inner_least
            greatest += inner_greatest
            least[name] += once and node.tells()
        greatest[name] += MANY if node.kind == "prim::Loop" else most
    return least, greatest


def events_of(profile, name):
    """What ran directly in the call of a function: events of operators that operators are made of are theirs."""
    found = [e for e in profile.function_events if e.name == name and all(p.name.startswith("nn.Module: ") for p in parents(e))]
    assert len(found) == 1, f"{len(found)} calls of {name}"
    counts = collections.Counter()

    def add(event):
        for child in event.cpu_children:
            if child.name == "release of a tensor":
                continue  # Python's collector of cycles may come by at any time
            counts[child.name] += 1
            if child.name == "<forward op>":
                add(child)

    add(found[0])
    return counts


def parents(event):
    while event.cpu_parent is not None:
        event = event.cpu_parent
        yield event


def calls(node, fell_back):
    """Whether a node, or one in its blocks, calls what has a graph of its own, or Python. Functions for other types are called where guards fail."""
    is_call = node.kind in ("prim::CallMethod", "prim::CallFunction") and (fell_back or not node.is_fallback)
    return is_call or node.kind.startswith("^") or any(calls(n, fell_back) for n in node.blocks)


def unlike(nodes, events, fell_back=False):
    """What the events of a call have other than the nodes that are shown of it."""
    least, greatest = counted(nodes, events)
    if any(calls(node, fell_back) for node in nodes):
        greatest.update(dict.fromkeys(events, MANY))  # the graph of what is called is not shown
    for name in sorted({*least, *events}):
        if not least[name] <= events[name] <= greatest[name]:
            yield f"{name}: {events[name]} events, {least[name]} to {greatest[name]} nodes"


def guarded(nodes):
    """The names of the events of all that runs behind a guard."""
    for node in nodes:
        if node.kind in (GROUP, "prim::DifferentiableGraph"):
            yield kernel(node) if node.kind == GROUP else NAMES[node.kind]
        yield from guarded(node.blocks)


def groups(nodes):
    """All groups among nodes and in their blocks."""
    for node in nodes:
        if node.kind == GROUP:
            yield node
        yield from groups(node.blocks)


def copied(nodes):
    """The names of the events of what a block, with the plans in it, has twice from the same place: views that nodes of a plan read, and others too."""
    flat = [inner for node in nodes for inner in ([*node.blocks, node] if node.kind == GROUP and node.planned else [node])]
    count = collections.Counter((node.kind, node.place) for node in flat if node.place)
    names = {NAMES.get(kind, kind) for (kind, _), n in count.items() if n > 1}
    return names.union(*(copied(node.blocks) for node in nodes))


def apart(events, nodes):
    """The events of a call as if each operator of a kernel and of a plan had its own; None where it cannot be told which plans ran."""
    plans = [group for group in groups(nodes) if group.planned]
    if events["plan"] not in (0, len(plans)):
        return None
    found = collections.Counter(events)
    ran = [(group, 1) for group in plans] if found.pop("plan", 0) else []
    ran += [(group, found.pop(kernel(group))) for group in groups(nodes) if not group.planned and kernel(group) in found]
    for group, count in ran:
        for operator in operators(group):
            found[NAMES.get(operator, operator)] += count
    return found


class Shown:
    """A program whose calls note what differs between their events and the graph that is shown."""

    def __init__(self, program, warm, found):
        self.program, self.warm, self.found = program, warm, found

    def __getattr__(self, name):
        found = getattr(self.program, name)
        return Shown(found, self.warm, self.found) if hasattr(found, "_explain") else found

    def __call__(self, *args, **kwargs):
        for _ in range(self.warm):
            self.program(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        with torch.autograd.profiler.profile() as profile:
            result = self.program(*args, **kwargs)
        try:
            found = self.differences(profile)
        except Exception as error:  # which the run of a case would take for the program's
            found = [repr(error)]
        self.found.append(found)
        return result

    def differences(self, profile):
        explained = torch.jit.explain(self.program)
        events, nodes = events_of(profile, explained.name), parts(explained.graph)
        fell_back = not any(name in events for name in guarded(nodes))
        found = list(unlike(nodes, events, fell_back))
        events = apart(events, nodes)
        if events is not None:
            optimized = getattr(self.program, "forward", self.program).get_debug_state().execution_plans
            optimized = next(iter(optimized.values())).graph
            twice = copied(nodes)  # the optimized graph has them once
            found += [f"optimized graph: {line}" for line in unlike(parts(str(optimized)), events, fell_back) if line.partition(": ")[0] not in twice]
        return found


@pytest.fixture(params=SETTINGS)
def setting(request):
    for name, value in SETTINGS[request.param].items():
        getattr(_C, name)(value)
    yield request.param
    for name, value in USUAL.items():
        getattr(_C, name)(value)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    with tarfile.open(HERE / "data" / "corpus.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    for source in (HERE / "programs").glob("*.py"):
        shutil.copy(source, folder / "script")
    return folder


def test_programs_run_what_is_shown(setting, corpus, monkeypatch):
    """JIT overview, "Graph Executor": the graph that is shown of a call is the one that ran, in every setting of the executor."""
    monkeypatch.chdir(corpus)
    installed = conformance.load_torch("torchjit")
    warm = 3 if setting in ("profiling", "groups") else 0
    calls, differ = 0, []
    for name in sorted(p.stem for p in (HERE / "programs").glob("*.py")):
        meta, arrays = conformance.read_meta(str(corpus), "script", name)
        namespace = conformance.load_program(f"script/{name}.py", name)
        for entry in meta["entries"]:
            if entry["kind"] not in ("function", "module"):
                continue
            try:
                program = conformance.compile_entry(installed, namespace, entry, arrays)
            except Exception:
                continue  # the test of programs tells of those that do not compile
            for case in entry.get("cases", []):
                found = []
                conformance.run_case(installed, namespace, Shown(program, warm, found), entry, case, arrays, conformance.Store())
                calls += len(found)
                differ += [f"{name}, {entry.get('expr', '')[:40]}: {line}" for lines in found for line in lines]
    assert not differ, "\n".join(differ)
    assert calls > 400


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x).mean(1)


class Loops(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x):
        h = c = torch.zeros(x.size(1), 4)
        for step in x:
            h, c = self.cell(step, (h, c))
            if bool(h.sum() > 100):
                h = h * 2
        return h


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x).sum((2, 3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4)

    def forward(self, x):
        return self.lstm(x)[0].tanh() * 2


MODULES = {
    "multilayer perceptron": (nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2), nn.Softmax(1)), (3, 4)),
    "attention": (Attention(), (2, 5, 8)),
    "loop": (Loops(), (3, 2, 4)),
    "residual": (Residual(), (1, 3, 6, 6)),
    "recurrent": (Recurrent(), (3, 2, 4)),
    "overloaded": (nn.GRU(3, 4), (2, 1, 3)),
}


@pytest.mark.parametrize("gradients", [False, True], ids=["no gradients", "gradients"])
@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("name", MODULES)
def test_modules_run_what_is_shown(setting, name, training, gradients):
    """Source-code read note, "GraphExecutor": the graph that is shown of a module's call is the one that ran, with gradients and without."""
    module, sizes = MODULES[name]
    module = torch.jit.script(copy.deepcopy(module).train(training))
    found = []
    for round in range(4):  # the first ones fill profiles and make plans
        torch.manual_seed(round)
        with torch.set_grad_enabled(gradients):
            Shown(module, 0, found)(torch.randn(*sizes, requires_grad=gradients))
    assert found == [[]] * 4


def test_what_differs_is_found():
    """A node that did not run, an event without a node and a group that ran otherwise are told."""
    nodes = parts(
        "graph(%x : Tensor):\n  %1 : Tensor = aten::neg(%x)\n  %2 : Tensor = prim::TensorExprGroup_0(%1)\n  return (%2)\n"
        "with prim::TensorExprGroup_0 = graph(%y : Tensor):\n  %3 : Tensor = aten::exp(%y)\n  %4 : Tensor = aten::mul(%3, %y)\n  return (%4)\n"
    )

    def found(**events):
        return [line.partition(":: ")[0].partition(": ")[0] for line in unlike(nodes, collections.Counter({n.replace("_", "::", n[:4] == "aten"): c for n, c in events.items()}))]

    assert found(aten_neg=1, fused_exp_mul=1) == found(aten_neg=1, aten_exp=1, aten_mul=1) == []
    assert found(aten_neg=1, aten_exp=1) == ["aten::mul"]
    assert found(aten_neg=2, fused_exp_mul=1) == ["aten::neg"]
    assert found(aten_neg=1, fused_exp_mul=1, aten_relu=1) == ["aten::relu"]


def test_plans_begin_only_where_they_end():
    """Weights whose memory others have are no plan's: none of its steps runs before that is known."""

    def f(x, weight):
        return torch.conv2d(x, weight, None, 2, 1), torch.conv2d(x, weight)

    weight = torch.ones(2, 2, 3, 3)
    weight.numpy()
    f, found = torch.jit.script(f), []
    Shown(f, 0, found)(torch.ones(1, 2, 5, 5), weight)
    assert found == [[]] and "others may write the weights unseen" in str(torch.jit.explain(f))


@pytest.mark.parametrize("size", [0, 3, 9])
def test_shown_graphs_run_as_calls_do(setting, size):
    """JIT overview, "Graph Executor": running the graph that is shown gives the events of the call, with its branches and loops."""
    text = (
        "def f(x, n: int):\n    for i in range(n):\n        if i % 2 == 0:\n            x = (x * 2 + i).relu()\n        else:\n"
        "            x = torch.mm(x, x)\n    return x\n"
    )
    f, x = torch.jit.CompilationUnit(text).f, torch.ones(2, 2)
    for _ in range(3):
        f(x, size)

    def counts(call):
        with torch.autograd.profiler.profile() as profile:
            call()
        operators = collections.Counter()
        for name in (e.name for e in profile.function_events if e.name != "f" and not e.cpu_children):
            kernel = re.fullmatch(r"fused_(.*)", name)  # the first call of a graph is profiled, and has no kernels
            operators.update([f"aten::{operator}" for operator in kernel[1].split("_")] if kernel else [name])
        return operators

    ran = counts(lambda: f(x, size))
    shown = torch.jit.last_executed_optimized_graph()
    assert ran == counts(lambda: _C._jit_interpret_graph(shown, (x, size)))
    assert ran["aten::mm"] == size // 2


@pytest.mark.parametrize("setting", ["groups"], indirect=True)
@pytest.mark.parametrize("gradients", [False, True])
def test_explanations_have_the_groups_of_specialized_code(setting, gradients):
    """The groups of graphs that groups and differentiable graphs run are told, as those of a graph without profiles are."""

    def f(x, y):
        return (x * y + x).relu()

    f, x = torch.jit.script(f), torch.ones(3, requires_grad=gradients)
    for _ in range(3):
        f(x, x)
    explained = torch.jit.explain(f)
    assert [group.operators for group in explained.groups] == [["aten::mul", "aten::add", "aten::relu"]]
    assert ("prim::DifferentiableGraph" in explained.graph) == gradients
