"""Forward mode: tangents. That every operator has them is checked in test_gradients.py and test_complex_gradients.py."""

import pytest

import torchjit as torch
import torchjit.autograd.forward_ad as fwAD
from torchjit.autograd import functional

X, T = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def tangent(t):
    v = fwAD.unpack_dual(t).tangent
    return None if v is None else v.tolist()


def test_duals():
    with fwAD.dual_level():
        d = fwAD.make_dual(X, T)
        assert str(d) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
        assert fwAD.unpack_dual(d).primal.tolist() == [1, 2] and tangent(fwAD.unpack_dual(d).primal) is None
        assert tangent(X) is None and tangent(d.detach()) is None and tangent(d.argmax()) is None
        assert tangent(d * d) == [6, 16] and tangent(torch.cat([d, X])) == [3, 4, 0, 0]
        with torch.no_grad():
            assert tangent(d * 2) == [6, 8]
    with fwAD.dual_level():
        assert tangent(d) is None  # tangents go with their level


def test_views_and_writes():
    with fwAD.dual_level():
        d = fwAD.make_dual(X, T)
        z = torch.zeros(4)
        z[1:3] = d
        assert tangent(z) == [0, 3, 4, 0]
        z = d * 1
        z[0:1].mul_(2)
        assert tangent(z) == [6, 4] and tangent(z.view(2, 1)) == [[6], [4]]
        z = torch.zeros(2, 2)
        view = z.t()[0]
        view.copy_(d)
        assert tangent(z) == [[3, 0], [4, 0]]
        z = (d * 1).view(1, 2)
        assert tangent(z.transpose_(0, 1)) == [[3], [4]]


def test_forward_over_reverse_and_reverse_over_forward():
    a = torch.ones(2, requires_grad=True)
    with fwAD.dual_level():
        r = (fwAD.make_dual(a, T) ** 3).sum()
        (g,) = torch.autograd.grad(r, a, create_graph=True)
        assert tangent(g) == [18, 24]
        assert torch.autograd.grad(fwAD.unpack_dual(r).tangent, a)[0].tolist() == [18, 24]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x**2

    @staticmethod
    def jvp(ctx, gx):
        return 2 * ctx.saved_tensors[0] * gx


class NoRule(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x**2


def test_functions():
    with fwAD.dual_level():
        assert tangent(Square.apply(fwAD.make_dual(X, T))) == [6, 16]
        with pytest.raises(NotImplementedError, match="You must implement the jvp function for custom autograd.Function"):
            NoRule.apply(fwAD.make_dual(X, T))


@torch.jit.script
def scripted(x):
    return torch.sin(x) * x + x[0]


def test_scripted():
    with fwAD.dual_level():
        d = fwAD.make_dual(X, T)
        torch.testing.assert_close(fwAD.unpack_dual(scripted(d)).tangent, (X.cos() * X + X.sin()) * T + 3)


@pytest.mark.parametrize(
    ("call", "message"),
    {
        "fwAD.make_dual(X, torch.ones(3))": "a different size than that of the original Tensor, this is not supported. Tensor is of size \\[2\\] while the given forward gradient is of size \\[3\\]",
        "fwAD.make_dual(fwAD.make_dual(X, T), T)": "already has a forward gradient at the same level 0",
        "fwAD.make_dual(X, fwAD.make_dual(X, T))": "Setting a forward grad that itself has a forward gradient",
        "fwAD.enter_dual_level()": "Nested forward mode AD is not supported at the moment",
        "fwAD.make_dual(torch.tensor([1, 2]), T)": "Expected primal to be floating point or complex, but got: torch.int64",
        "torch.add(fwAD.make_dual(X, T), T, out=torch.zeros(2))": "Trying to use forward AD with add_out that does not support it because it is an out= function",
    }.items(),
)
def test_errors(call, message):
    with fwAD.dual_level(), pytest.raises((RuntimeError, ValueError), match=message):
        eval(call)
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fwAD.make_dual(X, T)


def test_functional():
    def f(x, y):
        return x**2 * y, y.sum()

    forward = functional.jacobian(f, (X, T), strategy="forward-mode", vectorize=True)
    for rows, wanted in zip(forward, functional.jacobian(f, (X, T))):
        for a, b in zip(rows, wanted):
            torch.testing.assert_close(a, b)
    h = functional.hessian(lambda x: (x**3).sum(), X, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert h.tolist() == [[6, 0], [0, 12]]
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        functional.jacobian(f, (X, T), strategy="forward-mode")


def test_gradgradcheck_forward_over_reverse():
    x = torch.randn(2, 3, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: (x.exp() * x.abs()).sum(1), x, check_fwd_over_rev=True)


def test_operators_that_check_their_arguments_themselves():
    x, target = torch.randn(3, 4), torch.tensor([0, 3, 1])
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.ones(3, 4))
        for f in (torch.nn.functional.nll_loss, torch.nn.functional.cross_entropy):
            tangent = fwAD.unpack_dual(f(d, target)).tangent
            wanted = torch.autograd.functional.jvp(lambda x, f=f: f(x, target), x, torch.ones(3, 4))[1]
            torch.testing.assert_close(tangent, wanted)
