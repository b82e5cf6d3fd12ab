"""torch.jit.trace."""

import warnings

import pytest

import torchjit as torch
from torchjit import nn


def test_a_function_runs_on_other_values():
    def f(x, y):
        z = x * 2 + y[1:].sum()
        z += 1
        return z, z.view(-1)

    traced = torch.jit.trace(f, (torch.ones(2, 3), torch.ones(3)))
    x, y = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([9.0, 1.0, 2.0])
    for a, b in zip(f(x, y), traced(x, y)):
        assert a.tolist() == b.tolist()
    assert "aten::add_" in str(traced.graph)


def test_a_module_shares_its_parameters():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
            self.register_buffer("shift", torch.arange(2.0))
            self.scale = torch.tensor([2.0, 3.0])

        def forward(self, x):
            return self.body(x) * self.scale + self.shift

    net = Net()
    traced = torch.jit.trace(net, torch.ones(1, 3))
    x = torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.0, 1.0]])
    assert traced(x).tolist() == net(x).tolist()
    with torch.no_grad():
        net.body[0].weight.mul_(2.0)
    assert traced(x).tolist() == net(x).tolist()
    assert list(traced.state_dict()) == list(net.state_dict())


def test_a_compiled_function_keeps_its_control_flow():
    @torch.jit.script_if_tracing
    def loop(x, n: int):
        for i in range(n):
            x = x + i
        return x

    traced = torch.jit.trace(lambda x: loop(x, 4), torch.ones(2))
    assert traced(torch.zeros(3)).tolist() == [6.0] * 3
    assert "prim::CallFunction" in str(traced.graph)


def test_a_constant_outlives_its_python_object():
    traced = torch.jit.trace(lambda x: x + torch.tensor([0.5, 1.5]), torch.ones(2))
    assert traced(torch.zeros(2)).tolist() == [0.5, 1.5]


def test_what_cannot_be_traced():
    with pytest.raises(RuntimeError, match="Type 'int' cannot be traced"):
        torch.jit.trace(lambda n: n, 3 if False else (3,))
    with pytest.raises(RuntimeError, match="Only tensors, lists, tuples"):
        torch.jit.trace(lambda x: "text", torch.ones(1))
    with pytest.raises(ZeroDivisionError):
        torch.jit.trace(lambda x: 1 / 0, torch.ones(1))
    assert not torch.jit.is_tracing()


def test_a_trace_that_depends_on_the_example_is_told():
    def f(x):
        return x + 1 if x.sum() > 0 else x - 1

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.jit.trace(f, torch.ones(2), check_inputs=[torch.zeros(2) - 1])
    assert any(w.category is torch.jit.TracerWarning for w in seen)


def test_dictionaries():
    def double(x):
        return {"x": x, "twice": x * 2}

    with pytest.raises(RuntimeError, match="Encountering a dict at the output of the tracer"):
        torch.jit.trace(double, torch.ones(2))
    out = torch.jit.trace(double, torch.ones(2), strict=False)(torch.tensor([3.0, 4.0]))
    assert out["twice"].tolist() == [6.0, 8.0] and list(out) == ["x", "twice"]

    def summed(d):
        return d["p"] + d["q"]

    traced = torch.jit.trace(summed, ({"p": torch.ones(2), "q": torch.ones(2)},))
    assert traced({"p": torch.tensor([1.0, 2.0]), "q": torch.tensor([5.0, 6.0])}).tolist() == [6.0, 8.0]
    with pytest.warns(torch.jit.TracerWarning, match="Encountering a list"):
        torch.jit.trace(lambda x: [x, x + 1], torch.ones(2))
    with pytest.raises(RuntimeError, match="Dictionaries that are traced go from str to Tensor"):
        torch.jit.trace(summed, ({"p": (torch.ones(2),)},))
