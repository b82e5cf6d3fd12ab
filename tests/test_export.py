"""torch.export: programs of functional operators."""

import pytest

import torchjit as torch
import torchjit.export  # noqa: F401
from torchjit import nn
from torchjit.export.graph_signature import InputKind, OutputKind


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


def test_text_of_a_graph():
    """Export IR specification, "Graph": its first example, with the names and the users of PyTorch 2."""
    ep = torch.export.export(Add(), (torch.randn(1), torch.randn(1)))
    assert str(ep.graph).strip() == (
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %y : [num_users=1] = placeholder[target=y]\n"
        "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, %y), kwargs = {})\n"
        "    return (add,)"
    )


def test_parameters_and_buffers_are_inputs():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    x = torch.randn(2, 3)
    ep = torch.export.export(m, (x,))
    signature = ep.graph_signature
    assert signature.inputs_to_parameters["p_0_weight"] == "0.weight"
    assert signature.inputs_to_buffers["b_1_running_var"] == "1.running_var"
    assert signature.user_outputs == ("batch_norm",)
    assert [s.kind for s in signature.input_specs][-1] == InputKind.USER_INPUT
    assert [s.kind for s in signature.output_specs] == [OutputKind.USER_OUTPUT]
    assert ep.state_dict["0.weight"] is m[0].weight
    assert torch.equal(ep.module()(x), m(x))


def test_metadata():
    """Export IR specification, "call_function", "Metadata": the keys of its list; modules stand outermost first, with the root, as in PyTorch 2."""
    ep = torch.export.export(nn.Sequential(nn.Linear(3, 4)), (torch.randn(2, 3),))
    (call,) = [n for n in ep.graph.nodes if n.op == "call_function"]
    assert set(call.meta) == {"val", "stack_trace", "nn_module_stack", "source_fn_stack"}
    assert call.meta["val"].shape == (2, 4) and call.meta["val"].dtype == torch.float32
    assert list(call.meta["nn_module_stack"].values()) == [("self", nn.Sequential), ("self.0", nn.Linear)]
    assert call.meta["source_fn_stack"][-1][1] is nn.Linear
    assert "in forward\n    return F.linear" in call.meta["stack_trace"]


def test_what_is_no_module():
    """Export IR specification, "get_attr": the function f(x, y) of its example is refused, as by PyTorch 2."""
    with pytest.raises(ValueError, match="to be an instance of `torch.nn.Module`"):
        torch.export.export(lambda x: x, (torch.ones(1),))


def same(m, *args, **options):
    """The exported program of a module, which gives what a copy of the module gives."""
    import copy

    other = copy.deepcopy(m)
    ep = torch.export.export(m, args, **options)
    ep.validate()
    got, want = (torch.utils._pytree.tree_flatten(f(*args))[0] for f in (ep.module(), other))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert torch.allclose(a, b) if isinstance(b, torch.Tensor) else a == b
    return ep


def test_statistics_are_outputs():
    m = nn.BatchNorm1d(3)
    x = torch.randn(4, 3)
    ep = torch.export.export(m, (x,))
    assert m.num_batches_tracked == 0 and torch.equal(m.running_mean, torch.zeros(3))
    assert set(ep.graph_signature.buffers_to_mutate.values()) == {"running_mean", "running_var", "num_batches_tracked"}
    other = nn.BatchNorm1d(3)
    program = ep.module()
    for _ in range(2):
        assert torch.equal(program(x), other(x))
    assert torch.equal(program.running_var, other.running_var) and program.num_batches_tracked == 2


class Writes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.scale = torch.ones(3) * 2

    def forward(self, x, d, *, flag=True):
        self.count.add_(1)
        y = d["a"] * self.scale + self.count
        if flag:
            y = y + x[0] * 3
        y[0] = 5
        y.view(3, 1)[1].mul_(2)
        y.t_().relu_()
        return {"y": y, "rest": (torch.tensor([1.0]) + 1, None, 7, "text")}


def test_writes_views_and_containers():
    args = (torch.randn(2, 3), {"a": torch.randn(3), "b": torch.randn(1)})
    ep = same(Writes(), *args)
    assert [n.name for n in ep.graph.nodes if n.op == "placeholder"] == ["b_count", "c_scale", "c_lifted_tensor_0", "c_lifted_tensor_1", "x", "d_a", "d_b"]
    assert all(not n.target._schema.is_mutable for n in ep.graph.nodes if n.op == "call_function")
    assert ep.graph_signature.user_outputs[1:] == ("add_3", None, 7, "text")
    with pytest.raises(ValueError, match="tree spec"):
        ep.module()(args[0], {"a": args[0]})


def test_sizes_that_are_dynamic():
    """Export IR specification, "SymInt": sizes that the program does not fix are symbols, with ranges."""
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(2, 3, 3, stride=2)

        def forward(self, x):
            y = self.conv(x)
            return torch.cat([y, y]).view(2 * x.shape[0], -1), x.shape[0] * 2

    m = M()
    dims = {"x": {0: torch.export.Dim("batch", max=100), 2: torch.export.Dim("length", min=8)}}
    ep = same(m, torch.randn(4, 2, 20), dynamic_shapes=dims)
    assert str(ep.range_constraints) == "{s0: VR[0, 100], s1: VR[8, int_oo]}"
    conv = next(n for n in ep.graph.nodes if "conv1d" in n.name)
    assert str(conv.meta["val"].shape) == "torch.Size([s0, 3, ((s1 - 1)//2)])"
    for shape in ((7, 2, 31), (2, 2, 8)):
        x = torch.randn(shape)
        got, n = ep.module()(x)
        assert torch.equal(got, m(x)[0]) and n == 2 * shape[0]
    with pytest.raises(RuntimeError, match=r"\*args\[0\].shape\[2\] to be >= 8"):
        ep.module()(torch.randn(4, 2, 7))


def test_sizes_that_cannot_be_dynamic():
    def refused(function, message, *args, **dims):
        class M(nn.Module):
            forward = staticmethod(function)

        with pytest.raises(torch.export.UserError, match=message):
            torch.export.export(M(), args, dynamic_shapes=dims)

    b, c = torch.export.dims("b", "c")
    x = torch.randn(5, 3)
    refused(lambda x: x + torch.ones(5, 3), r"b was inferred to be a constant \(5\)", x, x={0: b})
    refused(lambda x, y: x + y, "must always be equal", x, x, x={0: b}, y={0: c})
    refused(lambda x: x if x.shape[0] > 4 else x + 1, "decides by a size", x, x={0: b})
    refused(lambda x: x * sum(range(x.shape[0])), "inferred to be a constant", x, x={0: b})


def test_sizes_that_follow_from_elements():
    class M(nn.Module):
        def forward(self, x, n):
            return x.nonzero() + 1, x[x > 0] * 2, torch.zeros(n.item()) + x.sum()

    m = M()
    ep = torch.export.export(m, (torch.randn(5, 3), torch.tensor(4)))
    assert [str(s) for s in ep.range_constraints] == ["i0", "i1", "i2"]
    x, n = torch.tensor([[1.0, -1.0, 2.0]] * 5), torch.tensor(6)
    for a, b in zip(ep.module()(x, n), m(x, n), strict=True):
        assert torch.equal(a, b)


def test_control_flow():
    """Export IR specification, "get_attr": its example of cond, whose branches are graphs of their own."""
    class Cond(nn.Module):
        def forward(self, x, y):
            return torch.cond(y, lambda x: x.sin(), lambda x: x.cos(), [x])

    ep = same(Cond(), torch.randn(3), torch.tensor(True))
    assert str(ep.graph).strip() == (
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %y : [num_users=1] = placeholder[target=y]\n"
        "    %true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]\n"
        "    %false_graph_0 : [num_users=1] = get_attr[target=false_graph_0]\n"
        "    %conditional : [num_users=1] = call_function[target=torch.ops.higher_order.cond]"
        "(args = (%y, %true_graph_0, %false_graph_0, [%x]), kwargs = {})\n"
        "    return (conditional,)"
    )
    x = torch.randn(3)
    assert torch.equal(ep.module()(x, torch.tensor(False)), x.cos())

    class Map(nn.Module):
        def forward(self, xs, y):
            from torchjit._higher_order_ops import map

            return map(lambda x, y: (x * y, x.sum()), xs, y)

    same(Map(), torch.randn(3, 2), torch.randn(2))


def test_decisions_by_elements_are_refused():
    class M(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else x + 1

    with pytest.raises(RuntimeError, match="(?s)Use torch.cond.*return x if x.sum"):
        torch.export.export(M(), (torch.ones(3),))


def test_programs_in_files(tmp_path):
    import io

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = nn.Linear(3, 3)
            self.register_buffer("extra", torch.ones(3).to(torch.float64), persistent=False)

        def forward(self, x, *, k):
            return {"x": self.b(self.a(x)) * k, "n": [self.extra, torch.tensor([1, 2])]}

    m, x, k = M(), torch.randn(2, 3), torch.randn(3)
    ep = torch.export.export(m, (x,), {"k": k}, dynamic_shapes={"x": {0: torch.export.Dim("batch")}, "k": None})
    torch.export.save(ep, tmp_path / "m.pt2", extra_files={"notes": "hello"})
    notes = {"notes": ""}
    loaded = torch.export.load(tmp_path / "m.pt2", extra_files=notes)
    assert str(loaded) == str(ep) and notes == {"notes": "hello"}
    assert [n.meta["stack_trace"] for n in loaded.graph.nodes if n.op == "call_function"][0].endswith("return F.linear(input, self.weight, self.bias)\n")
    x = torch.randn(5, 3)
    assert torch.equal(loaded.module()(x, k=k)["x"], m(x, k=k)["x"])
    assert list(loaded.state_dict) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert list(loaded.constants) == ["extra", "lifted_tensor_0"]
    b = io.BytesIO()
    torch.export.save(ep, b)
    damaged = bytearray(b.getvalue())
    damaged[len(damaged) // 3] ^= 255
    with pytest.raises((RuntimeError, ValueError)):
        torch.export.load(io.BytesIO(bytes(damaged)))


def test_dataclasses_are_containers():
    import dataclasses

    @dataclasses.dataclass
    class Pair:
        a: object
        b: object = None

    torch.export.register_dataclass(Pair, serialized_type_name="tests.Pair")

    class M(nn.Module):
        def forward(self, p, *rest):
            return Pair(p.a + rest[0], p.a * 2)

    x = torch.randn(2)
    ep = same(M(), Pair(x), x)
    assert [n.name for n in ep.graph.nodes if n.op == "placeholder"] == ["p_a", "rest_0"]
    with pytest.raises(ValueError, match="already registered"):
        torch.export.register_dataclass(Pair)
    with pytest.raises(AssertionError, match="Only dataclasses"):
        torch.export.register_dataclass(int)


def test_decompositions():
    m = nn.Sequential(nn.Conv1d(2, 3, 1), nn.Flatten(), nn.Linear(12, 4), nn.LayerNorm(4), nn.BatchNorm1d(4), nn.Softmax(-1))
    x = torch.randn(3, 2, 4)
    ep = torch.export.export(m, (x,), dynamic_shapes=({0: torch.export.Dim("batch")},)).run_decompositions()
    names = [n.name for n in ep.graph.nodes if n.op == "call_function" and "getitem" not in n.name]
    assert names == ["convolution", "sym_size_int", "view", "permute", "addmm", "native_layer_norm", "add", "_native_batch_norm_legit_functional", "_softmax"]
    assert set(ep.graph_signature.buffers_to_mutate.values()) == {"4.running_mean", "4.running_var", "4.num_batches_tracked"}
    x = torch.randn(5, 2, 4)
    assert torch.allclose(ep.module()(x), m(x))


def test_edited_graphs_are_checked():
    from torchjit.export._verifier import SpecViolationError

    ep = torch.export.export(Add(), (torch.randn(1), torch.randn(1)))
    node = next(n for n in ep.graph.nodes if n.op == "call_function")
    node.target = torch.ops.aten.mul.Tensor
    ep.validate()
    node.target = torch.ops.aten.mul_.Tensor
    with pytest.raises(SpecViolationError, match="is not functional"):
        ep.validate()


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.turns = 3
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, d: dict[str, torch.Tensor], k: int = 2) -> tuple[torch.Tensor, list[torch.Tensor]]:
        y = self.linear(x)
        self.count += 1
        out: list[torch.Tensor] = []
        for _ in range(self.turns):
            y = y * k + d["a"]
            out.append(y)
        if y.sum() > 0:
            z = y.sin() + self.count
        else:
            z = self.linear(y)
        return z, out


class Waits(nn.Module):
    def forward(self, x):
        while bool(x.sum() < 10):
            x = x + 1
        return x


def test_compiled_modules():
    eager, compiled = Scripted(), torch.jit.script(Scripted())
    compiled.load_state_dict(eager.state_dict())
    x, d = torch.randn(2, 3), {"a": torch.randn(3)}
    ep = torch.export.export(compiled, (x, d), dynamic_shapes={"x": {0: torch.export.Dim("batch")}, "d": None})
    calls = [n.name for n in ep.graph.nodes if n.op == "call_function"]
    assert calls == ["linear", "add", "mul", "add_1", "mul_1", "add_2", "mul_2", "add_3", "sum_1", "gt", "conditional"]
    assert ep.graph_signature.buffers_to_mutate == {"add": "count"}
    program = ep.module()
    for x in (torch.ones(4, 3) * 100, torch.ones(5, 3) * -100):
        for a, b in zip(*(torch.utils._pytree.tree_flatten(f(x, d))[0] for f in (program, eager)), strict=True):
            assert torch.allclose(a, b)
    with pytest.raises(RuntimeError, match="(?s)number of turns of this loop depends on the elements.*while bool"):
        torch.export.export(torch.jit.script(Waits()), (x,))
