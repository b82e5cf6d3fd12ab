"""Views of conjugates and of negatives: they share memory with what they show, as in PyTorch, whose answers these are."""

import io
import pathlib

import pytest

import torchjit as torch

DATA = pathlib.Path(__file__).parent / "data"


def numbers(**options):
    return torch.tensor([[1 + 2j, 3 - 1j], [0.5j, 2]], **options)


def test_a_conjugate_is_a_view():
    x = numbers()
    c = x.conj()
    assert c.is_conj() and c.data_ptr() == x.data_ptr() and c.tolist() == [[1 - 2j, 3 + 1j], [-0.5j, 2]]
    c.mul_(2j)  # 2j * (1-2j) = 4+2j, of which the conjugate is stored
    assert x.tolist() == [[4 - 2j, -2 - 6j], [1, -4j]] and c._version == x._version == 1
    x[0, 0] = 7j
    assert c[0, 0].item() == -7j


@pytest.mark.parametrize(
    "write",
    [
        lambda c: c.fill_(1j), lambda c: c.copy_(torch.full((2, 2), 1j)), lambda c: c.zero_().add_(1j), lambda c: torch.full((2, 2), 1j, out=c),
        lambda c: c.__setitem__(slice(None), 1j), lambda c: (c.real.zero_(), c.imag.fill_(1)),
    ],
)  # fmt: skip
def test_every_way_to_write_reaches_the_memory(write):
    x = numbers()
    write(x.conj())
    assert x.tolist() == [[-1j, -1j], [-1j, -1j]]


def test_views_of_conjugates_are_views_of_them_and_results_are_not():
    c = numbers().conj()
    views = [c.t(), c[0], c[:, 1:], c.view(4), c.reshape(4), c.expand(2, 2, 2), c.detach(), c.contiguous(), c.to(torch.complex64), *c.unbind(), *c.split(1), c.T, torch.atleast_2d(c)]
    assert all(v.is_conj() for v in views)
    assert not any(v.is_conj() for v in [c.conj(), c.mH, c.clone(), c + 1, c.t().contiguous(), c.t().reshape(4), c.to(torch.complex128), torch.cat([c, c]), torch.zeros_like(c), c.resolve_conj(), c.real])
    assert c.t().stride() == (1, 2) and c[1].storage_offset() == 2 and not c.t().is_contiguous()
    assert numbers().mH.is_conj() and numbers().adjoint().is_conj() and not numbers().conj_physical().is_conj()
    assert torch.equal(c, numbers().conj_physical()) and torch.allclose(c @ c, (numbers() @ numbers()).conj_physical())


def test_the_imaginary_part_of_conjugates_is_a_view_of_negatives():
    x = numbers()
    i = x.conj().imag
    assert i.is_neg() and not i.is_conj() and i.tolist() == [[-2, 1], [-0.5, 0]]
    i.add_(1)
    assert x.imag.tolist() == [[1, -2], [-0.5, -1]]
    y = torch.tensor([1.0, -2.0])
    n = torch._neg_view(y)
    n[0] = 5
    assert y.tolist() == [-5, -2] and n.resolve_neg().tolist() == [5, 2] and not n.resolve_neg().is_neg()


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.int8, torch.float16, torch.bfloat16, torch.float64, torch.complex128])
def test_negatives_of_every_type(dtype):
    x = torch.tensor([1, 2], dtype=dtype)
    n = torch._neg_view(x)
    assert torch.equal(n, torch.neg(x)) and torch.equal(n + 1, torch.neg(x) + 1)
    n.fill_(3)
    assert torch.equal(x, torch.neg(torch.full_like(x, 3)))
    with pytest.raises(RuntimeError, match="not implemented for 'Bool'"):
        torch._neg_view(torch.tensor([True]))


def test_memory_is_not_shown_to_those_who_know_no_bits():
    c = numbers().conj()
    with pytest.raises(RuntimeError, match="conjugate bit set"):
        c.numpy()
    with pytest.raises(RuntimeError, match="negative bit set"):
        c.imag.numpy()
    with pytest.raises(RuntimeError, match="unresolved conjugated tensors"):
        torch.view_as_real(c)
    with pytest.raises(RuntimeError, match="view is not supported for conjugate view tensors when converting to a different dtype"):
        c.view(torch.float32)
    with pytest.raises(RuntimeError, match="view is not supported for tensors with negative bit set"):
        c.imag.view(torch.int32)
    with pytest.raises(NotImplementedError, match="resolve_conj"):
        c.resize_(3)
    assert c.numpy(force=True).tolist() == c.resolve_conj().numpy().tolist() == c.tolist()
    assert repr(c) == repr(c.clone())


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda w: (w.conj().mul_(2j), w)[1], [10 + 20j, 30 - 10j, 5j]),
        (lambda w: w.conj().mul_(2j) * w, [500 + 1000j, 3000 - 1000j, 12.5j]),
        (lambda w: (w.real.mul_(3), w)[1], [2.5 + 5j, 63.5 - 30.5j, -4 + 3.25j]),
        (lambda w: (w.imag.mul_(3), w.conj().imag.add_(2), w)[2], [16.5 + 33j, 5.5 - 6.5j, -2 - 2.75j]),
        (lambda w: w.conj().real * w.conj().imag, [0, 7.875 + 11.375j, -0.09375 + 0.125j]),
    ],
)  # fmt: skip
def test_gradients_go_through_what_is_written_to_a_view(f, expected):
    z = torch.tensor([1 + 2j, 3 - 1j, 0.5j], requires_grad=True)
    r = f(z * (1 + 0.5j))
    ((r * r.conj()).real if r.is_complex() else r * r).sum().backward()
    assert torch.allclose(z.grad, torch.tensor(expected, dtype=torch.complex64))


def test_a_write_to_a_view_is_noticed_by_backward():
    w = torch.tensor([1 + 2j], requires_grad=True) * 1
    y = w * w
    w.conj().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.abs().sum().backward()


def test_programs_take_and_make_conjugate_views():
    @torch.jit.script
    def write(x):
        c = x.conj()
        c.mul_(2.0)
        return c

    x = torch.tensor([1 + 2j])
    assert write(x).tolist() == [2 - 4j] and x.tolist() == [2 + 4j] and write(x.conj()).tolist() == [4 + 8j]
    traced = torch.jit.trace(lambda a: a * a + 1, x)
    assert traced(x.conj()).tolist() == [(4 - 8j) * (4 - 8j) + 1]


def test_files_hold_the_numbers_that_are_shown():
    c = numbers().conj()
    file = io.BytesIO()
    torch.save({"c": c, "i": c.imag}, file)
    loaded = torch.load(io.BytesIO(file.getvalue()))
    assert torch.equal(loaded["c"], c) and torch.equal(loaded["i"], c.imag)
    loaded = torch.load(DATA / "torch2_conjugate.pt")  # PyTorch 2 writes the memory and the bit
    assert loaded["a"].tolist() == [1 - 2j, 3 + 1j] and loaded["x"].tolist() == [1 + 2j, 3 - 1j]
    assert loaded["a"].is_conj() and loaded["a"].data_ptr() == loaded["x"].data_ptr()
    assert torch.load(DATA / "torch2_negative.pt")["n"].tolist() == [-2, 1]
