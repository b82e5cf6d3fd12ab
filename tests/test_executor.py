"""Functions that run by way of the profiling executor."""

import pytest

import torchjit as torch
from torchjit.testing import FileCheck, assert_close


@pytest.fixture(autouse=True)
def profiling():
    torch._C._jit_set_profiling_executor(True)
    yield
    torch._C._debug_set_autodiff_subgraph_inlining(True)
    torch._C._jit_set_num_profiled_runs(1)


def smooth(x, y):
    z = x * y + x
    return torch.tanh(z) * y


def branching(x, y, b: bool):
    z = x * y
    if b:
        z = z + y
    else:
        z = z.relu()
    return z.sigmoid() * x


def looping(x, y):
    for _ in range(5):
        x = torch.mm(x, y) + x
        x.add_(1)
    return x, x.t()


def printing(x, y):
    a = x * y
    print("between")
    return a, a * x + y


def script(fn):
    """A new function each time: what runs is kept with it."""
    return torch._C._create_function_from_graph(fn.__name__, torch.jit.script(fn).graph)


def numbers(*flags):
    torch.manual_seed(3)
    return [torch.rand(3, 3, requires_grad=flag) for flag in flags]


@pytest.mark.parametrize("inlining", [True, False])
@pytest.mark.parametrize("fn, rest", [(smooth, ()), (branching, (True,)), (branching, (False,)), (looping, ()), (printing, ())])
def test_results_and_gradients_are_those_of_python(fn, rest, inlining, capsys):
    torch._C._debug_set_autodiff_subgraph_inlining(inlining)
    compiled = script(fn)
    for flags in [(True, False), (True, False), (True, False), (False, True), (False, False), (True, True)]:
        args = numbers(*flags)
        given = [a.detach().clone().requires_grad_(a.requires_grad) for a in args]
        found, wanted = (f(*[v * 1 for v in a], *rest) for f, a in ((compiled, given), (fn, args)))
        assert_close(found, wanted)
        if not any(flags):
            continue
        for out in (found, wanted):
            sum(t.sum() for t in (out if isinstance(out, tuple) else (out,))).backward()
        assert_close([a.grad for a in given if a.requires_grad], [a.grad for a in args if a.requires_grad])


def test_graphs_are_guarded_where_gradients_are_wanted():
    """JIT overview, "DifferentiableGraphOp": what is differentiable is a graph with a check before it and a fallback."""
    f, (x, y) = script(smooth), numbers(True, False)
    f(x, y)
    FileCheck().check("prim::profile").run(torch.jit.last_executed_optimized_graph())
    f(x, y)
    graph = torch.jit.last_executed_optimized_graph()
    FileCheck().check("requires_grad=1").check("prim::RequiresGradCheck").check("prim::DifferentiableGraph_0").check("fallback_function").check(
        "with prim::DifferentiableGraph_0"
    ).check("aten::tanh").run(graph)
    with torch.no_grad():
        assert not f(x, y).requires_grad


def test_without_gradients_nothing_is_guarded():
    f, (x, y) = script(smooth), numbers(False, False)
    for _ in range(3):
        f(x, y)
    FileCheck().check_not("prim::").run(torch.jit.last_executed_optimized_graph().str(False).replace("prim::Constant", ""))


def test_single_operators_are_guarded_where_nothing_is_inlined():
    torch._C._debug_set_autodiff_subgraph_inlining(False)
    f, (x, y) = script(printing), numbers(True, False)
    f(x, y)
    FileCheck().check_count("= prim::DifferentiableGraph", 2, exactly=True).run(f.graph_for(x, y))


def test_as_many_calls_are_profiled_as_asked_for():
    torch._C._jit_set_num_profiled_runs(2)
    f, (x, y) = script(smooth), numbers(True, False)
    texts = [str(f.graph_for(x, y)) for _ in range(3)]
    assert ["prim::profile" in t for t in texts] == [True, True, False]


def test_errors_name_the_place():
    f, (x, y) = script(smooth), numbers(True, False)
    for _ in range(2):
        f(x, y)
    with pytest.raises(RuntimeError, match=r"x \* y \+ x"):
        f(x, torch.rand(2, 2))


def test_modules_and_autodiff_subgraphs_by_hand():
    module = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3)))
    (x,) = numbers(False)
    wanted = module(x)
    for _ in range(3):
        assert_close(module(x), wanted)
    FileCheck().check("prim::DifferentiableGraph").run(torch.jit.last_executed_optimized_graph())
    graph = torch.jit.script(smooth).graph.copy()
    torch._C._jit_pass_create_autodiff_subgraphs(graph, 2)
    FileCheck().check("prim::DifferentiableGraph_0(").check("aten::mul").check("aten::tanh").run(graph)


def test_debug_states_show_the_plan():
    f, (x, y) = script(smooth), numbers(True, False)
    with pytest.raises(RuntimeError, match="has not been called"):
        f.get_debug_state()
    for _ in range(2):
        f(x, y)
    (plan,) = f.get_debug_state().execution_plans.values()
    FileCheck().check("prim::RequiresGradCheck").run(plan.graph)
    (inner,) = plan.code.differentiable_op_executor_states()
    FileCheck().check_not("prim::If").check("aten::tanh").run(next(iter(inner.execution_plans.values())).graph)
    module = torch.jit.script(torch.nn.Linear(3, 3))
    module(x)
    FileCheck().check("aten::linear").run(next(iter(module.get_debug_state().execution_plans.values())).graph)


def inner(x, y):
    return x * y + x


def middle(x, y):
    z = inner(x, y)
    return z.tanh()


def outer(x, y):
    return middle(x, y) * 2


def test_errors_show_calls_that_were_inlined():
    f, (x, y) = script(outer), numbers(True, False)
    for call in range(3):
        with pytest.raises(RuntimeError) as caught:
            f(x, torch.rand(2, 2))
        FileCheck().check("in outer").check("middle(x, y) * 2").check("in middle").check("z = inner(x, y)").check("in inner").check("return x * y + x").check(
            "size of tensor"
        ).run(str(caught.value).replace("fallback_function", "outer"))
        if call == 0:
            torch._C._debug_set_autodiff_subgraph_inlining(False)
            f = script(outer)
            f(x, y)
    FileCheck().check("prim::DifferentiableGraph").run(torch.jit.last_executed_optimized_graph())


@pytest.fixture
def groups():
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    yield
    torch._C._jit_override_can_fuse_on_cpu(False)
    torch._C._jit_set_te_must_use_llvm_cpu(True)
    torch._C._debug_set_fusion_group_inlining(True)
    torch._C._jit_set_texpr_reductions_enabled(False)
    torch.jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)])


def mixed(x, y):
    a, b = torch.cat([x * y, y.exp()], 0).chunk(2, 0)
    z = torch.where(a > b, a, b.unsqueeze(0)[0]) + x.type_as(y)
    return z.tanh() * 2, (x + 1).sum()


@pytest.mark.parametrize("strategy", [[("STATIC", 2)], [("DYNAMIC", 2)], [("STATIC", 1), ("DYNAMIC", 1)]])
@pytest.mark.parametrize("inlining", [True, False])
@pytest.mark.parametrize("fn, rest", [(smooth, ()), (mixed, ()), (branching, (True,)), (looping, ()), (printing, ())])
def test_groups_compute_what_python_computes(fn, rest, inlining, strategy, groups, capsys):
    """JIT overview, "Dynamic Shapes Options": with each strategy, for sizes that change."""
    torch._C._debug_set_fusion_group_inlining(inlining)
    torch._C._jit_set_texpr_reductions_enabled(inlining)
    torch.jit.set_fusion_strategy(strategy)
    compiled = script(fn)
    for call, flags in enumerate([(True, False)] * 3 + [(False, False)] * 3 + [(True, True)] * 2):
        torch.manual_seed(call)
        args = [torch.rand(2 + call // 3 % 2, 2 + call // 3 % 2, requires_grad=flag) for flag in flags]
        given = [a.detach().clone().requires_grad_(a.requires_grad) for a in args]
        found, wanted = (f(*[v * 1 for v in a], *rest) for f, a in ((compiled, given), (fn, args)))
        assert_close(found, wanted)
        for out in (found, wanted):
            if any(flags):
                sum(t.sum() for t in (out if isinstance(out, tuple) else (out,))).backward()
        assert_close([a.grad for a in given if a.requires_grad], [a.grad for a in args if a.requires_grad])


def test_saved_tensors_that_were_written_are_noticed(groups):
    f = script(smooth)
    for _ in range(4):
        x, y = numbers(True, False)
        result = f(x, y)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()


def test_gradients_of_complex_numbers_are_recorded_one_by_one(groups):
    f = script(smooth)
    for dtype in (torch.float64, torch.complex128) * 2:
        x, y = (torch.rand(2, dtype=dtype).requires_grad_() for _ in range(2))
        for _ in range(3):
            found = torch.autograd.grad(f(x, y).abs().sum(), [x, y])
            assert_close(found, torch.autograd.grad(smooth(x, y).abs().sum(), [x, y]))


def test_second_gradients_and_gradients_that_are_missing(groups):
    f, g = script(mixed), script(printing)
    for _ in range(4):
        x, y = numbers(True, True)
        first = [torch.autograd.grad(h(x, y)[0].sum(), [x, y], create_graph=True) for h in (f, mixed)]
        assert_close(*first)
        assert_close(*(torch.autograd.grad(a[0].sum() + (a[1] * x).sum(), [x, y]) for a in first))
        assert_close(torch.autograd.grad(g(x, y)[0].sum(), [x], allow_unused=True), torch.autograd.grad((x * y).sum(), [x]))


def test_states_of_gradients_show_what_they_run(groups):
    f = script(smooth)
    for _ in range(4):
        x, y = numbers(True, False)
        f(x, y).sum().backward()
    (plan,) = f.get_debug_state().execution_plans.values()
    (forward,), (backward,) = plan.code.differentiable_op_executor_states(), plan.code.grad_executor_states()
    for state in (forward, backward):
        (inner,) = state.execution_plans.values()
        FileCheck().check_count("= prim::TensorExprGroup_", 1, exactly=True).run(inner.graph)
    FileCheck().check("aten::all").check("prim::TensorExprGroup_0").check("fallback_function").run(inner.graph)
    FileCheck().check("prim::DifferentiableGraph_0").check("prim::TensorExprGroup").check_not("prim::profile").run(f.graph_for(x, y))


def test_a_state_before_the_gradient_has_no_plan(groups):
    f, (x, y) = script(smooth), numbers(True, False)
    for _ in range(2):
        f(x, y)
    (plan,) = f.get_debug_state().execution_plans.values()
    assert not plan.code.grad_executor_states()[0].execution_plans


def test_checks_of_gradients_run_as_nodes():
    """JIT overview, "Derivate Splitting": the checks that graphs show run."""
    graph = torch._C.parse_ir("""graph(%x : Tensor, %y : Tensor):
      %a : Tensor, %b : Tensor, %ok : bool = prim::RequiresGradCheck[types=[Tensor(requires_grad=1), Tensor(requires_grad=0)]](%x, %y)
      return (%ok)
    """)
    wanted, plain = torch.ones(1, requires_grad=True), torch.ones(1)
    assert [torch._C._jit_interpret_graph(graph, args) for args in ((wanted, plain), (plain, plain), (wanted, wanted))] == [True, False, False]
    with torch.no_grad():
        assert not torch._C._jit_interpret_graph(graph, (wanted, plain))


def test_without_groups_nothing_is_shown_as_a_group():
    f, (x, y) = script(smooth), numbers(False, False)
    for _ in range(3):
        f(x, y)
    FileCheck().check_not("TensorExprGroup").run(torch.jit.last_executed_optimized_graph())


def test_strict_fusion_names_what_is_not_fused(groups):
    class Loose(torch.nn.Module):
        def forward(self, x):
            with torch.jit.strict_fusion():
                return x * x + torch.rand([3]) + 1

    f = torch.jit.script(Loose())
    f(torch.ones(3))
    with pytest.raises(RuntimeError, match=r"Found unfused operators: \n\taten::rand\(int\[\] size"):
        f(torch.ones(3))


def view_written(x, y):
    z = (x * y).squeeze().unsqueeze(1)
    z[0] = 3.0
    return z * y


def part_written(x, y):
    a, b = (x * y).chunk(2, 1)
    c = b * 1.0
    c.add_(1)
    return a * 2 + c * b


def turned_written(x, y):
    z = (x * y).t()
    z.mul_(2)
    return z * y


@pytest.mark.parametrize("function", [view_written, part_written, turned_written])
def test_results_of_differentiable_graphs_that_are_views_are_written(function):
    """A result of a group that shows memory of another value in it is no view for the tape: its gradient is the group's."""
    scripted = torch.jit.script(function)
    for run in range(4):
        grads = []
        for f in (function, scripted):
            x, y = (torch.arange(4.0).reshape(2, 2).add(run + i).requires_grad_() for i in range(2))
            f(x, y).pow(2).sum().backward()
            grads.append([x.grad.tolist(), y.grad.tolist()])
        assert grads[0] == grads[1], run


def test_a_gradient_that_ran_last_is_the_graph_that_ran_last():
    scripted = torch.jit.script(smooth)
    shown = []
    for _ in range(3):
        x = torch.ones(2, 2, requires_grad=True)
        result = scripted(x, torch.ones(2, 2))
        shown.append(["DifferentiableGraph" in str(torch.jit.last_executed_optimized_graph())])
        result.sum().backward()
        shown[-1].append("prim::Autograd" in str(torch.jit.last_executed_optimized_graph()))
    assert shown == [[False, False], [True, True], [True, True]]
