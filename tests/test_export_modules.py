"""torch.export: the module of a program runs as compiled code, and is a GraphModule in everything else."""

import copy
import operator

import pytest

import torchjit as torch
import torchjit.export
from torchjit import nn
from torchjit.export import Dim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.last = nn.Linear(8, 3)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return {"out": self.last(self.inner(x)), "calls": self.calls + 0}


def exported(module, *args, **kwargs):
    return torch.export.export(module, args, **kwargs).module()


def ran(module):
    """Whether calls of a module ran compiled code, and none ran node by node."""
    told = torch.jit.explain(module)
    return "aten::" in told.graph and told.node_by_node == []


def by_nodes(module, *args):
    """What a module gives node by node."""
    return torch.fx.Interpreter(module).run(*args)


def test_parameters_and_buffers_are_the_modules():
    torch.manual_seed(0)
    net = Net().eval()
    m = exported(net, torch.randn(2, 4), dynamic_shapes=({0: Dim("n")},))
    x = torch.randn(5, 4)
    with torch.no_grad():
        assert torch.equal(m(x)["out"], net(x)["out"]) and m(x)["calls"] == 3  # they share their buffers
        m.last.weight.mul_(2)
        first = m(x)["out"]
        assert torch.equal(first, net(x)["out"])
        m.load_state_dict({name: torch.rand(t.shape).to(t.dtype) for name, t in net.state_dict().items()})
        assert torch.equal(m(x)["out"], net(x)["out"]) and not torch.equal(m(x)["out"], first)
        m.last.weight = nn.Parameter(torch.ones(3, 8))
        assert torch.equal(m(x)["out"], by_nodes(m, x)["out"])
        m.inner.get_submodule("0")._parameters["weight"] = nn.Parameter(torch.ones(8, 4))
        assert torch.equal(m(x)["out"], by_nodes(m, x)["out"])
    assert ran(m)
    m.to(torch.float64)
    with pytest.raises(RuntimeError, match="dtype torch.float32"):
        m(x.double())


def test_gradients_are_those_of_the_nodes():
    torch.manual_seed(0)
    net = Net()
    m = exported(net, torch.randn(2, 4), dynamic_shapes=({0: Dim("n")},))
    other = copy.deepcopy(m)
    x = torch.randn(6, 4)
    for module, run in ((m, m), (other, lambda x: by_nodes(other, x))):
        run(x)["out"].square().sum().backward()
        module.last.weight.requires_grad_(False)
        (module.last.weight.new_ones(()) * run(x)["out"].sum()).backward()
    assert ran(m)
    for (name, p), q in zip(m.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(p.grad, q.grad), name
    for (name, p), q in zip(m.named_buffers(), other.buffers(), strict=True):
        assert torch.equal(p, q), name
    assert m(x)["out"].grad_fn.name() == by_nodes(other, x)["out"].grad_fn.name() == "AddmmBackward0"


def test_errors_are_those_of_the_operators():
    m = exported(nn.Embedding(4, 3), torch.tensor([1, 2]))
    with pytest.raises(IndexError) as e:
        m(torch.tensor([9, 2]))
    assert str(e.value) == "index out of range in self"


def test_what_sees_operators_runs_node_by_node():
    m = exported(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(2, 4))
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    with Mode():
        m(torch.ones(2, 4))
    assert "linear.default" in seen and "relu.default" in seen
    told = torch.jit.explain(m)
    assert told.node_by_node == ["a mode with __torch_function__ sees the operators"]
    assert "ran node by node: a mode" in str(told) and "ran node by node: a mode" in told._repr_html_()

    class Own(torch.Tensor):
        pass

    given = torch.ones(2, 4).as_subclass(Own)
    assert type(m(given)) is Own
    assert torch.jit.explain(m).node_by_node[1].startswith("an argument or a tensor of the module is a ")


def test_edited_graphs(capfd):
    m = exported(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(2, 4))
    x = torch.randn(2, 4)
    before = m(x)
    (relu,) = m.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    relu.target = torch.ops.aten.neg.default
    assert torch.equal(m(x), before)  # until it is compiled again
    m.recompile()
    linear = torch.nn.functional.linear(x, m.get_parameter("0.weight"), m.get_parameter("0.bias"))
    assert torch.equal(m(x), -linear) and ran(m)
    with m.graph.inserting_before(m.graph.output_node()):
        parts = m.graph.call_function(torch.ops.aten.split.Tensor, (relu, 2, 1))  # nothing is noted of what it gives
        second = m.graph.call_function(operator.getitem, (parts, 1))
    m.graph.output_node().args = ((second,),)
    m.recompile()
    assert torch.equal(m(x), -linear[:, 2:]) and ran(m)
    relu.target = torch.neg
    m.recompile()
    assert torch.equal(m(x), -linear[:, 2:])
    (why,) = torch.jit.explain(m).node_by_node
    assert "is not an allowed operator type" in why


def test_hooks_and_copies():
    m = exported(nn.Linear(4, 4), torch.ones(2, 4))
    seen = []
    m.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    m.register_forward_hook(lambda module, args, out: seen.append(out) or out + 1)
    x = torch.randn(2, 4)
    assert torch.equal(m(x), by_nodes(m, x * 2) + 1) and len(seen) == 1
    other = copy.deepcopy(m)
    with torch.no_grad():
        m.weight.zero_()
    assert not torch.equal(other(x), m(x)) and ran(other)
    m.forward = lambda x: x
    assert torch.equal(m(x), x * 2 + 1)


def test_custom_operators_of_python_are_calls():
    library = torch.library.Library("exported_modules", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    failing = []

    def twice(x):
        if failing:
            raise LookupError("as asked")
        return x * 2

    library.impl("twice", twice, "CPU")

    class M(nn.Module):
        def forward(self, x):
            return torch.ops.exported_modules.twice(x.relu()) + 1

    m = exported(M(), torch.ones(2, 4))
    assert torch.equal(m(torch.ones(2, 4)), torch.full((2, 4), 3.0)) and ran(m)
    assert "exported_modules::twice" in torch.jit.explain(m).graph
    failing.append(True)
    with pytest.raises(LookupError, match="as asked"):
        m(torch.ones(2, 4))


def test_programs_that_call_programs_know_their_sizes():
    class Add(nn.Module):
        def forward(self, x, y):
            return x + y.sum()

    n = Dim("n", min=2, max=10)
    args = torch.ones(8, 3), torch.ones(4)
    double = torch.export.export(Add(), args, dynamic_shapes=({0: 2 * n}, {0: n})).module()
    again = torch.export.export(double, args, dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    x, y = (node.meta["val"] for node in again.graph.find_nodes(op="placeholder"))
    assert [str(s) for s in x.shape] == [f"2*{y.shape[0]}", "3"] and str(list(again.range_constraints.values())[0]) == "VR[2, 10]"
    with pytest.raises(torch.export._errors.UserError, match="Constraints violated"):
        torch.export.export(double, args, dynamic_shapes=({0: Dim("a")}, {0: Dim("b")}))
    fixed = exported(nn.Linear(3, 2), torch.ones(4, 3))
    with pytest.raises(torch.export._errors.UserError, match="b was inferred to be a constant"):
        torch.export.export(fixed, (torch.ones(4, 3),), dynamic_shapes=({0: Dim("b")},))


def test_traces_warn_of_no_checks():
    m = exported(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(2, 4), dynamic_shapes=({0: Dim("n")},))
    assert "torch.relu" in torch.jit.trace(m, torch.ones(3, 4)).code  # a warning is an error
