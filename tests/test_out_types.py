"""The element types that tensors of out= may have: those of PyTorch, by its kinds of operators."""

import pytest

import torchjit as torch
from torchjit.nn import functional as F

ops = torch.ops.aten
A = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def out(dtype):
    return torch.empty(0, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: torch.mm(A, A, out=out(torch.float64)), "Expected out tensor to have dtype float, but got double instead"),
        (lambda: torch.argmax(A, out=out(torch.int32)), "Expected out tensor to have dtype long int, but got int instead"),
        (lambda: torch.linalg.inv(A, out=out(torch.complex64)), "Expected out tensor to have dtype float, but got c10::complex<float> instead"),
        (lambda: torch.neg(A, out=out(torch.float64)), "Found dtype Double but expected Float"),
        (lambda: torch.floor(A, out=torch.empty(2, 2, dtype=torch.complex64)), "Found dtype ComplexFloat but expected Float"),
        (lambda: torch.diag(A, out=out(torch.float64)), "expected scalar type Float but found Double"),
    ],
)
def test_the_type_of_the_result_is_wanted(call, message):
    with pytest.raises(RuntimeError, match=message.replace("<", ".").replace(">", ".")):
        call()


def test_results_are_converted_where_they_can_be():
    assert torch.add(A, A, out=out(torch.float64)).dtype is torch.float64
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.add(A, A, out=out(torch.int64))


def test_copied_results_are_converted_whatever_that_loses():
    assert ops.roll.out(A + 0.5, [1], [0], out=out(torch.int64)).tolist() == [[3, 5], [1, 2]]
    assert ops.celu.out(A, out=out(torch.bool)).tolist() == [[True, True], [True, True]]
    assert ops.pixel_shuffle.out(torch.full((1, 4, 1, 1), 2.5), 2, out=out(torch.uint8)).tolist() == [[[[2, 2], [2, 2]]]]


def test_results_are_written_into_place():
    place = torch.zeros(2, 2)
    assert torch.neg(A, out=place) is place and place.tolist() == [[-1, -2], [-3, -5]]
    assert torch.mm(A, A, out=place) is place and torch.equal(place, A @ A)
    assert F.gelu(A).dtype is torch.float32
