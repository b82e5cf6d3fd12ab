"""Derivatives written in Python, hooks, functional derivatives and checkpoints. Values are PyTorch 1.13.1's."""

import gc
import weakref

import pytest

import torchjit as torch
from torchjit.autograd import Function, functional
from torchjit.utils.checkpoint import checkpoint, checkpoint_sequential


class Cube(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        ctx.save_for_backward(x)
        return k * x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * ctx.k * x**2, None


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def test_a_function_has_its_own_derivative():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = Cube.apply(x, 2.0)
    assert y.grad_fn.name() == "CubeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 24.0, 54.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_second_derivatives_go_through_saved_results():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Cube.apply, (x, 2.0))
    assert torch.autograd.gradgradcheck(Exp.apply, (x,))


def test_a_call_that_is_forgotten_is_freed():
    x = torch.ones(3, requires_grad=True)
    y = Exp.apply(x)
    there = weakref.ref(y)
    y.sum().backward()
    del y
    gc.collect()
    assert there() is None


def test_written_arguments_and_results_without_gradient():
    class Increment(Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            index = x.argmax()
            ctx.mark_non_differentiable(index)
            return x, index

        @staticmethod
        def backward(ctx, g, g_index):
            return g * 10

    a = torch.ones(2, requires_grad=True)
    z = a * 2
    w, index = Increment.apply(z)
    assert w is z and not index.requires_grad
    w.sum().backward()
    assert a.grad.tolist() == [20.0, 20.0]


def test_missing_gradients_are_zeros_unless_declined():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, a, decline):
            ctx.set_materialize_grads(not decline)
            return a + 1, a * 2

        @staticmethod
        def backward(ctx, g1, g2):
            seen.append(g2)
            return g1, None

    a = torch.ones(2, requires_grad=True)
    for decline in (False, True):
        Two.apply(a, decline)[0].sum().backward()
    assert seen[0].tolist() == [0.0, 0.0] and seen[1] is None


@pytest.mark.parametrize(
    "result, message",
    [
        (lambda g: (g, g), "function BadBackward returned an incorrect number of gradients (expected 1, got 2)"),
        (lambda g: g.new_ones(5), "Function BadBackward returned an invalid gradient at index 0 - got [5] but expected shape compatible with [2]"),
        (lambda g: 1.0, "expected Variable or None (got float)"),
    ],
)
def test_wrong_gradients(result, message):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return result(g)

    with pytest.raises((RuntimeError, TypeError)) as e:
        Bad.apply(torch.ones(2, requires_grad=True)).sum().backward()
    assert str(e.value) == message


def test_hooks():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    handle = x.register_hook(lambda g: g * 2)
    u = x * 3
    u.retain_grad()
    seen = []
    u.register_hook(lambda g: seen.append(g.tolist()))
    (u * u).sum().backward()
    assert x.grad.tolist() == [36.0, 72.0] and u.grad.tolist() == [6.0, 12.0] and seen == [[6.0, 12.0]]
    assert u.retains_grad and not x.retains_grad
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(print)


def test_an_error_in_a_hook_reaches_the_caller():
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda g: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).backward()


def test_functional():
    x = torch.arange(4.0).view(2, 2)
    cubes = lambda x: (x**3).sum(1)  # noqa: E731
    total = lambda x: (x**3).sum()  # noqa: E731
    ones = torch.ones(2, 2)
    assert functional.jacobian(cubes, x).tolist() == [[[0.0, 3.0], [0.0, 0.0]], [[0.0, 0.0], [12.0, 27.0]]]
    assert functional.hessian(total, x)[1, 1].tolist() == [[0.0, 0.0], [0.0, 18.0]]
    assert functional.vjp(cubes, x, torch.ones(2))[1].tolist() == [[0.0, 3.0], [12.0, 27.0]]
    assert functional.jvp(cubes, x, ones)[1].tolist() == [3.0, 39.0]
    assert functional.hvp(total, x, ones)[1].tolist() == functional.vhp(total, x, ones)[1].tolist() == [[0.0, 6.0], [12.0, 18.0]]
    y = torch.ones(1, requires_grad=True)
    rows = torch.autograd.grad(y * torch.ones(3), y, torch.eye(3), is_grads_batched=True)
    assert rows[0].tolist() == [[1.0], [1.0], [1.0]]


def test_checkpoints_draw_the_same_numbers_again():
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
    grads = []
    for run in (layers, lambda x: checkpoint(layers, x), lambda x: checkpoint_sequential(layers, 2, x)):
        x = torch.ones(2, 2, requires_grad=True)
        torch.manual_seed(5)
        layers.zero_grad()
        run(x).sum().backward()
        grads.append((x.grad.tolist(), layers[0].weight.grad.tolist()))
    assert grads[0] == grads[1] == grads[2]


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")
def test_nan_is_found_where_it_arises():
    with torch.autograd.detect_anomaly():
        x = torch.zeros(1, requires_grad=True)
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output."):
            (x.sqrt() * 0).backward()


def test_the_graph_can_be_walked():
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    multiply = y.grad_fn.next_functions[0][0]
    assert multiply.name() == "MulBackward0"
    leaf = multiply.next_functions[0][0]
    assert leaf.name() == "torch::autograd::AccumulateGrad" and leaf.variable is x and x.grad_fn is None


def test_states_of_random_numbers():
    torch.manual_seed(3)
    torch.randn(3)
    state = torch.get_rng_state()
    assert state.shape == (5056,) and state.dtype == torch.uint8 and state[8:12].tolist() == [105, 2, 0, 0]  # 617 words are left
    first = torch.randn(20)
    torch.set_rng_state(state)
    assert torch.equal(first, torch.randn(20))
    with torch.random.fork_rng():
        inside = torch.rand(2)
    assert torch.equal(inside, torch.rand(2))
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        torch.set_rng_state(state[:10])
