"""Gradients of a weight that is used at every step of a loop, whose products are multiplied together."""

import pytest

import torchjit as torch
import torchjit.nn.functional as F


def steps(weight, inputs, state):
    for x in inputs:
        state = torch.tanh(F.linear(state, weight) + x)
    return state


def case(dtype=torch.float64, count=40, rows=2, size=8):
    torch.manual_seed(3)
    weight = torch.randn(size, size, dtype=dtype).requires_grad_()
    return weight, torch.randn(count, rows, size, dtype=dtype), torch.randn(rows, size, dtype=dtype)


def alone(weight):
    """The weight as a value that is no leaf: the products for it are multiplied one by one."""
    return weight * 1


@pytest.mark.parametrize("count", [1, 2, 40])
def test_the_gradient_is_the_sum_over_the_steps(count):
    weight, inputs, state = case(count=count)
    (want,) = torch.autograd.grad(steps(alone(weight), inputs, state).sum(), weight)
    (got,) = torch.autograd.grad(steps(weight, inputs, state).sum(), weight)
    assert torch.allclose(got, want, rtol=1e-12, atol=1e-12)
    steps(weight, inputs, state).sum().backward()
    assert torch.equal(weight.grad, got)
    steps(weight, inputs, state).sum().backward()  # added to the first
    assert torch.allclose(weight.grad, 2 * want, rtol=1e-12, atol=1e-12)


def test_other_uses_of_the_weight_are_added():
    weight, inputs, state = case()
    (want,) = torch.autograd.grad(steps(alone(weight), inputs, state).sum() + (weight**3).sum(), weight)
    (got,) = torch.autograd.grad(steps(weight, inputs, state).sum() + (weight**3).sum(), weight)
    assert torch.allclose(got, want, rtol=1e-12, atol=1e-12)


def test_a_hook_of_the_weight_sees_the_whole_gradient_once():
    weight, inputs, state = case()
    (want,) = torch.autograd.grad(steps(alone(weight), inputs, state).sum(), weight)
    seen = []
    weight.register_hook(seen.append)
    steps(weight, inputs, state).sum().backward()
    assert len(seen) == 1 and torch.allclose(seen[0], want, rtol=1e-12, atol=1e-12)


def test_a_hook_may_write_what_a_product_has_to_read():
    weight, inputs, state = case()

    def gradient(w):
        middle = F.linear(state.clone().requires_grad_(), w) + inputs[0]

        def clear(grad):  # behind the second step, whose gradient reads it
            middle.detach().zero_()

        middle.register_hook(clear)
        return torch.autograd.grad(torch.tanh(F.linear(middle, w) + inputs[1]).sum(), weight)[0]

    assert torch.allclose(gradient(weight), gradient(alone(weight)), rtol=1e-12, atol=1e-12)


def test_second_derivatives():
    weight, inputs, state = case(count=3, size=4)
    assert torch.autograd.gradgradcheck(lambda w: steps(w, inputs, state), (weight,))


def test_a_graph_that_is_kept_gives_the_same_bits_again():
    weight, inputs, state = case(dtype=torch.float32)
    loss = steps(weight, inputs, state).sum()
    first = torch.autograd.grad(loss, weight, retain_graph=True)[0].clone()
    assert torch.equal(torch.autograd.grad(loss, weight)[0], first)
