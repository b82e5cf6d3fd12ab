"""torch.export: what programs of newer versions of PyTorch ask of it beside tests/answers/export.txt."""

import inspect
import io
import json
import math
import types

import numpy
import pytest

import torchjit as torch
import torchjit.export
import torchjit.export.dynamic_shapes
import torchjit.nn.functional as F
from torchjit import _native, nn
from torchjit._higher_order_ops import scan, while_loop
from torchjit.export import Dim


def module(function):
    class M(nn.Module):
        def forward(self, *args):
            return function(*args)

    if isinstance(function, types.FunctionType):
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        M.forward.__signature__ = inspect.Signature([own, *inspect.signature(function).parameters.values()])
    return M()


def compiled(ep, *tensors):
    """What the program gives when the library runs it, not Python."""
    f = _native.export_function(ep._text())
    return f(*tensors)


def test_control_flow_in_the_library():
    loop = torch.export.export(
        module(lambda n, x: while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (n, x))), (torch.tensor(0), torch.ones(3))
    )
    n, x = compiled(loop, torch.tensor(2), torch.ones(3))
    assert n == 5 and torch.equal(x, torch.full((3,), 8.0))
    xs = torch.arange(6.0).reshape(3, 2)
    ep = torch.export.export(module(lambda c, xs: scan(lambda c, x: (c + x, c * 2), c, xs)), (torch.ones(2), xs))
    carry, ys = scan(lambda c, x: (c + x, c * 2), torch.ones(2), xs)
    got = compiled(ep, torch.ones(2), xs)
    assert torch.equal(got[0], carry) and torch.equal(got[1], ys)


def test_assertions_in_the_library():
    def first(x, n):
        k = n.item()
        torch._check(k <= x.shape[0])
        return x.narrow(0, 0, k)

    ep = torch.export.export(module(first), (torch.ones(6), torch.tensor(4)), dynamic_shapes=({0: Dim("b")}, None))
    assert compiled(ep, torch.ones(8), torch.tensor(7))[0].shape == (7,)
    with pytest.raises(RuntimeError, match="Runtime assertion failed for expression i1 <= s0"):
        compiled(ep, torch.ones(8), torch.tensor(9))


def test_checks_narrow_ranges():
    def f(n):
        k = n.item()
        torch._check(k > 3)
        torch._check(k < 9)
        return torch.zeros(k)

    ep = torch.export.export(module(f), (torch.tensor(4),))
    assert str(list(ep.range_constraints.values())) == "[VR[4, 8]]"


def test_additional_inputs_and_suggested_fixes():
    m = module(lambda x, y: x[1:] + y)
    args = (torch.ones(5, 3), torch.ones(4, 3))
    more = torch.export.AdditionalInputs()
    more.add((torch.ones(7, 3), torch.ones(6, 3)))
    ep = torch.export.export(m, args, dynamic_shapes=more)
    assert [[str(n) for n in p.meta["val"].shape] for p in ep.graph.find_nodes(op="placeholder")] == [["s1 + 1", "3"], ["s1", "3"]]
    more.add((torch.ones(7, 2), torch.ones(6)))
    with pytest.raises(ValueError, match="Expected a tensor of 2 dimensions"):
        torch.export.export(m, args, dynamic_shapes=more)
    shapes = ({0: Dim("b")}, {0: Dim("c")})
    with pytest.raises(torch.export.UserError, match="b = c [+] 1") as e:
        torch.export.export(m, args, dynamic_shapes=shapes)
    refined = torch.export.dynamic_shapes.refine_dynamic_shapes_from_suggested_fixes(str(e.value), shapes)
    assert torch.export.export(m, args, dynamic_shapes=refined).module()(torch.ones(7, 3), torch.ones(6, 3)).shape == (6, 3)


def test_sizes_that_follow_from_a_dim_that_is_no_size():
    ep = torch.export.export(
        module(lambda x: (x.view(-1, 2, 3), x.new_ones(x.shape[0] // 2))), (torch.ones(8, 3),), dynamic_shapes=({0: 2 * Dim("b", max=50)},)
    )
    assert str(ep.range_constraints) == "{s0: VR[0, 50], 2*s0: VR[0, 100]}"
    assert [x.shape[0] for x in ep.module()(torch.ones(6, 3))] == [3, 3]
    with pytest.raises(RuntimeError, match="= 7 to be of the form 2[*]s0, where s0 is an integer"):
        ep.module()(torch.ones(7, 3))
    with pytest.raises(RuntimeError, match="to be <= 100, but got 102"):
        ep.module()(torch.ones(102, 3))


def test_sizes_after_data_dependent_operators_are_no_constants():
    ep = torch.export.export(module(lambda x: (x.nonzero().shape[0], x[x > 0].numel() * 2)), (torch.tensor([1.0, 0.0]),))
    assert ep.module()(torch.tensor([1.0, 2.0])) == (2, 4)


OPERATORS = {
    "silu": F.silu,
    "elu": lambda x: F.elu(x, 0.5),
    "hardswish": F.hardswish,
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, 2.0, 1.0),
    "glu": F.glu,
    "logsigmoid": F.logsigmoid,
    "matmul": lambda x: x.view(2, 2, 6) @ x.t(),
    "bmm": lambda x: x.view(2, 2, 6) @ x.t().reshape(2, 6, 2),
    "dot": lambda x: x[0] @ x[1],
    "linear": lambda x: F.linear(x.view(2, 2, 6), x, x[:, 0]),
    "chunk": lambda x: x.chunk(3),
    "unbind": lambda x: x.unbind(1),
    "stack": lambda x: torch.stack([x, x], -1),
    "var": lambda x: x.var(0, False, True),
    "std": lambda x: x.std(),
    "mse": lambda x: F.mse_loss(x, x * 2),
    "reshape": lambda x: x.t().reshape(24),
    "masked": lambda x: x.masked_fill(x > 0, 0.5),
    "where": lambda x: torch.where(x > 0, 0.5, x),
    "addcdiv": lambda x: torch.addcdiv(x, x, x, value=2),
    "rsub": lambda x: 1 - x,
    "floor": lambda x: x // 2,
    "zeros": lambda x: torch.zeros_like(x, dtype=torch.int64),
    "nan": lambda x: torch.nan_to_num(x / 0),
    "all": lambda x: (x > 0).all(),
    "unflatten": lambda x: x.unflatten(1, (2, -1)),
    "movedim": lambda x: x[None].movedim(0, 2),
    "group_norm": lambda x: F.group_norm(x.view(1, 4, 3, 2), 2),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.tensor([0, 1, -100, 3])),
    "weighted": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2, 3]), x[0].abs()),
    "planes": lambda x: F.nll_loss(x.view(1, 4, 3, 2), torch.tensor([[[0, 1], [2, 3], [1, 1]]]), reduction="none"),
    "lerp": lambda x: torch.lerp(x, x * 2, 0.3),
    "logits": lambda x: F.binary_cross_entropy_with_logits(x, x.sigmoid(), pos_weight=x[0].abs()),
    "norm": lambda x: x.norm(dim=1),
    "normalize": F.normalize,
    "std_mean": lambda x: torch.std_mean(x, 0),
    "logsumexp": lambda x: x.logsumexp((0, 1)),
    "new_ones": lambda x: x.new_ones(2, dtype=torch.int64),
    "trace": lambda x: x.trace(),
    "batch_norm": lambda x: F.batch_norm(x, x[0] * 0, x[1].abs()),
    "type_as": lambda x: x.type_as(x.double()),
    "constant": lambda x: x + torch.tensor([1.0] * 6),
    "pool": lambda x: F.adaptive_avg_pool2d(x[None, None], 1),
    "pad": lambda x: F.pad(x, (1, 2)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_decompositions_compute_the_same(name):
    torch.manual_seed(0)
    x, f = torch.randn(4, 6), OPERATORS[name]
    ep = torch.export.export(module(f), (x,)).run_decompositions()
    table = torch.export.default_decompositions()
    assert not [n.target for n in ep.graph.nodes if n.target in table]
    for got, want in zip(*(torch.utils._pytree.tree_leaves(r) for r in (ep.module()(x), f(x))), strict=True):
        assert got.dtype == want.dtype and torch.allclose(got, want, atol=1e-5, equal_nan=True)


def test_tables_of_decompositions():
    table = torch.export.default_decompositions()
    silu = torch.ops.aten.silu.default
    table.pop(silu)
    ep = torch.export.export(module(F.silu), (torch.ones(2),))
    assert [n.target for n in ep.run_decompositions(table).graph.find_nodes(op="call_function")] == [silu]
    assert silu in torch._decomp.core_aten_decompositions() and list(torch._decomp.get_decompositions([torch.ops.aten.silu])) == [silu]


def test_passes_and_checks():
    from torchjit._export.verifier import SpecViolationError
    from torchjit.export.passes import move_to_device_pass

    ep = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    assert [n.name for n in ep.graph.find_nodes(op="placeholder")] == ["p_weight", "p_bias", "input"]
    moved = move_to_device_pass(ep, "meta")
    assert {str(t.device) for t in moved.state_dict.values()} == {"meta"}
    (call,) = ep.graph.find_nodes(op="call_function")
    call.target = torch.sin
    with pytest.raises(SpecViolationError, match="is not an allowed operator type"):
        ep.validate()


def test_loaded_programs_keep_dynamic_sizes_and_examples():
    ep = torch.export.export(module(lambda x, k: (x * k, x.shape[0])), (torch.ones(4, 3), 2), dynamic_shapes=({0: Dim("b")}, None))
    file = io.BytesIO()
    torch.export.save(ep, file)
    file.seek(0)
    loaded = torch.export.load(file)
    assert loaded.example_inputs[0][1] == 2 and loaded.example_inputs[0][0].shape == (4, 3)
    assert loaded.run_decompositions().module()(torch.ones(7, 3), 2)[1] == 7
    assert json.loads(loaded._text())["symbols"][0]["name"] == "s0"


def test_metadata_of_sizes():
    ep = torch.export.export(module(lambda x: x + 1), (torch.ones(4, 3),), dynamic_shapes=({0: Dim("b")},))
    shape = ep.graph.find_nodes(op="placeholder")[0].meta["val"].shape
    assert isinstance(shape[0], torch.SymInt) and str(shape[0] * 2 + 1 - shape[0]) == "2*s0 + 1 + -1*s0"
    assert str(shape[0] * 3 * 2) == "6*s0" and str(3 + shape[0] - 3) == "s0" and str(-shape[0] * shape[0]) == "-1*s0*s0"


def test_decompositions_keep_places_and_modules():
    m = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.SiLU(), nn.Linear(2, 2)))
    ep = torch.export.export(m, (torch.ones(1, 2),)).run_decompositions()
    calls = ep.graph.find_nodes(op="call_function")
    assert [n.name for n in calls] == ["permute", "addmm", "sigmoid", "mul", "permute_1", "addmm_1"]
    assert [list(n.meta["nn_module_stack"].values())[-1][0] for n in calls] == ["self.0"] * 2 + ["self.1.0"] * 2 + ["self.1.1"] * 2
    assert "in forward\n    return F.silu" in calls[2].meta["stack_trace"]
    unflattened = torch.export.unflatten(ep)
    assert [n.target for n in unflattened.graph.nodes] == ["input", "0", "1", "output"]
    x = torch.randn(1, 2)
    assert torch.allclose(unflattened(x), m(x))


def test_preserved_signatures_are_saved():
    class Inner(nn.Module):
        def forward(self, d, *, k=1.0):
            return {"o": d["x"] * k, "p": d["y"]}

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x, y):
            r = self.inner({"x": x, "y": y}, k=3.0)
            return r["o"] + r["p"]

    x = torch.ones(2)
    file = io.BytesIO()
    torch.export.save(torch.export.export(M(), (x, x), preserve_module_call_signature=("inner",)), file)
    file.seek(0)
    unflattened = torch.export.unflatten(torch.export.load(file))
    assert unflattened(x, x).tolist() == [4, 4]

    class Other(nn.Module):
        def forward(self, d, *, k):
            return {"o": d["x"] * k * 2, "p": d["y"]}

    unflattened.inner = Other()
    assert unflattened(x, x).tolist() == [7, 7]


def test_repeats_of_dynamic_sizes():
    ep = torch.export.export(module(lambda x: x.repeat_interleave(2, dim=1)), (torch.ones(3, 4),), dynamic_shapes=({1: Dim("n")},))
    assert [str(n) for n in ep.graph.find_nodes(op="call_function")[0].meta["val"].shape] == ["3", "2*s0"]
    assert ep.module()(torch.ones(3, 5)).shape == (3, 10)


def test_reasons_name_what_is_wrong_alone():
    with pytest.raises(torch.export.UserError, match=r"(?s)Constraints violated \(t\)!.*Suggested fixes:\n  t = 5\n\n"):
        torch.export.export(module(lambda x: x.new_full((x.size(0),), float(x.shape[1]))), (torch.ones(3, 5),), dynamic_shapes=({0: Dim("b"), 1: Dim("t")},))


# What torch.export of PyTorch 2 makes of operators: those of the program that run_decompositions gives.
DECOMPOSED = [
    (lambda x: torch.multiply(x, 2.0).clip(0, 1).negative(), "mul.Tensor clamp.default neg.default"),
    (lambda x: x @ x[0, 0], "select.int select.int view.default mul.Tensor sum.dim_IntList view.default"),
    (lambda x: x @ x.transpose(1, 2), "permute.default expand.default view.default expand.default view.default bmm.default view.default"),
    (lambda x: x.transpose(0, 1).reshape(3, 2, 2, 2), "permute.default view.default"),
    (lambda x: x.transpose(0, 1).flatten(), "permute.default clone.default view.default"),
    (lambda x: x.movedim((0, 1), (2, 0)), "permute.default"),
    (lambda x: torch.nn.functional.max_pool2d(x, 2), "max_pool2d_with_indices.default getitem"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "names"), DECOMPOSED)
def test_parts_of_composite_operators(f, names):
    ep = torch.export.export(module(f), (torch.arange(24.0).reshape(2, 3, 4),)).run_decompositions()
    found = [getattr(n.target, "name", lambda: "getitem")().removeprefix("aten::") for n in ep.graph.find_nodes(op="call_function")]
    found = [n if "." in n or n == "getitem" else n + ".default" for n in found]
    assert found == names.split(), found


def test_strides_of_views():
    from torchjit import _composites

    x = torch.arange(24.0).reshape(2, 3, 4)
    for view in (x, x.transpose(0, 1), x[:, 1:], x[:, :1], x.unsqueeze(1).expand(2, 5, 3, 4), x[:, ::2], x[:0]):
        for sizes in ([24], [6, 4], [3, 2, 2, 2], [2, 2, 4], [2, 8], [8], [2, 5, 12], [10, 12], [4, 4], [2, 1, 1, 4, 1], [0, 3, 4], [0]):
            if torch.Size(sizes).numel() != view.numel():
                continue
            try:
                expected = list(view.view(sizes).stride())
            except RuntimeError:
                expected = None
            found = _composites._view_strides(list(view.shape), list(view.stride()), sizes, view.is_contiguous())
            assert found == expected, (view.shape, view.stride(), sizes)


def test_one_text_for_each_operator():
    """What an operator is made of is written once: in its record, in package composite, or in one of three tables of Python."""
    from torchjit import _composites, _native
    from torchjit.export import _core_losses, _core_operators

    core = [*_core_operators.table(), *_core_losses.table()]
    texts = [*_composites._definitions, *(operator.name() for operator in core), *{*_native.decomposed_operators(False), *_native.decomposed_operators(True)}]
    assert sorted(name for name in set(texts) if texts.count(name) > 1) == []


# Uses of the operators whose records say for any sizes what they are made of: x has 4 rows or any number of them, of 6 by 8 elements.
FOR_ANY_SIZES = {
    "aten::adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, (2, 3)).sum(),
    "aten::addcdiv": lambda x: torch.addcdiv(x, x, x + 9) + torch.addcdiv(x, x, x + 9, value=2),
    "aten::addcmul": lambda x: torch.addcmul(x, x, x) + torch.addcmul(x, x, x, value=2.5),
    "aten::all": lambda x: torch.all(x > -9),
    "aten::batch_norm": lambda x: torch.batch_norm(x, None, None, torch.zeros(6), torch.ones(6), False, 0.1, 1e-5, True),
    "aten::binary_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), x.sigmoid() ** 2) + F.binary_cross_entropy(x.sigmoid(), x.sigmoid(), reduction="sum"),
    "aten::broadcast_to": lambda x: torch.broadcast_to(x, (2, x.size(0), 6, 8)),
    "aten::conv1d": lambda x: F.conv1d(x, torch.ones(2, 3, 2), torch.ones(2), 2, 1, groups=2) + F.conv1d(x[0], torch.ones(2, 6, 2)).sum(),
    "aten::conv2d": lambda x: F.conv2d(x.unsqueeze(1), torch.ones(2, 1, 2, 2), None, (2, 1), 1) + F.conv2d(x[:1], torch.ones(2, 1, 2, 2)).sum(),
    "aten::conv3d": lambda x: F.conv3d(x.view(-1, 1, 1, 6, 8), torch.ones(2, 1, 1, 2, 2), torch.ones(2)),
    "aten::conv_transpose1d": lambda x: F.conv_transpose1d(x, torch.ones(6, 2, 2), torch.ones(2), 2, 1, 1) + F.conv_transpose1d(x[0], torch.ones(6, 2, 2)).sum(),
    "aten::conv_transpose2d.input": lambda x: F.conv_transpose2d(x.unsqueeze(1), torch.ones(1, 2, 2, 2), None, 2, 1, dilation=2),
    "aten::conv_transpose3d.input": lambda x: F.conv_transpose3d(x.view(-1, 1, 1, 6, 8), torch.ones(1, 2, 1, 2, 2)),
    "aten::cross_entropy_loss": lambda x: F.cross_entropy(x, x.softmax(1)) + F.cross_entropy(x, x.argmax(1), label_smoothing=0.1),
    "aten::dot": lambda x: torch.dot(x[0, 0], x[1, 1]),
    "aten::elu": lambda x: F.elu(x) + F.elu(x, 2.0) + torch.ops.aten.elu.default(x, 1.5, 2.0, 3.0),
    "aten::expand_as": lambda x: x[:1].expand_as(x) + 1,
    "aten::flatten.using_ints": lambda x: x.flatten(0, 1).sum(0) + x.flatten()[:8] + x.flatten(1, 1).sum() + x.sum().flatten() + x.transpose(0, 2).flatten(-2).sum(),
    "aten::ger": lambda x: torch.ger(x[:, 0, 0], x[0, 0]),
    "aten::group_norm": lambda x: F.group_norm(x.transpose(1, 2).contiguous(), 2) + F.group_norm(x.transpose(1, 2), 4),
    "aten::hardsigmoid": lambda x: F.hardsigmoid(x),
    "aten::hardswish": lambda x: F.hardswish(x),
    "aten::l1_loss": lambda x: F.l1_loss(x, x * 2),
    "aten::layer_norm": lambda x: F.layer_norm(x, x.shape[1:]) + F.layer_norm(x.transpose(0, 2), [6, x.size(0)]).transpose(0, 2),
    "aten::log_sigmoid": lambda x: F.logsigmoid(x),
    "aten::log_sigmoid_forward": lambda x: torch.ops.aten.log_sigmoid_forward.default(x)[0],
    "aten::log_softmax.int": lambda x: x.log_softmax(0) + x.log_softmax(1, torch.float64),
    "aten::masked_fill.Scalar": lambda x: x.masked_fill(x > 0, 1.5),
    "aten::max.other": lambda x: torch.max(x, x * 2),
    "aten::max_pool1d": lambda x: F.max_pool1d(x, 2),
    "aten::max_pool2d": lambda x: F.max_pool2d(x.transpose(0, 1).unsqueeze(0), (x.size(0), 2)),
    "aten::max_pool3d": lambda x: F.max_pool3d(x.unsqueeze(0), 2),
    "aten::min.other": lambda x: torch.min(x, x * 2),
    "aten::mish": lambda x: F.mish(x),
    "aten::moveaxis.int": lambda x: torch.moveaxis(x, 0, -1),
    "aten::moveaxis.intlist": lambda x: torch.moveaxis(x, (0, 2), (2, 1)),
    "aten::movedim.int": lambda x: x.movedim(-1, 0),
    "aten::movedim.intlist": lambda x: x.movedim((0, 1), (2, 0)),
    "aten::huber_loss": lambda x: F.huber_loss(x, x * 2) + F.huber_loss(x, x * 2, reduction="sum", delta=0.3),
    "aten::smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x * 2) + F.smooth_l1_loss(x, x * 2, reduction="none", beta=0.3),
    "aten::mse_loss": lambda x: F.mse_loss(x, x * 2) + F.mse_loss(x, x * 2, reduction="sum") + F.mse_loss(x, x * 2, reduction="none"),
    "aten::mv": lambda x: torch.mv(x[:, 0], x[0, 0]),
    "aten::nan_to_num": lambda x: torch.nan_to_num(x / x.floor()) + torch.nan_to_num(x / x.floor(), 1.0, 2.0, -3.0),
    "aten::narrow": lambda x: x.narrow(1, 1, 2) + x.narrow(-2, -3, 2) + x.narrow(0, 0, x.size(0) - 1).sum(),
    "aten::nll_loss": lambda x: torch.ops.aten.nll_loss.default(x[:, 0], x[:, 0].argmax(1), None, 1, -100),
    "aten::nll_loss_nd": lambda x: torch.ops.aten.nll_loss_nd.default(x, x.argmax(1), None, 2, -100),
    "aten::numpy_T": lambda x: x[:, 0].T,
    "aten::outer": lambda x: torch.outer(x[:, 0, 0], x[0, 0]),
    "aten::ravel": lambda x: x.ravel() + x.transpose(0, 1).ravel(),
    "aten::relu6": lambda x: torch.ops.aten.relu6.default(x * 5),
    "aten::reshape_as": lambda x: x.transpose(1, 2).reshape_as(x),
    "aten::rsub.Scalar": lambda x: torch.rsub(x, 3) + torch.rsub(x, 2.5, alpha=3),
    "aten::rsub.Tensor": lambda x: torch.rsub(x, x) + torch.rsub(x, x, alpha=2),
    "aten::scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(x, x, x) + F.scaled_dot_product_attention(
        x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), is_causal=True, scale=0.2
    ).transpose(0, 1) + F.scaled_dot_product_attention(x, x[:, :2], x[:, :2], x[:, :, :2] > 0),
    "aten::silu": lambda x: F.silu(x),
    "aten::softmax.int": lambda x: x.softmax(0) + x.softmax(1, torch.float64),
    "aten::softplus": lambda x: F.softplus(x) + F.softplus(x, 2, 10),
    "aten::special_log_softmax": lambda x: torch.special.log_softmax(x, 1),
    "aten::special_softmax": lambda x: torch.special.softmax(x, 1),
    "aten::square": lambda x: x.square(),
    "aten::stack": lambda x: torch.stack([x, x * 2], -1),
    "aten::std": lambda x: x.std() + x.std(False),
    "aten::std.correction": lambda x: torch.std(x, (0,), correction=0, keepdim=True),
    "aten::std.dim": lambda x: x.std(0, False) + x.std((0, 1), True, True),
    "aten::swapaxes": lambda x: x.swapaxes(0, -1),
    "aten::swapdims": lambda x: x.swapdims(0, 1),
    "aten::t": lambda x: x[:, 0].t() + x[0, 0].t().sum(),
    "aten::threshold": lambda x: F.threshold(x, 0.1, 20),
    "aten::transpose.int": lambda x: x.transpose(0, -1) + x.sum().transpose(0, 0),
    "aten::var": lambda x: x.var() + x.var(False),
    "aten::var.dim": lambda x: x.var(0, False) + x.var((0, 1), True, True),
    "aten::view_as": lambda x: x.reshape(6, 8, -1).view_as(x),
}  # fmt: skip


@pytest.mark.parametrize("name", FOR_ANY_SIZES)
def test_records_say_what_operators_are_made_of_for_any_sizes(name):
    f = FOR_ANY_SIZES[name]
    x = torch.randn(4, 6, 8)
    ep = torch.export.export(module(f), (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
    assert name in [n.target.name() for n in ep.graph.nodes if hasattr(n.target, "name")]
    made = ep.run_decompositions()
    assert name not in [n.target.name() for n in made.graph.nodes if hasattr(n.target, "name")]
    for rows in (4, 6):
        x = torch.randn(rows, 6, 8)
        torch.testing.assert_close(made.module()(x), f(x))


def test_each_record_for_any_sizes_is_tested():
    from torchjit import _native

    # a program keeps item, whose part is for modes
    assert sorted([*FOR_ANY_SIZES, "aten::item"]) == sorted(_native.decomposed_operators(True))



@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * int(torch.equal(x, torch.ones(3))),
        lambda x: x * int(torch.allclose(x, torch.ones(3))),
        lambda x: x * int(torch.is_nonzero(x.sum() > 3)),
        lambda x: x * int(torch.ops.aten.Bool.Tensor(x.sum() > 3)),
        lambda x: x * torch.ops.aten.Int.Tensor(x.sum()),
        lambda x: x * int(x.sum().item()),
        lambda x: x * float(x.sum().item()),
        lambda x: x * math.floor(x.sum().item()),
        lambda x: x * math.sqrt(x.sum().item()),
        lambda x: x * 2 if x.sum().item() > 4 else x,
        lambda x: x * (x.sum().item() == 3.0),
        lambda x: x * x.sum().item().to(torch.int64),
        lambda x: x * len(f"{x.sum().item()}"),
        lambda x: torch.from_numpy(x.numpy()) * 2,
        lambda x: torch.from_numpy(numpy.asarray(x)) * 2,
        lambda x: torch.from_dlpack(x) * 2,
        lambda x: torch.tensor([x.sum(), 2.0]),
        lambda x: x * x.storage()[0],
    ],
)
def test_what_elements_tell_is_no_constant(f):
    """An exported program would give the numbers of its example for all inputs."""
    with pytest.raises(torch.export.UserError, match="elements of a tensor"):
        torch.export.export(module(f), (torch.ones(3),))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * torch.ops.aten.item(x.sum().long()),
        lambda x: x * torch.ops.aten.item.default(x.sum()),
        lambda x: x * torch.ops.aten._local_scalar_dense.default(x.sum().long()),
        lambda x: torch.add(x, x, alpha=x.sum().item()),
        lambda x: (x * x.sum().item()).reshape(-1)[: x.shape[0] - 1],
    ],
)
def test_numbers_of_elements_are_items(f):
    program = torch.export.export(module(f), (torch.ones(3),))
    assert torch.ops.aten.item.default in [node.target for node in program.graph.nodes]
    x = torch.tensor([2.0, 3.0, 4.0])
    assert torch.equal(program.module()(x), f(x))
