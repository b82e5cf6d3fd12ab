"""Steps of LSTMs are one operator where gradients are wanted; the gradients are those of what they are made of."""

import pytest

import torchjit as torch
from torchjit.autograd import gradcheck, gradgradcheck
from torchjit.utils._python_dispatch import TorchDispatchMode


def numbers(*shape, dtype=torch.float64):
    made = torch.Generator().manual_seed(len(shape) + torch.Size(shape).numel())
    return torch.randn(*shape, dtype=torch.float64, generator=made).to(dtype).requires_grad_()


def cell(x, state, wi, wh, bi=None, bh=None):
    """What an LSTM cell is made of."""
    h, c = state
    i, f, g, o = (torch.nn.functional.linear(x, wi, bi) + torch.nn.functional.linear(h, wh, bh)).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def arguments(biases, dtype=torch.float64):
    given = [numbers(*shape, dtype=dtype) for shape in ((3, 5), (3, 4), (3, 4), (16, 5), (16, 4))]
    return given + [numbers(16, dtype=dtype), (numbers(16, dtype=dtype) * 0.3).detach().requires_grad_()] * biases


def steps(step, x, h, c, *weights):
    for t in range(3):
        h, c = step(x * (t + 1), (h, c), *weights)
    return h, c


LOSSES = {"both": lambda h, c: (h * h).sum() + c.sin().sum(), "state": lambda h, c: (h * h).sum(), "memory": lambda h, c: c.sin().sum()}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_of_cells(dtype, biases, loss):
    args = arguments(biases, dtype)
    found, wanted = (LOSSES[loss](*steps(step, *args)) for step in (torch.lstm_cell, cell))
    assert "Fused" in torch.lstm_cell(args[0], args[1:3], *args[3:])[0].grad_fn.name() or not biases
    tolerance = {"rtol": 2e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-12}
    torch.testing.assert_close(found, wanted, **tolerance)
    first, second = (torch.autograd.grad(y, args, create_graph=True) for y in (found, wanted))
    torch.testing.assert_close(first, second, **tolerance)
    again, once = (torch.autograd.grad(sum((g * g).sum() for g in gs), args) for gs in (first, second))
    torch.testing.assert_close(again, once, rtol=1e-3 if dtype == torch.float32 else 1e-10, atol=1e-3 if dtype == torch.float32 else 1e-10)
    plain = torch.autograd.grad(LOSSES[loss](*steps(torch.lstm_cell, *args)), args)
    torch.testing.assert_close(plain, second, **tolerance)


def test_differences():
    args = arguments(True)
    assert gradcheck(lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w), args)
    assert gradgradcheck(lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w), args)
    gates, others, memory, bias = numbers(3, 16), (numbers(3, 16) * 0.5).detach().requires_grad_(), numbers(3, 4), numbers(16)
    assert gradcheck(torch.ops.aten._thnn_fused_lstm_cell, (gates, others, memory, bias, (bias * 2).detach().requires_grad_()))  # all three results
    assert gradgradcheck(torch.ops.aten._thnn_fused_lstm_cell, (gates, others, memory))


@pytest.mark.parametrize("biases", [True, False])
def test_layers(biases):
    args = arguments(biases)
    x, h, c, weights = numbers(6, 3, 5), *args[1:3], args[3:]
    y, hn, cn = torch.lstm(x, (h[None], c[None]), weights, biases, 1, 0.0, True, False, False)
    states, state = [], (h, c)
    for t in range(6):
        state = cell(x[t], state, *weights)
        states.append(state[0])
    torch.testing.assert_close((y, hn[0], cn[0]), (torch.stack(states), *state), rtol=1e-12, atol=1e-12)
    inputs = [x, *args[1:]]
    found = torch.autograd.grad((y * y).sum() + cn.sin().sum(), inputs)
    wanted = torch.autograd.grad((torch.stack(states) ** 2).sum() + state[1].sin().sum(), inputs)
    torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-11)


def test_what_tensors_show():
    args = arguments(True)
    seen = []
    h, c = torch.lstm_cell(args[0], args[1:3], *args[3:])
    h.register_hook(seen.append)
    c.retain_grad()
    loss = (h * 2).sum() + (c * 3).sum()
    loss.backward(retain_graph=True)
    assert seen[0].eq(2).all() and c.grad.eq(3).all()
    first = args[4].grad.clone()
    loss.backward()
    torch.testing.assert_close(args[4].grad, 2 * first, rtol=0, atol=0)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    h, c = torch.lstm_cell(args[0], args[1:3], *args[3:])
    loss = (h * h).sum()
    with torch.no_grad():
        c.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_other_layouts_and_frozen_weights():
    x, h, c, wi, wh, bi, bh = arguments(True)
    turned = [t.detach().t().contiguous().t().requires_grad_(t is not wi) for t in (x, h, c, wi, wh)]
    found = torch.lstm_cell(turned[0], turned[1:3], *turned[3:], bi, bh)
    wanted = cell(x, (h, c), wi, wh, bi, bh)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    sum((t * t).sum() for t in found).backward()
    sum((t * t).sum() for t in wanted).backward()
    for a, b in zip(turned, (x, h, c, wi, wh), strict=True):
        assert a.grad is None if b is wi else torch.allclose(a.grad, b.grad, rtol=1e-12, atol=1e-12)


def test_where_others_look():
    args = arguments(True)

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            names.append(f.__name__)
            return f(*args, **(kwargs or {}))

    names = []
    with Names():
        torch.lstm_cell(args[0], args[1:3], *args[3:])
    assert any("sigmoid" in name for name in names) and not any("fused" in name for name in names)
    small = [t.detach().to(torch.bfloat16).requires_grad_() for t in args]
    h, _ = torch.lstm_cell(small[0], small[1:3], *small[3:])
    assert h.dtype == torch.bfloat16 and "Fused" not in h.grad_fn.name()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(args[0], torch.ones_like(args[0]))
        h, _ = torch.lstm_cell(dual, args[1:3], *args[3:])
        tangent = torch.autograd.forward_ad.unpack_dual(h).tangent
        wanted = torch.autograd.forward_ad.unpack_dual(cell(dual, args[1:3], *args[3:])[0]).tangent
    torch.testing.assert_close(tangent, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((3, 16), (3, 16), (3, 5)), "16 columns|4 columns"),
        (((3, 16), (2, 16), (3, 4)), "expects gates"),
        (((16,), (16,), (4,)), "expects gates"),
        (((3, 16), (3, 16), (3, 4), (16,)), "two biases or none"),
        (((3, 16), (3, 16), (3, 4), (16,), (4,)), "must have 16 elements"),
    ],
)
def test_arguments_that_do_not_fit(shapes, message):
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten._thnn_fused_lstm_cell(*(numbers(*shape) for shape in shapes))
