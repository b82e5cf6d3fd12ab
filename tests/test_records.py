"""Operators that PyTorch 2 has and 1.13 has not: each is one record, from which eager, compiled and differentiated programs follow."""

import pytest

import torchjit as torch

X = [[1.0, 0.0], [2.0, 3.0]]


def normalized(x, w):
    return torch.rms_norm(x, [2], w).tanh() + 1


def powers(x):
    return torch.ops.aten.linalg__powsum(x, 3, [0], True)


def test_reductions():
    x = torch.tensor(X)
    assert torch.all(x, dim=(0, 1)).item() is False and torch.any(x, dim=[0, 1], keepdim=True).tolist() == [[True]]
    assert torch.all(x, dim=()).tolist() == [[True, False], [True, True]]
    assert torch.all(x, dim=1).tolist() == [False, True] and torch.all(x).item() is False
    assert powers(x).tolist() == torch.jit.script(powers)(x).tolist() == [[9, 27]]
    assert torch.ops.aten.linalg__powsum(x, 0).item() == 4


def test_rms_norm():
    x, w = torch.tensor(X), torch.tensor([1.0, 2.0])
    torch.testing.assert_close(torch.rms_norm(x, [2], w), torch.tensor([[1.4142134, 0.0], [0.7844645, 2.3533936]]))
    torch.testing.assert_close(torch.rms_norm(x, [2], None, 1e-3), torch.tensor([[1.4128014, 0.0], [0.7844042, 1.1766063]]))
    leaf = x.clone().requires_grad_()
    (grad,) = torch.autograd.grad(torch.rms_norm(leaf, [2], w).sum(), leaf)
    torch.testing.assert_close(grad, torch.tensor([[4.7684e-07, 2.8284268], [-0.0905152, 0.0603434]]))
    with pytest.raises(RuntimeError, match=r"Given normalized_shape=\[3\], expected input with shape \[\*, 3\]"):
        torch.rms_norm(x, [3])


def test_compiled():
    compiled, x, w = torch.jit.script(normalized), torch.tensor(X).requires_grad_(), torch.tensor([1.0, 2.0])
    for _ in range(3):
        y = compiled(x, w)
        torch.testing.assert_close(y, normalized(x, w))
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], torch.autograd.grad(normalized(x, w).sum(), x)[0])


def test_names_of_nodes():
    x = torch.ones(2, requires_grad=True)
    for f, name in (torch.multiply, "MulBackward0"), (torch.arctan2, "Atan2Backward0"), (torch.true_divide, "DivBackward0"):
        assert f(x, x).grad_fn.name() == name
    for f, name in (torch.arccos, "AcosBackward0"), (torch.special.expit, "SigmoidBackward0"), (torch.negative, "NegBackward0"):
        assert f(x).grad_fn.name() == name


def test_gradients_of_moments_and_gates_are_one_node():
    x = torch.randn(4, 6, requires_grad=True)
    assert [y.grad_fn.name() for y in (*torch.std_mean(x, 0), *torch.var_mean(x))] == ["StdMeanBackward0"] * 2 + ["VarMeanBackward0"] * 2
    assert torch.nn.functional.glu(x).grad_fn.name() == "GluBackward0"
    far = torch.full((3,), float("inf"), requires_grad=True)
    assert torch.autograd.grad(torch.var_mean(far)[1], far)[0].tolist() == pytest.approx([1 / 3] * 3)


def test_weights_of_losses_of_logits_have_no_gradient():
    x, weight = torch.randn(3, requires_grad=True), torch.rand(3, requires_grad=True)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(x, torch.rand(3), weight)
    assert loss.grad_fn.name() == "BinaryCrossEntropyWithLogitsBackward0"
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        loss.backward()


def test_dropout_of_everything():
    x = torch.ones(3, requires_grad=True)
    y = torch.nn.functional.dropout(x, 1.0)
    assert y.tolist() == [0, 0, 0]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("name, args", [
    ("matrix_exp_backward", lambda g: (g, torch.tensor([[0.3, -0.2], [0.5, 0.1]], dtype=torch.float64))),
    ("matrix_exp_backward", lambda g: (torch.tensor([[0.3, -0.2], [0.5, 0.1]], dtype=torch.float64), g)),
    ("unfold_backward", lambda g: (g, [3], 0, 2, 1)),
])
def test_gradients_of_gradient_operators(name, args):
    """They are made of operators, whose gradients theirs are."""
    g = torch.tensor([[0.2, -0.7], [1.1, 0.4]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda g: getattr(torch.ops.aten, name)(*args(g)), (g,))


def test_affine_grid_generator_backward():
    backward = torch.ops.aten.affine_grid_generator_backward
    g = torch.arange(8.0).reshape(1, 2, 2, 2).requires_grad_()
    backward(g, [1, 1, 2, 2], False).sum().backward()
    assert g.grad.reshape(-1).tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="invalid for input of size 8"):
        backward(g, [1, 1, 2, 3], False)


def test_refusal_of_complex_numbers_names_the_running_extreme():
    for name in ("cummax", "cummin"):
        with pytest.raises(RuntimeError, match=f"\"{name}_cpu\" not implemented for 'ComplexFloat'"):
            getattr(torch, name)(torch.zeros(2, dtype=torch.complex64), 0)


def test_quantized_forms_take_arguments_by_their_names():
    x = torch.tensor([[-2.0, 0.5, 1.0], [3.0, -1.0, 0.25]])
    q = torch.quantize_per_tensor(x, 0.05, 100, torch.quint8)
    real = q.dequantize()
    forms = torch.ops.quantized
    weight, bias = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([0.5, 0.0, 0.25])
    for made, expected in (
        (forms.softmax(q, 1, 0.004, 3), torch.softmax(real, 1)),
        (forms.elu(q, 0.04, 50, 0.5, 2.0, 0.25), torch.ops.aten.elu(real, 0.5, 2.0, 0.25)),
        (forms.leaky_relu(q, 0.25, False, 0.04, 50), torch.nn.functional.leaky_relu(real, 0.25)),
        (forms.layer_norm(q, [3], weight, bias, 1e-3, 0.04, 120), torch.nn.functional.layer_norm(real, [3], weight, bias, 1e-3)),
    ):
        assert made.q_scale() in (0.004, 0.04)
        assert torch.allclose(made.dequantize(), expected, atol=made.q_scale() * 0.51)
    clamped = forms.clamp(q, -1.0, None)
    assert (clamped.q_scale(), clamped.q_zero_point()) == (0.05, 100)
    assert torch.allclose(clamped.dequantize(), real.clamp(min=-1.0))


class Normalizing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm([3]), torch.nn.GroupNorm(2, 4)

    def forward(self, x):
        x = torch.nn.functional.hardswish(self.first(x), inplace=True)
        return self.second(x) * 2


def test_quantized_modules_have_the_forms_that_records_say():
    from torchjit.ao.quantization import default_qconfig
    from torchjit.ao.quantization.quantize_jit import quantize_jit

    x = torch.arange(24.0).reshape(2, 4, 3).sin()
    plain = torch.jit.script(Normalizing().eval())
    made = quantize_jit(plain, {"": default_qconfig}, lambda model, data: [model(given) for given in data], [[x]])
    kinds = [n.kind() for n in made.graph.nodes() if n.kind().startswith("quantized::")]
    assert kinds == ["quantized::layer_norm", "quantized::hardswish", "quantized::group_norm", "quantized::mul_scalar"]
    assert torch.allclose(made(x), plain(x), atol=0.2)


def test_gradients_of_operators_that_are_the_gradients_of_others():
    aten = torch.ops.aten
    g, w = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.25], requires_grad=True)
    by_x, by_w = aten.prelu_backward(g, torch.tensor([-1.0, 2.0, -3.0]), w)
    assert (by_x.tolist(), by_w.tolist()) == ([0.25, 2.0, 0.75], [-10.0])
    assert torch.autograd.grad(by_x.sum(), w)[0].tolist() == [4.0]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    first = aten.cumprod_backward(g, x, 0, torch.cumprod(x, 0))
    assert first.tolist() == [23.0, 11.0, 6.0]
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [17.0, 14.0, 9.0]
    plain = aten.multi_margin_loss_backward(torch.tensor(1.0), torch.tensor([[0.1, 0.9, 0.3]]), torch.tensor([1]), 1, 1)
    assert not plain.requires_grad
    assert torch.allclose(plain, torch.tensor([[1 / 3, -2 / 3, 1 / 3]]))
