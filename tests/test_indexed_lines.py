"""Vectors that are indexed many times, against loops of Python: they go another way than slices of several elements."""

import math

import pytest

import torchjit as torch

TYPES = ["float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bfloat16"]
AT = [3, 0, 3, 5, 1, 3]
VALUES = [2, 9, 2, 3, 1, 3]


def combined(start, how):
    found = list(start)
    for at, value in zip(AT, VALUES, strict=True):
        found[at] = how(found[at], value)
    return found


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("step", [1, 2])
def test_index_operators(dtype, step):
    start = [1, 2, 3, 4, 5, 6]
    x = torch.zeros(6 * step, dtype=getattr(torch, dtype))[::step]
    x.copy_(torch.tensor(start))
    at, values = torch.tensor(AT), torch.tensor(VALUES, dtype=x.dtype)
    assert torch.index_add(x, 0, at, values).tolist() == combined(start, lambda a, b: a + b)
    assert torch.index_copy(x, 0, at, values).tolist() == combined(start, lambda a, b: b)
    assert torch.index_fill(x, 0, torch.tensor([-1, 3]), 8).tolist() == [1, 2, 3, 8, 5, 8]
    for reduce, how in [("sum", lambda a, b: a + b), ("prod", lambda a, b: a * b), ("amax", max), ("amin", min)]:
        assert x.scatter_reduce(0, at, values, reduce).tolist() == combined(start, how)
        rows = x.expand(2, 6).contiguous().scatter_reduce(1, at.expand(2, 6), values.expand(2, 6), reduce)
        assert rows.tolist() == [combined(start, how)] * 2
    with pytest.raises(IndexError):
        torch.index_copy(x, 0, torch.tensor([6]), values[:1])


def test_extremes_keep_what_is_no_number():
    x = torch.tensor([1.0, math.nan]).scatter_reduce(0, torch.tensor([0, 1]), torch.tensor([math.nan, 2.0]), "amax")
    assert all(math.isnan(v) for v in x.tolist())


def test_neighbours_that_differ():
    x = torch.tensor([1.0, 1.0, math.nan, math.nan, -0.0, 0.0, 1.0])
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert inverse.tolist() == [0, 0, 1, 2, 3, 3, 4] and counts.tolist() == [2, 1, 1, 2, 1] and values[[0, 3, 4]].tolist() == [1, 0, 1]
    values, inverse, counts = torch.unique_consecutive(torch.empty(0), return_inverse=True, return_counts=True)
    assert values.numel() == inverse.numel() == counts.numel() == 0


def test_weights_of_counts():
    assert torch.bincount(torch.tensor([2, 0, 2]), torch.tensor([0.5, 1.0, 0.25]), 4).tolist() == [1, 0, 0.75, 0]
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.bincount(torch.tensor([2, -1]), torch.tensor([0.5, 1.0]))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_slopes_of_a_parabola(order, n):
    if n <= order:
        return
    at = torch.tensor([0.0, 1.0, 3.0, 4.0, 7.0, 7.5, 9.0], dtype=torch.float64)[:n]
    x = torch.stack([at**2, 3 * at**2])
    (slopes,) = torch.gradient(x, spacing=(at,), dim=1, edge_order=order)
    inside = slice(None) if order == 2 else slice(1, -1)
    assert torch.allclose(slopes[:, inside], torch.stack([2 * at, 6 * at])[:, inside])
    assert torch.equal(torch.gradient(x.t(), spacing=(at,), dim=0, edge_order=order)[0], slopes.t())


def test_slopes_between_even_places_do_not_read_the_middle():
    x = torch.tensor([1.0, 2, math.inf, 7, 100, 3])
    assert torch.gradient(x)[0].tolist() == [1, math.inf, 2.5, -math.inf, -2, -97]
    assert torch.gradient(x, spacing=0.5)[0].tolist() == [2, math.inf, 5, -math.inf, -4, -194]
    rows = torch.stack([x, 2 * x], 1)
    assert torch.equal(torch.gradient(rows, dim=0)[0], torch.stack([torch.gradient(x)[0], 2 * torch.gradient(x)[0]], 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_products_of_sparse_matrices(dtype):
    places = torch.tensor([[0, 2, 0, 2, 2], [1, 0, 1, 3, 0]])  # some twice
    values = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]).to(getattr(torch, dtype))
    a = torch.sparse_coo_tensor(places, values, (3, 4))
    b = torch.arange(8.0).reshape(4, 2).to(values.dtype)
    for x in (a, a.coalesce(), a.coalesce().to_sparse_csr()):
        assert torch.allclose(x @ b, a.to_dense() @ b) and torch.allclose(x @ b[:, 0], a.to_dense() @ b[:, 0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dots_of_small_floats(dtype):
    x, y = (torch.arange(5, 1005).remainder(n).to(getattr(torch, dtype)) / 16 for n in (7, 5))
    for a, b in ((x, y), (x[::2], y[::2]), (x[:0], y[:0])):
        exact = (a.double() * b.double()).sum()
        assert abs(torch.dot(a, b).double() - exact) <= exact / 128


def test_gradients_of_alignments_that_cannot_be():
    logs = torch.zeros(3, 2, 4, dtype=torch.float64).log_softmax(2).requires_grad_()
    loss = torch.nn.functional.ctc_loss(logs, torch.tensor([[1, 1], [2, 3]]), [2, 3], [2, 2], reduction="none")  # two equal labels take three steps
    (slopes,) = torch.autograd.grad(loss.sum(), logs)
    assert loss[0] == math.inf and slopes[:2, 0].isnan().all() and (slopes[2, 0] == 0).all() and slopes[:, 1].isfinite().all()
