"""Products of reflections: householder_product, orgqr, ormqr."""

import pytest

import torchjit as torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("shape", [(3, 2), (40, 40), (2, 70, 35), (4, 4), (0, 3, 2), (3, 0)])
def test_reflections(dtype, shape):
    torch.manual_seed(1)
    a = torch.randn(*shape, dtype=dtype)
    packed, tau = torch.geqrf(a)
    q, r = torch.linalg.qr(a, "complete")
    close = 1e-4 if dtype in (torch.float32, torch.complex64) else 1e-11
    assert torch.allclose(torch.linalg.householder_product(packed, tau), q[..., : shape[-1]], atol=close)
    assert torch.allclose(torch.orgqr(packed, tau), q[..., : shape[-1]], atol=close)
    other = torch.randn(*shape[:-1], 5, dtype=dtype)
    assert torch.allclose(torch.ormqr(packed, tau, other), q @ other, atol=close)
    assert torch.allclose(torch.ormqr(packed, tau, other, True, True), q.mH @ other, atol=close)
    assert torch.allclose(torch.ormqr(packed, tau, other.mT, False), other.mT @ q, atol=close)
    assert torch.allclose(torch.ormqr(packed, tau, other.mT, False, True), other.mT @ q.mH, atol=close)
    few = torch.linalg.householder_product(packed, tau[..., :1])
    assert torch.allclose(few.mH @ few, torch.eye(shape[-1], dtype=dtype).expand(few.mH.shape[:-1] + (shape[-1],)), atol=close)


def test_gradients_of_reflections():
    torch.manual_seed(1)
    packed, tau = (t.requires_grad_() for t in torch.geqrf(torch.randn(4, 3, dtype=torch.float64)))
    other = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p, t: torch.linalg.householder_product(p.tril(-1), t), (packed, tau))
    assert torch.autograd.gradcheck(lambda p, t, o: torch.ormqr(p, t, o, True, True), (packed, tau, other))


def test_reflections_that_do_not_fit():
    ones = torch.ones
    for match, call in {
        "must be greater than or equal to input.shape": lambda: torch.linalg.householder_product(ones(2, 3), ones(2)),
        "must be greater than or equal to tau.shape": lambda: torch.linalg.householder_product(ones(3, 2), ones(3)),
        "one dimension less than input, but got tau.ndim equal to 2": lambda: torch.linalg.householder_product(ones(3, 2), ones(2, 2)),
        "tau dtype Double does not match": lambda: torch.linalg.householder_product(ones(3, 2), ones(2).double()),
        r"other.shape\[-1\] must be equal to input.shape\[-2\]": lambda: torch.ormqr(ones(3, 2), ones(2), ones(1, 4), False),
        '"ormqr_cpu" not implemented for': lambda: torch.ormqr(ones(3, 2).int(), ones(2).int(), ones(3, 4).int()),
    }.items():
        with pytest.raises(RuntimeError, match=match):
            call()
