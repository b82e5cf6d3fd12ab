"""torch.autograd.functional: what it says of functions and vectors that it cannot take. That its results are right is in test_autograd_function.py."""

import pytest

import torchjit as torch
from torchjit.autograd import functional as F

X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


@pytest.mark.parametrize(
    ("call", "message"),
    {
        "F.vjp(lambda a: a**2, X, torch.ones(3))": "v has invalid size: should be torch.Size\\(\\[2\\]\\) but got torch.Size\\(\\[3\\]\\)",
        "F.jvp(lambda a, b: a * b, (X, Y), (X,))": "v is a tuple of invalid length: should be 2 but got 1",
        "F.jvp(lambda a, b: a * b, (X, Y), (X, torch.ones(3)))": "Entry 1 in v has invalid size",
        "F.vjp(lambda a: a**2, X)": "v can only be None if the user-provided function returns a single Tensor with a single element",
        "F.vhp(lambda a: a.sum(), X)": "v can only be None if the input to the user-provided function is a single Tensor with a single element",
        "F.vjp(lambda a: a, (X, 5))": "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the value at index 1 has type",
        "F.hessian(lambda a: a, X)": "The Tensor returned by the function given to hessian should contain a single element",
        "F.hessian(lambda a: (a.sum(),), X)": "The function given to hessian should return a single Tensor",
        "F.jacobian(lambda a: torch.ones(2), X, strict=True)": "Output 0 of the user-provided function does not require gradients",
        "F.jacobian(lambda a, b: a * 2, (X, Y), strict=True)": "Output 0 of the user-provided function is independent of input 1",
        "F.vjp(lambda a, b: a * 2, (X, Y), X, strict=True)": "The output of the user-provided function is independent of input 1",
        "F.vjp(lambda a: a * 2, X, X, strict=True, create_graph=True)": "The jacobian of the user-provided function is independent of input 0",
        "F.hessian(lambda a: a.sum(), X, strict=True)": "found that the jacobian of the user-provided function with respect to input 0 is independent of the input",
        "F.hvp(lambda a: a.sum(), X, X, strict=True)": "found that the jacobian of the user-provided function with respect to input 0",
    }.items(),
)
def test_errors(call, message):
    with pytest.raises((RuntimeError, TypeError), match=message):
        eval(call)


def test_what_does_not_depend_gives_zeros():
    assert F.hvp(lambda a: a.sum(), X, X)[1].tolist() == [0, 0] and F.hessian(lambda a: torch.ones(()), X).tolist() == [[0, 0]] * 2
