"""Functions of torch that take their tensors one by one or as a list. The answers are PyTorch's."""

import warnings

import pytest

import torchjit as torch

A = torch.arange(1.0, 7).reshape(2, 3)
V = torch.arange(3.0)


def shapes(tensors):
    return [tuple(t.shape) for t in tensors]


def test_one_by_one_or_as_a_list():
    assert torch.einsum("ij,kj->ik", A, A).tolist() == [[14.0, 32.0], [32.0, 77.0]]
    assert torch.einsum("ij->j", [A]).tolist() == [5.0, 7.0, 9.0]
    assert shapes(torch.broadcast_tensors(V[:, None], V)) == [(3, 3), (3, 3)]
    assert shapes(torch.meshgrid(V, A[0, :2], indexing="ij")) == [(3, 2), (3, 2)]
    assert shapes(torch.meshgrid([V, A[0, :2]], indexing="xy")) == [(2, 3), (2, 3)]
    assert torch.atleast_1d(torch.tensor(2.0)).tolist() == [2.0]
    assert shapes(torch.atleast_2d(torch.tensor(2.0), V)) == [(1, 1), (1, 3)]
    assert shapes(torch.atleast_3d([V])) == [(1, 3, 1)]
    assert torch.cartesian_prod(V, A[0, :1]).tolist() == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    assert torch.block_diag(A, torch.tensor(9.0)).tolist() == [[1, 2, 3, 0], [4, 5, 6, 0], [0, 0, 0, 9]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        assert torch.chain_matmul(A, A.T, A).shape == (2, 3)


def test_tensordot():
    assert torch.tensordot(A, A.T, dims=1).tolist() == torch.mm(A, A.T).tolist()
    assert torch.tensordot(A, A, dims=([0], [0])).tolist() == torch.mm(A.T, A).tolist()
    with pytest.raises(IndexError):
        torch.tensordot(A, A, 3)
    with pytest.raises(RuntimeError, match="dims >= 0"):
        torch.tensordot(A, A, -1)


def test_norm():
    assert A.norm().item() == pytest.approx(91**0.5)
    assert torch.norm(A, dim=1).tolist() == pytest.approx([14**0.5, 77**0.5])
    assert torch.norm(A, p=1, dim=(0, 1)).item() == 21
    assert A.norm(2, 0, True).shape == (1, 3)
    with pytest.raises(RuntimeError, match="only valid string values"):
        torch.norm(A, "x")
    with pytest.raises(RuntimeError, match="floating point or complex"):
        torch.norm(torch.ones(2, dtype=torch.int64))


def test_lists_of_tensors_are_tuples_in_python():
    assert isinstance(A.split(1), tuple) and isinstance(torch.unbind(A), tuple)


def test_broadcast_shapes():
    assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert torch.broadcast_shapes(2, (3, 1)) == (3, 2)
    with pytest.raises(RuntimeError, match="cannot be broadcast"):
        torch.broadcast_shapes((2,), (3,))


def test_dot_of_complex_vectors():
    a, b = torch.tensor([1 + 2j, 3 - 1j, 0.5j]), torch.tensor([2 - 1j, 1j, 4 + 0j])
    assert torch.dot(a, b) == (a * b).sum() and torch.vdot(a[::2], b[::2]) == -7j  # (1 - 2j) * (2 - 1j) - 0.5j * 4
    assert torch.dot(a[:0], b[:0]) == 0


def test_they_are_operators_in_programs():
    def f(x, y):
        return torch.einsum("ij,kj->ik", [x, y]), torch.norm(x)

    compiled = torch.jit.script(f)
    assert "aten::einsum" in str(compiled.graph)
    assert compiled(A, A)[0].tolist() == [[14.0, 32.0], [32.0, 77.0]]


def test_there_is_no_cuda():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0


def test_arguments_in_the_order_of_old_programs():
    """The answers are PyTorch's."""
    m, v, b = torch.arange(4.0).reshape(2, 2), torch.arange(2.0), torch.arange(4.0).reshape(1, 2, 2)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning) as told:
            assert m.clone().add_(2, m).tolist() == torch.add(m, 2, other=m).tolist() == (3 * m).tolist()
            assert m.sub(2, m).tolist() == (-m).tolist()
            assert m.addcmul(2, m, m).tolist() == torch.addcmul(m, 2, m, m).tolist() == [[0, 3], [10, 21]]
            assert m.clone().addcdiv_(2, m, m + 1)[0].tolist() == [0, 2]
            assert torch.addmm(2, m, 3, m, m).tolist() == m.addmm(2, 3, m, m).tolist() == [[6, 11], [22, 39]]
            assert torch.addmm(2, m, m, m).tolist() == m.clone().addmm_(2, m, m).tolist() == [[2, 5], [10, 17]]
            assert torch.addmv(2, v, 3, m, v).tolist() == [3, 11]
            assert v.clone().addmv_(2, m, v).tolist() == [1, 5]
            assert m.addr(2, 3, v, v).tolist() == [[0, 2], [4, 9]]
            assert b.baddbmm(2, 3, b, b).tolist() == torch.addbmm(2, m, 3, b, b)[None].tolist() == [[[6, 11], [22, 39]]]
    finally:
        torch.set_warn_always(False)
    assert str(told[0].message) == (
        "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\nConsider using one of the following signatures instead:\n"
        "\tadd_(Tensor other, *, Number alpha)"
    )
    assert any("\n\taddmm(Number beta, Tensor input, Number alpha, Tensor mat1, Tensor mat2, *, Tensor out)\n" in str(w.message) for w in told)
    with pytest.raises(TypeError, match="add"):
        torch.add(2, m, m)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int16, torch.bool])
def test_places_of_bags_are_integers(dtype):
    weight, whole = torch.ones(4, 2), torch.tensor([0, 1])
    for indices, offsets in ((whole.to(dtype), whole), (whole, whole.to(dtype))):
        with pytest.raises(RuntimeError, match=r"argument #1 'indices' to have one of the following scalar types: Long, Int; .*arguments for embedding_bag\)"):
            torch.nn.functional.embedding_bag(indices, weight, offsets)
