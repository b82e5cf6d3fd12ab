"""Profiles: what compiled code runs is in them, and the self times of their events add up to the time that passed."""

import functools
import importlib.util
import json
import pathlib
import threading
import warnings

import pytest

import torchjit as torch
from torchjit.autograd import profiler


@functools.cache
def _benchmark():
    path = pathlib.Path(__file__).parent.parent / "benchmarks" / "compiled.py"
    spec = importlib.util.spec_from_file_location("compiled_modules", path)
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():  # the script ignores all from then on
        spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("name, make, make_arguments", [pytest.param(*row, id=row[0]) for row in _benchmark().table()])
def test_self_times_are_those_of_the_whole(name, make, make_arguments):
    """All of a call is an event, and what has events inside has the rest itself. How much of the clock's time that is, `benchmarks/compiled.py --profile` measures."""
    arguments = make_arguments()
    f = _benchmark().compiled(make, arguments)
    with torch.no_grad(), profiler.profile() as p:
        for _ in range(3):
            f(*arguments)
    whole = [e for e in p.function_events if e.cpu_parent is None]
    assert len([e for e in whole if not e.name.startswith("release of ")]) == 3
    assert p.self_cpu_time_total == pytest.approx(sum(e.time_range.elapsed_us() for e in whole))
    assert all(e.self_cpu_time_total >= 0 for e in p.function_events)


def _names(f, *arguments, calls=3):
    with torch.no_grad():
        for _ in range(calls):
            f(*arguments)
        with profiler.profile() as p:
            f(*arguments)
    return p, [e.name for e in p.function_events]


def test_kernels_of_several_operators_are_events():
    def f(x):
        y = torch.sigmoid(x * 2 + 1) * x
        return torch.softmax(y.cumsum(0), 0)

    _, names = _names(torch.jit.script(f), torch.randn(64, 64))
    assert "f" in names and any(n.startswith("fused_mul_add_sigmoid") for n in names)
    assert "aten::cumsum" in names and "aten::softmax" in names


def test_steps_of_plans_are_events():
    net = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.GELU(), torch.nn.Linear(32, 8)).eval()
    p, names = _names(torch.jit.script(net), torch.randn(64, 32))
    assert {"nn.Module: Sequential", "forward", "plan", "linear+gelu"} <= set(names)
    step = next(e for e in p.function_events if e.name == "linear+gelu")
    assert [step.cpu_parent.name, step.cpu_parent.cpu_parent.name] == ["plan", "forward"]


def test_native_loops_are_events():
    def f(n: int):
        total = 0
        for i in range(n):
            total += i * i % 7
        return total

    p, names = _names(torch.jit.script(f), 10000)
    assert set(names) == {"native loop", "f"}
    assert all(e.cpu_parent.name == "f" for e in p.function_events if e.name == "native loop")


def test_modules_and_nodes_of_gradients_are_events():
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    before = torch.nn.Module.__call__
    with profiler.profile() as p:
        net(torch.randn(2, 4)).sum().backward()
    assert torch.nn.Module.__call__ is before
    parents = {e.name: e.cpu_parent.name if e.cpu_parent else None for e in p.function_events}
    assert parents["aten::linear"] == "nn.Module: Linear" and parents["nn.Module: Linear"] == "nn.Module: Sequential"
    assert parents["nn.Module: Sequential"] is None
    assert parents["ReluBackward0"] == "autograd::engine::evaluate_function: ReluBackward0"


def test_forked_calls_have_threads_of_their_own():
    @torch.jit.script
    def work(x):
        return torch.mm(x, x)

    @torch.jit.script
    def f(x):
        a = torch.jit.fork(work, x)
        b = torch.mm(x, x)
        return torch.jit.wait(a) + b

    p, _ = _names(f, torch.randn(64, 64))
    threads = {e.name: e.thread for e in p.function_events if e.name in ("f", "<forked function>")}
    assert threads["f"] != threads["<forked function>"]
    assert all(e.self_cpu_time_total >= 0 for e in p.function_events)


def test_calls_of_other_threads_are_theirs():
    f = torch.jit.script(torch.nn.Linear(4, 4))
    x = torch.randn(2, 4)
    with profiler.profile() as p:
        f(x)
        thread = threading.Thread(target=f, args=(x,))
        thread.start()
        thread.join()
    assert len({e.thread for e in p.function_events if e.name == "forward"}) == 2


def test_a_failed_call_ends_its_events():
    f = torch.jit.script(torch.nn.Linear(4, 4))
    with profiler.profile() as p, pytest.raises(RuntimeError):
        f(torch.randn(2, 3))
    assert {e.name for e in p.function_events} >= {"nn.Module: Linear", "forward"}


def test_traces_hold_the_same_events(tmp_path):
    net = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()))
    with torch.profiler.profile() as p:
        net(torch.randn(2, 4))
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    shown = [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert shown == [(e.name, e.time_range.start, e.time_range.elapsed_us()) for e in p.events()]
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} >= {"thread 0"}
