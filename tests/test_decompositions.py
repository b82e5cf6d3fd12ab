"""Decompositions give what the operators give, and make_fx records them in the operators' place."""

import pytest

import torchjit as torch
from torchjit._decomp import decomposition_table, decompositions, get_decompositions, register_decomposition
from torchjit.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


def values(*shape):
    return torch.randn(*shape, dtype=torch.float64) * 2


def share(*shape):
    return torch.rand(*shape, dtype=torch.float64) * 0.9 + 0.05


def normalization(groups):
    x, weight, bias = values(4, 6, 3), values(6), values(6)
    if groups == "batch":
        made = aten.native_batch_norm(x, weight, bias, values(6), share(6), True, 0.1, 1e-5)
        return (values(4, 6, 3), x, weight, None, None, *made[1:], True, 1e-5, [True, True, True])
    made = aten.native_group_norm(x, weight, bias, 4, 6, 3, groups, 1e-5)
    return values(4, 6, 3), x, *made[1:], weight, 4, 6, 3, groups, [True, True, True]


def layer(weight=True):
    x, w = values(4, 5, 3), values(5, 3) if weight else None
    made = aten.native_layer_norm(x, [5, 3], w, w, 1e-5)
    return values(4, 5, 3), x, [5, 3], *made[1:], w, w, [True, weight, weight]


CASES = {
    "tanh_backward": [(values(3, 2), share(3, 2))], "sigmoid_backward": [(values(3, 2), share(3, 2))], "softplus_backward": [(values(9), values(9), 2.0, 3.0)],
    "elu_backward": [(values(9), 1.5, 2.0, 0.5, r, values(9)) for r in (True, False)], "hardsigmoid_backward": [(values(9), values(9) * 2)],
    "hardtanh_backward": [(values(9), values(9), -1.0, 2.0)], "hardshrink_backward": [(values(9), values(9), 0.5)], "softshrink_backward": [(values(9), values(9), 0.5)],
    "hardswish_backward": [(values(9), values(9) * 2)], "threshold_backward": [(values(9), values(9), 0.2)], "leaky_relu_backward": [(values(9), values(9), 0.2, False)],
    "mish_backward": [(values(9), values(9))], "silu_backward": [(values(9), values(9))], "log_sigmoid_backward": [(values(9), x := values(9), torch.exp(-x.abs()))],
    "rrelu_with_noise_backward": [(values(9), values(9), share(9), 0.1, 0.3, t, False) for t in (True, False)],
    "prelu_backward": [(values(2, 3, 2), values(2, 3, 2), values(n)) for n in (1, 3)], "glu_backward": [(values(2, 3), values(2, 6), 1)],
    "logit_backward": [(values(9), share(9), e) for e in (None, 0.2)], "_softmax_backward_data": [(values(3, 4), share(3, 4), 1, torch.float64)],
    "_log_softmax_backward_data": [(values(3, 4), values(3, 4), 1, torch.float64)], "_softmax": [(values(3, 4), d, False) for d in (0, 1)],
    "_log_softmax": [(values(3, 4), 1, False)], "native_dropout": [(values(9), 0.0, True), (values(9), 0.5, False)],
    "native_dropout_backward": [(values(9), share(9) > 0.5, 2.0)], "embedding": [(values(5, 3), torch.tensor([[1, 4], [0, 0]]))],
    "embedding_dense_backward": [(values(2, 2, 3), torch.tensor([[1, 4], [4, 0]]), 5, p, f) for p in (-1, 1) for f in (True, False)],
    "addmm": [(values(2), values(2, 3), values(3, 2))], "_euclidean_dist": [(values(4, 3), values(2, 3))],
    "xlogy": [(share(9), share(9)), (torch.zeros(3), torch.tensor([0.0, 1.0, float("nan")]))], "is_same_size": [(values(2), values(2)), (values(2), values(3))],
    "split_with_sizes": [(values(5, 2), [1, 3, 1])], "slice_backward": [(values(2, 3), [5, 3], 0, 1, 5, 2)], "select_backward": [(values(3), [4, 3], 0, 2)],
    "diagonal_backward": [(values(3), [3, 4], 1, 0, 1)], "mse_loss_backward": [(values(()), values(4), values(4), 1), (values(4), values(4), values(4), 0)],
    "huber_loss_backward": [(values(()), values(4), values(4), 1, 0.7), (values(4), values(4), values(4), 0, 0.7)],
    "soft_margin_loss": [(values(4), torch.ones(4), r) for r in range(3)], "soft_margin_loss_backward": [(values(()), values(4), torch.ones(4), 1)],
    "binary_cross_entropy_backward": [(values(()), share(4), share(4), w, 1) for w in (None, share(4))],
    "nll_loss_backward": [(values(()), values(3, 4), torch.tensor([1, 0, -100]), w, 1, -100, torch.tensor(2.0, dtype=torch.float64)) for w in (None, share(4))]
    + [(values(3), values(3, 4), torch.tensor([1, 0, -100]), None, 0, -100, torch.tensor(2.0, dtype=torch.float64))],
    "nll_loss2d_backward": [(values(()), values(2, 4, 2, 1), torch.tensor([[[1], [0]], [[3], [1]]]), None, 1, -100, torch.tensor(4.0, dtype=torch.float64))],
    "native_group_norm": [(values(4, 6, 3), w, w, 4, 6, 3, 2, 1e-5) for w in (None, values(6))], "native_group_norm_backward": [normalization(2), normalization(3)],
    "native_layer_norm_backward": [layer(), layer(False)], "native_batch_norm_backward": [normalization("batch")], "gelu_backward": [(values(9), values(9))],
    "detach": [(values(2),)], "_fused_dropout": [],
}  # fmt: skip


def test_every_decomposition_has_a_case():
    named = {str(op.overloadpacket).removeprefix("aten.") for op in torch._decomp._own}
    assert named - {"lift", "lift_fresh"} <= set(CASES)


@pytest.mark.parametrize("name", [n for n, cases in CASES.items() if cases])
def test_the_decomposition_gives_what_the_operator_gives(name):
    op = getattr(getattr(aten, name), "Tensor" if name == "xlogy" else "default")
    for args in CASES[name]:
        expected, made = op(*args), decomposition_table[op](*args)
        torch.testing.assert_close(made, list(expected) if isinstance(made, list) else expected, equal_nan=True)


def test_the_gradient_of_gelu_by_tanh():
    grad, x = values(9), values(9)
    torch.testing.assert_close(decompositions.gelu_backward(grad, x, approximate="tanh"), aten.gelu_backward(grad, x, approximate="tanh"))


def test_factors_of_addmm():
    for beta, alpha in ((2, 0.5), (0, 1), (1, 3)):
        args = values(2, 2), values(2, 3), values(3, 2)
        torch.testing.assert_close(decompositions.addmm(*args, beta=beta, alpha=alpha), torch.addmm(*args, beta=beta, alpha=alpha))


def test_make_fx_records_what_an_operator_is_made_of():
    table = get_decompositions([aten._softmax, aten.addmm, aten._softmax_backward_data])
    assert len(table) == 3

    def step(x, w, b):
        return torch.nn.functional.softmax(torch.addmm(b, x, w), -1)

    x, w, b = values(2, 3), values(3, 4), values(4)
    graph = make_fx(step, table)(x, w, b)
    kinds = {str(n.target) for n in graph.graph.nodes if n.op == "call_function"}
    assert "aten.mm.default" in kinds and not kinds & {"aten._softmax.default", "aten.addmm.default"}
    torch.testing.assert_close(graph(x, w, b), step(x, w, b))


def test_a_decomposition_can_be_registered_once():
    own = dict(decomposition_table)
    try:
        op = aten.sinc.default
        assert op not in decomposition_table
        register_decomposition(op)(lambda x: x)
        with pytest.raises(RuntimeError, match="duplicate registrations for aten.sinc.default"):
            register_decomposition(op)(lambda x: x)
    finally:
        decomposition_table.clear()
        decomposition_table.update(own)
