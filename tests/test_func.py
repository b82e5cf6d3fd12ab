"""torch.func: the answers of tests/answers/func.txt are PyTorch 2.15's; what is here needs no recorded answer."""

import pytest

import torchjit as torch
from torchjit import nn
from torchjit.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)
from torchjit.nn import functional as F  # noqa: N812


def data(*size, seed=0.0):
    n = torch.Size(size).numel()
    return (torch.arange(n, dtype=torch.float64) * 0.37 + seed + 0.1).sin().reshape(size)


X, B, W = data(3, 4), data(3, 4, 4, seed=1.0), data(4, 4, seed=2.0)
LAYER = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double()
FUNCTIONS = {
    "elementwise": lambda a: (a.sin() * W + 2).clamp(-1, 2),
    "reductions": lambda a: a.sum() + a.mean(0) + a.std(1) + a.amax(-1),
    "products": lambda a: a @ W @ a.t(),
    "views": lambda a: a.t()[1:, ::2].unsqueeze(1).expand(3, 2, 2).reshape(-1),
    "written": lambda a: a.clone().mul_(2).add_(W)[0].fill_(3.0),
    "written view": lambda a: (lambda z: (z[0].mul_(3), z)[1])(a.clone()),
    "without a rule": lambda a: torch.linalg.qr(a + 3 * torch.eye(4, dtype=a.dtype))[1].abs(),
    "layers": lambda a: LAYER(a),
    "attention": lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]),
    "joined": lambda a: torch.cat([a, W]).softmax(0).sort(1).values,
    "indices": lambda a: a[torch.tensor([0, 2])].index_select(1, torch.tensor([3])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_is_a_stack(name):
    f = FUNCTIONS[name]
    assert torch.allclose(vmap(f)(B), torch.stack([f(b) for b in B]))
    assert torch.allclose(vmap(f, in_dims=2, out_dims=-1)(B.movedim(0, 2)), torch.stack([f(b) for b in B], -1))
    nested = vmap(vmap(f))(torch.stack([B, B + 1]))
    assert torch.allclose(nested[1], torch.stack([f(b + 1) for b in B]))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "written"])
def test_derivatives_agree(name):
    f = FUNCTIONS[name]
    a = B[0] + 0.05
    by_rows = torch.autograd.functional.jacobian(f, a)
    assert torch.allclose(jacrev(f)(a), by_rows) and torch.allclose(jacfwd(f)(a), by_rows)
    assert torch.allclose(jvp(f, (a,), (W,))[1], (by_rows * W).sum((-1, -2)))
    assert torch.allclose(linearize(f, a)[1](W), (by_rows * W).sum((-1, -2)))
    assert torch.allclose(vmap(jacrev(f))(B)[2], torch.autograd.functional.jacobian(f, B[2]))

    def loss(a):
        return f(a).sin().sum()

    assert torch.allclose(hessian(loss)(a), torch.autograd.functional.hessian(loss, a))
    per_sample = vmap(grad(loss))(B)
    assert torch.allclose(per_sample, torch.stack([grad(loss)(b) for b in B]))
    assert torch.allclose(grad(lambda t: vmap(loss)(t).sum())(B), per_sample)


def test_levels_do_not_meet():
    """PyTorch's rules of no_grad: inside it concerns the gradient around it and no other, outside it does not concern the gradient."""
    x = torch.tensor(2.0, dtype=torch.float64)

    def f(x):
        with torch.no_grad():
            c = x**2
        return x * c

    assert grad(f)(x) == 4 and grad(grad(f))(x) == 4
    with torch.no_grad():
        assert grad(lambda x: x**3)(x) == 12
        y = grad(lambda x: x**3)(x.clone().requires_grad_())
        assert not y.requires_grad
    w = x.clone().requires_grad_()
    y = grad(lambda x: x**3)(w)
    assert y.requires_grad
    y.backward()
    assert w.grad == 12
    assert not grad(lambda x: x**3)(x).requires_grad
    assert grad(lambda x: x * grad(lambda y: x + y)(1 * x))(x) == 1
    captured = x.clone().requires_grad_()
    grad(lambda y: y * captured)(x).backward()
    assert captured.grad == 1
    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        grad(lambda y: captured.detach().add_(y) + x.add_(y))(x)


class Cube(torch.autograd.Function):
    """With a derivative that is not its own, to see which is taken."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.n = inputs[1]

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * 10 * ctx.n * x ** (ctx.n - 1), None


class Exp(torch.autograd.Function):
    """Saves what it gives."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, n):
        return (n * x).exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.n = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.n * ctx.saved_tensors[0], None


def test_saved_results():
    def f(x):
        return Exp.apply(x, 2).sum()

    y = (2 * X).exp()
    assert torch.allclose(grad(f)(X), 2 * y) and torch.allclose(vmap(grad(f))(X), 2 * y)
    assert torch.allclose(grad(lambda x: grad(f)(x).sum())(X), 4 * y)
    assert torch.allclose(hessian(f)(X[0]), 4 * torch.diag(y[0])) and torch.allclose(vmap(hessian(f))(X)[1], 4 * torch.diag(y[1]))


class ByHand(Cube):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x, n):
        assert (info.batch_size, info.randomness, in_dims) == (3, "error", (0, None))
        return ByHand.apply(x, n), 0


@pytest.mark.parametrize("cls", [Cube, ByHand])
def test_own_functions(cls):
    def f(x):
        return cls.apply(x, 3).sum()

    w = X.clone().requires_grad_()
    f(w).backward()
    assert torch.allclose(w.grad, 30 * X**2)
    assert torch.allclose(grad(f)(X), 30 * X**2) and torch.allclose(vmap(f)(X), (X**3).sum(1))
    assert torch.allclose(vmap(grad(f))(X), 30 * X**2)
    assert torch.allclose(grad(lambda x: vmap(f)(x).sum())(X), 30 * X**2)
    assert torch.allclose(grad(lambda x: grad(f)(x).sum())(X), 60 * X)


def test_ensembles():
    models = [nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).double() for _ in range(3)]
    params, buffers = stack_module_state(models)

    def call(params, buffers, x):
        return functional_call(models[0], (params, buffers), (x,))

    assert torch.allclose(vmap(call, in_dims=(0, 0, None))(params, buffers, X), torch.stack([m(X) for m in models]))

    def loss(params, x):
        return call(params, {}, x).sum()

    each = vmap(grad(loss), in_dims=(None, 0))(dict(models[0].named_parameters()), X)
    for i, x in enumerate(X):
        models[0].zero_grad()
        models[0](x).sum().backward()
        for name, p in models[0].named_parameters():
            assert torch.allclose(each[name][i], p.grad)
    value = grad_and_value(loss)({name: p.detach() for name, p in models[0].named_parameters()}, X[0])[1]
    assert torch.allclose(value, models[0](X[0]).sum()) and not value.requires_grad


def test_randomness():
    x = torch.ones(4, 1000)
    for draw in (lambda x: torch.rand(1000), lambda x: torch.rand_like(x), lambda x: F.dropout(x), lambda x: x.clone().normal_()):
        with pytest.raises(RuntimeError, match="randomness error mode"):
            vmap(draw)(x)
        same, different = vmap(draw, randomness="same")(x), vmap(draw, randomness="different")(x)
        assert torch.equal(same[0], same[3]) and not torch.equal(different[0], different[1])
        chunks = vmap(draw, randomness="same", chunk_size=3)(x)
        assert torch.equal(chunks[0], chunks[3])
    with pytest.raises(RuntimeError, match="randomness error mode"):
        jacfwd(F.dropout)(x[0, :3])
    assert jacfwd(F.dropout, randomness="same")(x[0, :3]).shape == (3, 3)


def test_a_tensor_gets_out():
    seen = []
    vmap(lambda x: (seen.append(x), x)[1])(X)
    with pytest.raises(RuntimeError, match="used after the call"):
        seen[0] + 1
    y, pull = vjp(lambda x: (seen.append(x), x.sin())[1], X)
    assert torch.allclose(seen[1] + 1, X + 1)
    assert torch.allclose(vmap(pull)(torch.stack([y, X]))[0][1], X * X.cos())


def test_no_samples():
    f = vmap(FUNCTIONS["without a rule"])
    assert f(B[:0]).shape == (0, 4, 4) and vmap(torch.sin)(X[:0]).shape == (0, 4)


def test_the_log_tells_what_is_called_for_each_sample(caplog):
    x = torch.rand(3, 4)
    with caplog.at_level("INFO", logger="torchjit.func"):
        torch.vmap(torch.sin)(x)
        assert caplog.messages == []
        torch.vmap(lambda a: torch.linalg.inv(a))(x[:, :3].reshape(1, 3, 3) + torch.eye(3))
    assert caplog.messages == ["vmap calls aten::linalg_inv once for each of 1 samples"]
