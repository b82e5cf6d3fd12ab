"""Steps of optimizers in one pass: the same bits as by operators, and counted as writes."""

import pytest

import torchjit as torch
from torchjit import _native


def parameters(dtype):
    torch.manual_seed(5)
    return [torch.randn(33, 17, dtype=dtype).requires_grad_(), torch.randn(40, dtype=dtype).requires_grad_(), torch.randn((), dtype=dtype).requires_grad_()]


def trained(make, dtype, apart, steps=4):
    """The parameters and states behind some steps. Where apart, gradients lie otherwise than the parameters, and operators do the steps."""
    ps = parameters(dtype)
    optimizer = make(ps)
    for i in range(steps):
        for p in ps:
            grad = torch.sin(p.detach() * (i + 1))
            p.grad = torch.stack([grad, grad], -1)[..., 0] if apart else grad
        optimizer.step()
    return [p.detach() for p in ps] + [v for p in ps for v in optimizer.state[p].values()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("make", [
    lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9),
    lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.01, maximize=True),
    lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9, nesterov=True),
    lambda ps: torch.optim.Adam(ps, 0.1),
    lambda ps: torch.optim.Adam(ps, 0.1, weight_decay=0.01, amsgrad=True),
    lambda ps: torch.optim.Adam(ps, 0.1, weight_decay=0.01),
    lambda ps: torch.optim.AdamW(ps, 0.1),
])  # fmt: skip
def test_one_pass_gives_the_bits_of_the_operators(make, dtype):
    for together, apart in zip(trained(make, dtype, False), trained(make, dtype, True), strict=True):
        assert torch.equal(together, apart)


@pytest.mark.parametrize("make", [lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9), lambda ps: torch.optim.AdamW(ps, 0.1)])
def test_a_step_counts_as_a_write(make):
    p = torch.randn(3).requires_grad_()
    optimizer = make([p])
    p.grad = torch.ones(3)
    optimizer.step()
    kept = (p * p).sum()
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


def test_a_profiler_sees_the_operators_of_a_step():
    p = torch.randn(3).requires_grad_()
    optimizer = torch.optim.SGD([p], 0.1, momentum=0.9)
    p.grad = torch.ones(3)
    optimizer.step()
    with torch.profiler.profile() as seen:
        optimizer.step()
    assert any("aten::add_" in e.key for e in seen.key_averages())


def test_scripted_code_sees_the_new_weights():
    f = torch.jit.script(torch.nn.Linear(4, 4))
    x, optimizer = torch.randn(2, 4), torch.optim.SGD(f.parameters(), 0.1, momentum=0.9)
    for _ in range(4):
        f(x).sum().backward()
        optimizer.step()
        with torch.no_grad():
            assert torch.allclose(f(x), x @ f.weight.t() + f.bias, atol=1e-6)


def test_what_does_not_lie_alike_is_left_alone():
    p, grad, total = torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)
    assert not _native.momentum_step(p, torch.ones(3, 2).t(), total, 0.5, 1.0, -1.0)
    assert not _native.momentum_step(p, grad, grad, 0.5, 1.0, -1.0)
    with torch.no_grad():
        assert not _native.momentum_step(p, grad.half(), total, 0.5, 1.0, -1.0)
        assert not _native.momentum_step(p, grad, grad, 0.5, 1.0, -1.0)
        assert torch.equal(p, torch.ones(2, 3))
        assert _native.momentum_step(p, grad, total, 0.5, 1.0, -1.0)
    assert torch.equal(total, torch.full((2, 3), 1.5)) and torch.equal(p, torch.full((2, 3), -0.5))


def test_one_pass_behind_inference():
    with torch.inference_mode():
        kept = torch.ones(3) + 1
    p, grad, total = torch.ones(3), torch.ones(3), torch.ones(3)
    with torch.no_grad():
        assert _native.momentum_step(p, grad, total, 0.5, 1.0, -1.0)
        assert not _native.momentum_step(p, kept, total, 0.5, 1.0, -1.0)


@torch.no_grad()
def test_named_dimensions_are_left_alone():
    plain, named = torch.ones(2), torch.ones(2, names=("x",))
    assert not _native.momentum_step(named, plain, torch.ones(2), 0.5, 1.0, -1.0)
    assert _native.momentum_step(plain, torch.ones(2), torch.ones(2), 0.5, 1.0, -1.0)  # though there is a tensor with names
