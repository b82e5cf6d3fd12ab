"""Gradients from Python: eager, scripted, and by torch.autograd."""

import random

import pytest

import torchjit as torch
from torchjit import nn


def test_backward_adds_to_the_gradients_of_leaves():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for times in (1, 2):
        (x * x).sum().backward()
        assert x.grad.tolist() == [2.0 * times, 4.0 * times]
    x.grad = None
    assert x.grad is None and x.is_leaf and x.grad_fn is None


def test_what_made_a_tensor_is_shown():
    y = torch.ones(2, requires_grad=True) + 1
    assert y.grad_fn.name() == "AddBackward0" and not y.is_leaf
    assert repr(y) == "tensor([2., 2.], grad_fn=<AddBackward0>)"


def test_gradients_of_gradients():
    x = torch.tensor(3.0, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    g.backward()
    assert g.item() == 27.0 and x.grad.item() == 18.0


def test_unused_inputs():
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        torch.autograd.grad(x * 2, (x, y))
    assert torch.autograd.grad(x * 2, (x, y), allow_unused=True)[1] is None


def test_without_recording():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        x.mul_(3)
    assert not (x.detach() * 2).requires_grad and x.requires_grad


def test_memory_of_saved_tensors_outlives_their_python_objects():
    x = torch.ones(1000, requires_grad=True)
    y = x * torch.full([1000], 2.0)
    for _ in range(20):
        torch.zeros(1000) + 5
    y.sum().backward()
    assert x.grad.sum().item() == 2000.0


def test_scripted_functions_are_recorded():
    def f(x, w):
        total = torch.zeros([2])
        for _ in range(3):
            total = total + torch.tanh(x * w)
        total[0] = total[0] * 2
        return total

    grads = []
    for function in (f, torch.jit.script(f)):
        w = torch.tensor([0.5, -0.25], requires_grad=True)
        function(torch.tensor([1.0, 2.0]), w).sum().backward()
        grads.append(w.grad.tolist())
    assert grads[0] == grads[1] and grads[0] != [0.0, 0.0]


def test_training_reduces_the_loss():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    x = torch.randn(16, 4)
    target = x.sum(1, keepdim=True)
    losses = []
    for _ in range(40):
        loss = nn.functional.mse_loss(model(x), target)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_writing_through_a_view_that_was_made_without_recording_fails():
    b = torch.ones(2, requires_grad=True) * 2
    with torch.no_grad():
        v = b[0:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(3)


def test_gradient_of_a_view_that_is_written_into_a_view():
    def function(x):
        inner = torch.zeros(3, dtype=torch.float64)
        inner[1:] = x
        outer = torch.zeros(3, 2, dtype=torch.float64)
        outer[:, 1] = inner
        return outer * inner.unsqueeze(1)

    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (x,)) and torch.autograd.gradgradcheck(function, (x,))


def test_what_gives_a_shape_has_no_part_in_the_gradient():
    shape, x = torch.ones(2, 2, requires_grad=True), torch.ones(4)
    for name in ("view_as", "reshape_as", "expand_as", "type_as"):
        given = x if name != "expand_as" else x[:2]
        assert not getattr(given, name)(shape).requires_grad, name


def test_data_is_written_uncounted():
    """The answers are PyTorch's."""
    x = torch.zeros(3)
    d = x.data
    d[0].add_(1)
    assert (x._version, d._version, x.detach().add_(1)._version, x._version) == (0, 1, 1, 1)
    y = torch.ones(3).add_(1)
    x.add_(1).data = y
    assert (x.add_(1)._version, y._version) == (3, 1)
    w = torch.ones(3, requires_grad=True)
    z = w * w
    w.data.add_(1)
    z.sum().backward()
    assert w.grad.tolist() == [4, 4, 4]

    def compiled(x: torch.Tensor):
        x.data.add_(1)

    torch.jit.script(compiled)(w)
    assert (w._version, w[0].item()) == (0, 3)


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_are_laid_out_as_their_tensors(create_graph):
    """The answers are PyTorch's: a first gradient is a copy, and no view."""
    for w, strides in [(torch.ones(3), (1,)), (torch.ones(2, 3).t(), (1, 3)), (torch.ones(2, 3, device="meta").t(), (1, 3)), (torch.ones(3, 4)[:, ::2], (2, 1))]:
        w.requires_grad_().square().t().sum().backward(create_graph=create_graph)
        assert w.grad.stride() == strides and not w.grad._is_view()
        w.grad.detach_()


def test_writes_through_data_are_not_counted():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    x.data.mul_(3)
    y.backward()
    assert x.grad.tolist() == [6.0, 6.0] and x._version == 0 and not x.data._is_view()


@pytest.mark.parametrize("name, sizes", [("unsafe_chunk", 2), ("unsafe_split", 2), ("unsafe_split_with_sizes", [2, 2])])
def test_parts_that_are_no_views(name, sizes):
    x = torch.ones(4, requires_grad=True)
    whole = x * 2
    a, b = getattr(whole, name)(sizes)
    a.exp_()
    b.mul_(3)
    assert (whole._version, a._version, b._version, a._is_view()) == (0, 1, 1, False)
    (g,) = torch.autograd.grad(a.sum() + b.sum(), x)
    torch.testing.assert_close(g, torch.cat([2 * a.detach(), torch.full((2,), 6.0)]))


def test_rows_of_an_embedding_that_occur_often_get_means():
    weight = torch.zeros(4, 2, requires_grad=True)
    indices = torch.tensor([[1, 3, 1], [1, 2, 2]])
    y = torch.nn.functional.embedding(indices, weight, padding_idx=2, scale_grad_by_freq=True)
    y.backward(3 * torch.arange(12.0).view(2, 3, 2))
    assert weight.grad.tolist() == [[0, 0], [10, 13], [0, 0], [6, 9]]


def test_gradients_of_writes_into_parts():
    x = torch.arange(12.0).view(3, 4).requires_grad_()
    g = torch.ones(3, 4)
    y = x * 2
    y.retain_grad()
    z = y * 1
    z[0] = 5.0
    z[:, 1] = x[:, 0] * 3
    z[1:, 2:].mul_(10)
    z.backward(g)
    assert g.eq(1).all()
    assert y.grad.tolist() == [[0, 0, 0, 0], [1, 0, 10, 10], [1, 0, 10, 10]]
    assert x.grad.tolist() == [[3, 0, 0, 0], [5, 0, 20, 20], [5, 0, 20, 20]]


def test_gradients_of_a_convolution_that_are_not_asked_for_are_not_computed():
    x, w, g = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 3, 3), torch.ones(1, 3, 2, 2)
    rest = ([3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    found = torch.ops.aten.convolution_backward(g, x, w, *rest, [False, True, False])
    assert found[0] is None and found[2] is None and found[1].eq(4).all()
    with pytest.raises(RuntimeError, match=r"expected a gradient of size \[1, 3, 2, 2\], got one of size \[1, 3, 2, 1\]"):
        torch.ops.aten.convolution_backward(g[..., :1], x, w, *rest, [True, True, True])


def test_nodes_of_losses():
    """Losses of classes are one node, as in PyTorch, and its gradient has one."""
    nll_loss = torch.nn.functional.nll_loss
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    target, weight = torch.tensor([0, 3, 1]), torch.tensor([1.0, 2.0, 0.5, 0.25], dtype=torch.float64)
    assert nll_loss(x, target).grad_fn.name() == "NllLossBackward0"
    images, classes = x.reshape(1, 3, 2, 2), torch.tensor([[[0, 1], [2, 1]]])
    assert nll_loss(images, classes).grad_fn.name() == "NllLoss2DBackward0"
    for reduction in ("none", "mean", "sum"):
        f = lambda x, reduction=reduction: nll_loss(x * x, target, weight, reduction=reduction, ignore_index=1)  # noqa: E731
        g = lambda x, reduction=reduction: nll_loss(x.reshape(1, 3, 2, 2) ** 3, classes, reduction=reduction)  # noqa: E731
        assert torch.autograd.gradcheck(f, x) and torch.autograd.gradgradcheck(f, x)
        assert torch.autograd.gradcheck(g, x) and torch.autograd.gradgradcheck(g, x)
    row = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda row: nll_loss(row, torch.tensor(2), weight), row)


def test_linear_with_a_vector_as_weight():
    x, w = torch.randn(2, 3, dtype=torch.float64, requires_grad=True), torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.nn.functional.linear, (x, w))


def test_a_gradient_that_is_given_on():
    """A node gives a new gradient to its first input, where the one that it got waits already, and then that one to the second."""
    for function in (torch.rsub, torch.jit.script(tanh_of_one)):
        for same in (False, True):
            x = torch.ones(2, 3, requires_grad=True)
            b = x if same else torch.ones(2, 3, requires_grad=True)
            y = torch.nn.functional.linear(x + function(x, b), torch.ones(3, 3)).sum()
            recorded = torch.autograd.grad(y, [x, b], create_graph=True)
            y.backward()
            assert torch.allclose(x.grad, recorded[0]) and torch.allclose(b.grad, recorded[1]) and b.grad.ne(0).all()


def tanh_of_one(a, b):
    return torch.tanh(a) * 0.5 + b


OPERATORS = """a + b; a - b; torch.rsub(a, b); torch.rsub(a, b, alpha=2); a * b; torch.tanh(a) * 0.5 + b; torch.lerp(a, b, 0.3); torch.addcmul(a, b, c, value=0.5);
torch.maximum(a, b); torch.where(a > b, a, b); torch.stack([a, b, a]).sum(0); torch.cat([a, b]).narrow(0, 1, 3); a.t().contiguous().t(); a.view(-1).view(3, 3);
(a @ b) * 0.2; a.expand(2, 3, 3).sum(0) * 0.5; a.unbind(0)[1].expand(3, 3); a.index_select(0, torch.tensor([0, 0, 2])); a.sum(0, keepdim=True) + b; a.clone().mul_(b);
torch.addmm(a, b, c, beta=0.5, alpha=0.2); torch.clamp(a, -1, 1); a.clone().add_(b); a.flip(0); a.diagonal().expand(3, 3); torch.softmax(a, 1); a.detach() + b; a.mean() + b;
a.masked_fill(b > 0, 0.5); torch.cumsum(a, 0); -a; a.T; torch.outer(a[0], b[1]); a.clone().copy_(b); torch.cat([a[:1], b[1:]]); a.reshape(9).split(3)[1] + b"""


@pytest.mark.parametrize("seed", range(4))
def test_gradients_of_random_programs(seed):
    """backward() uses the memory of its gradients again, a recorded one does not: they agree, whatever tensor stands for two arguments."""
    choose = random.Random(seed)
    operators = [o.strip() for o in OPERATORS.split(";")]
    w = torch.tensor([[0.5, -1, 2], [1, 1.5, -0.25], [2, 0.1, -1]])
    for _ in range(100):
        x, y = (torch.linspace(-1, 2, 9).view(3, 3).roll(k).requires_grad_() for k in (1, 4))
        values, program = [x, y], []
        for _ in range(choose.randint(2, 7)):
            names = {n: choose.choice([*range(len(values))[-3:], 0]) for n in "abc"}
            program.append((choose.choice(operators), names))
            values.append(eval(program[-1][0], {"torch": torch, **{n: values[i] for n, i in names.items()}}))
        total = (torch.nn.functional.linear(values[-1] + choose.choice(values), w) * w).sum()
        if not total.requires_grad:
            continue
        kept = torch.autograd.grad(total, (x, y), create_graph=True, allow_unused=True)
        total.backward()
        for leaf, g in zip((x, y), kept):
            assert (leaf.grad is None) == (g is None) and (g is None or torch.allclose(leaf.grad, g, rtol=1e-4, atol=1e-5)), program


@pytest.mark.parametrize(
    "factors, wanted",
    [([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]), ([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]), ([1e-30, 1e-30, 4.0], [4e-30, 4e-30, 0.0]), ([1e30, 1e30, 1e-30], [1.0, 1.0, float("inf")])],
)
def test_gradients_of_products_with_zeros_and_beyond_the_range(factors, wanted):
    x = torch.tensor(factors, requires_grad=True)
    (whole,) = torch.autograd.grad(x.prod(), x)
    (rows,) = torch.autograd.grad(torch.stack([x, x]).prod(1), x, torch.tensor([1.0, 0.0]))
    assert whole.tolist() == pytest.approx(wanted, rel=1e-6) and rows.tolist() == pytest.approx(wanted, rel=1e-6)
