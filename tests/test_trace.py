"""torch.jit.trace."""

import threading
import warnings

import numpy
import pytest

import torchjit as torch
from torchjit import nn
from torchjit.testing import FileCheck


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
    with pytest.warns(torch.jit.TracerWarning, match="torch.tensor results are registered as constants"):
        traced = torch.jit.trace(lambda x: x + torch.tensor([0.5, 1.5]), torch.ones(2))
    assert traced(torch.zeros(2)).tolist() == [0.5, 1.5]


def test_what_cannot_be_traced():
    with pytest.raises(RuntimeError, match=r"Type 'Tuple\[int\]' cannot be traced"):
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
        with pytest.raises(torch.jit.TracingCheckError, match="Graphs differed across invocations"):
            torch.jit.trace(f, torch.ones(2), check_inputs=[torch.zeros(2) - 1])
    assert "Converting a tensor to a Python boolean might" in str(seen[0].message)
    assert any("does not match the corresponding output of the Python function" in str(w.message) for w in seen)


def test_sizes_stay_sizes():
    def f(x):
        n = x.size(0)
        return x.view(n, -1), x.reshape(x.shape[0] * x.shape[1]), torch.zeros(x.shape), x[: n - 1]

    traced = torch.jit.trace(f, torch.ones(2, 3))
    for a, b in zip(traced(torch.ones(4, 5)), f(torch.ones(4, 5)), strict=True):
        assert a.shape == b.shape
    text = str(traced.graph)
    assert "%n : Long(device=cpu) = prim::NumToTensor" in text and "aten::Int(%n)" in text


def test_submodules_become_methods():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

        def forward(self, x):
            return self.inner(x) + self.inner(x)

    traced = torch.jit.trace(Block(), torch.ones(1, 2))
    assert 'prim::CallMethod[name="forward1"](%inner' in str(traced.graph)
    assert "scope: __module.inner/__module.inner.0" in str(traced.inner[0].graph)
    assert traced.inner.code.startswith("def forward(self,\n    x: Tensor) -> Tensor:")


def test_constants_that_depend_on_the_example_are_named():
    def f(x):
        y = x * 2
        return y + len(x)

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        with pytest.raises(torch.jit.TracingCheckError) as caught:
            torch.jit.trace(f, torch.ones(2), check_inputs=[torch.ones(3)])
    assert "Constants that depend on the example:\n\t{2} became {3}:" in str(caught.value)
    assert "        return y + len(x)\n\t        ~~~~~~~~~~~~~~~~~ <--- HERE" in str(caught.value)


def test_a_warning_names_the_line_once():
    def f(x):
        for _ in range(3):
            x = x * float(x.sum())
        return x

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        torch.jit.trace(f, torch.ones(2), check_trace=False)
    assert [(w.filename, w.lineno) for w in seen] == [(__file__, f.__code__.co_firstlineno + 2)]


def test_threads_trace_at_once():
    def f(x):
        return x + 1

    results = []
    threads = [threading.Thread(target=lambda: results.append(torch.jit.trace(f, torch.ones(2)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [str(r.graph).count("aten::add") for r in results] == [1] * 4 and not torch.jit.is_tracing()


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
    with pytest.raises(RuntimeError, match=r"Type 'Tuple\[Dict\[str, int\]\]' cannot be traced"):
        torch.jit.trace(summed, ({"p": 1},))


def test_what_only_a_check_computes_is_left_out():
    class Checked(nn.Module):
        def forward(self, x):
            n = x.shape[0]
            n *= x.shape[1]
            y = x + 1
            y += 1
            return y

    text = str(torch.jit.trace(Checked(), torch.ones(2, 3)).graph)
    assert "aten::mul_" not in text and "aten::size" not in text and "aten::add_" in text


def test_a_recurrent_cell_is_recorded_as_its_products():
    cell = nn.LSTMCell(2, 3)
    traced = torch.jit.trace(cell, torch.ones(1, 2))
    assert "aten::unsafe_chunk" in str(traced.graph) and "aten::lstm_cell" not in str(traced.graph)
    for a, b in zip(traced(torch.ones(4, 2)), cell(torch.ones(4, 2)), strict=True):
        assert a.allclose(b)


def test_a_traced_lstm_cell_records_one_node_and_keeps_its_errors():
    cell = nn.LSTMCell(2, 3)
    traced = torch.jit.trace(cell, (torch.ones(1, 2), (torch.ones(1, 3), torch.ones(1, 3))), check_trace=False)
    x, state = torch.randn(4, 2, requires_grad=True), (torch.randn(4, 3), torch.randn(4, 3))
    gradients = []
    for f in (cell, traced):
        h, c = f(x, state)
        (h.sum() + (c * c).sum()).backward()
        gradients.append([h, c, x.grad, *(p.grad for p in cell.parameters())])
        x.grad = None
        cell.zero_grad()
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))
    def nodes(f):
        names, todo = [], [f(x, state)[0].grad_fn]
        while todo:
            n = todo.pop()
            names.append(n.name())
            todo += [m for m, _ in n.next_functions if m is not None]
        return sorted(names)

    assert nodes(traced) == nodes(cell)
    assert traced(x, (state[0], torch.randn(1, 3)))[1].shape == (4, 3)  # a step's operators take what the step refuses
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        traced(torch.ones(4, 3), state)


def test_cells_are_recorded_as_their_products():
    x, h = torch.randn(4, 2), torch.randn(4, 3)
    for cell, text in [
        (torch.nn.GRUCell(2, 3), "aten::sub"),
        (torch.nn.RNNCell(2, 3), "aten::tanh("),
        (torch.nn.RNNCell(2, 3, nonlinearity="relu"), "aten::relu("),
    ]:
        traced = torch.jit.trace(cell, (x, h))
        FileCheck().check_count("aten::linear", 2, exactly=True).check("aten::add_").check(text).run(str(traced.graph))
        assert torch.allclose(traced(x, h), cell(x, h))
        traced(x, h).sum().backward()
        recorded = cell.weight_hh.grad.clone()
        cell.zero_grad()
        cell(x, h).sum().backward()
        assert torch.allclose(recorded, cell.weight_hh.grad)


def test_force_outplace():
    def f(x):
        y = x + 1
        y.add_(2)
        torch.mul(y, 3, out=y)
        return y.relu_()

    traced = torch.jit.trace(f, (torch.ones(3),), _force_outplace=True)
    FileCheck().check("aten::add(").check("aten::add(").check("aten::mul(%").check("aten::relu(").check_not("_(").run(
        str(traced.graph)
    )
    assert traced(torch.full((3,), 4.0)).tolist() == [21.0] * 3


def test_tensors_and_parameters_made_of_tensors_are_followed():
    x, y = torch.ones(3), torch.tensor([5.0, 1.0, 4.0])
    with pytest.warns(torch.jit.TracerWarning, match="torch.Tensor results are registered as constants"):
        traced = torch.jit.trace(lambda x: torch.Tensor(x) + x, x)
    assert "aten::alias(%x)" in str(traced.graph) and torch.equal(traced(y), y + y)
    traced = torch.jit.trace(lambda x: torch.nn.Parameter(x) + x, x, check_trace=False)
    assert "aten::detach(%x)" in str(traced.graph) and torch.equal(traced(y), y + y)
    with pytest.warns(torch.jit.TracerWarning, match="torch.Tensor results are registered as constants"):
        torch.jit.trace(lambda x: torch.Tensor([1.0, 2.0, 3.0]) + x, x)


@pytest.mark.parametrize(
    "f, kind",
    [
        (lambda x: x * int(torch.equal(x, torch.ones(3))), "boolean"),
        (lambda x: x * int(torch.allclose(x, torch.ones(3))), "boolean"),
        (lambda x: x * int(torch.is_nonzero(x.sum())), "boolean"),
        (lambda x: x * torch.ops.aten.item(x.sum()), "number"),
        (lambda x: x * float(f"{x.sum()}"), "number"),
        (lambda x: x * (3.0 in x), "boolean"),
        (lambda x: x * float(numpy.asarray(x)[0]), "NumPy array"),
        (lambda x: x + torch.from_dlpack(x), "DLPack capsule"),
    ],
)
def test_what_a_trace_takes_for_a_constant_is_warned_of(f, kind):
    """Of operators that make numbers of elements and of DLPack PyTorch says nothing."""
    with pytest.warns(torch.jit.TracerWarning, match=f"Converting a tensor to a (Python )?{kind}"):
        torch.jit.trace(f, (torch.ones(3),), check_trace=False)


def test_example_inputs_by_name():
    """As in PyTorch 2: inputs stand in the order of the parameters, whatever their order in the dictionary."""

    def f(x, y=None, *, z=1):
        return (x if y is None else x - y) * z

    one, two = torch.ones(1), torch.full((1,), 2.0)
    traced = torch.jit.trace(f, example_kwarg_inputs={"y": one, "x": torch.zeros(1)})
    assert str(traced.schema) == "f(Tensor x, Tensor y) -> Tensor"
    assert traced(two, one) == 1 and traced(y=two, x=one) == -1
    assert str(torch.jit.trace(f, example_kwarg_inputs={"z": one, "x": one}).schema) == "f(Tensor x, Tensor z) -> Tensor"

    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, x, y):
            return x - y * self.w

        def other(self, a, b):
            return a / b

    given = {"y": one, "x": two}
    traced = torch.jit.trace(Shifted(), example_kwarg_inputs=given, check_inputs=[{"x": torch.ones(2), "y": torch.ones(2)}])
    assert traced(x=two, y=one) == 1 and traced(one, two) == -1
    both = torch.jit.trace_module(Shifted(), {"forward": given, "other": {"b": two, "a": one}}, example_inputs_is_kwarg=True)
    assert both.other(one, two) == 0.5


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "missing 1 required positional argument: 'example_inputs'"),
        ({"example_inputs": (), "example_kwarg_inputs": {}}, "takes example_inputs or example_kwarg_inputs, not both"),
        ({"example_kwarg_inputs": [1]}, "must be a dictionary of inputs by name, but it is a list"),
        ({"example_kwarg_inputs": {"z": torch.ones(1)}}, "unexpected keyword argument 'z'"),
        ({"example_kwarg_inputs": {"x": torch.ones(1)}, "check_inputs": [{"y": 1}]}, r"inputs by the names \['x'\], but found \['y'\]"),
    ],
)
def test_example_inputs_that_are_none(given, message):
    with pytest.raises(TypeError, match=message):
        torch.jit.trace(lambda x: x, **given)
