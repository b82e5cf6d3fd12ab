"""Gradients by and through complex numbers: against finite differences, first and second order.

Each line is a call; x, y are complex128 tensors (2, 3), v one of 3, m a regular complex 3x3 matrix, r real (2, 3), w a real one of 16.
"""

import pytest

import torchjit as torch
from torchjit.autograd import gradcheck, gradgradcheck

CALLS = """
exp(x) | log(x) | sqrt(x) | rsqrt(x) | sin(x) | cos(x) | tan(x) | asin(x) | acos(x) | atan(x) | sinh(x) | cosh(x) | tanh(x) | asinh(x) | acosh(x) | atanh(x)
log2(x) | log10(x) | reciprocal(x) | square(x) | sigmoid(x) | sinc(x) | abs(x) | angle(x) | sgn(x) | conj(x) | real(x) | imag(x) | view_as_real(x)
view_as_complex(r.view(3, 2)) | complex(r, r * 2) | polar(r.abs() + 1, r) | x + r | sub(x, y, alpha=2) | add(x, y, alpha=2j) | x * r | r / x | x / y | x**y | x**2.5 | x**(1 + 2j)
(1 + 2j) ** x | x * (2 - 1j) | lerp(x, y, 0.3) | addcmul(x, y, x, value=2) | addcdiv(x, y, x) | where(torch.tensor([True, False, True]), x, y) | abs(x) ** 2
sum(x, 1) | mean(x) | prod(x, 1) | cumsum(x, 1) | cumprod(x, 1) | trace(m) | var(x) | std(x, 1) | linalg.vector_norm(x) | linalg.vector_norm(x, 1) | linalg.vector_norm(x, 3)
linalg.vector_norm(x, 0.5) | linalg.vector_norm(x, float("inf")) | dist(x, y) | x @ m | dot(v, v * 2j) | vdot(v, x[0]) | linalg.vecdot(x, y) | addmm(x, y, m, beta=2j, alpha=3) | outer(v, v)
einsum("ij,kj->ik", x, y) | kron(x, y) | inner(x, v) | linalg.inv(m) | linalg.det(m) | linalg.slogdet(m) | linalg.solve(m, v) | linalg.cholesky(m @ m.mH) | matrix_exp(m)
linalg.qr(m) | linalg.qr(x.mH) | linalg.eigvalsh(m + m.mH) | linalg.eigh(m + m.mH)[1].abs() | linalg.svdvals(x) | linalg.svd(x, False)[2].abs() | linalg.pinv(x) | linalg.eigvals(m)
linalg.eig(m)[1].abs() | linalg.lu(m)[1:] | linalg.matrix_norm(x, "nuc")
x.mH | x.adjoint() | x.mT | x[:, 1:] | cat([x, y]) | x.masked_fill(torch.tensor([True, False, True]), 2j) | x.index_add(0, torch.tensor([0]), y[:1], alpha=2j) | x.to(torch.complex64).to(torch.complex128)
x.real + y.imag | x.index_put((torch.tensor([0]),), v) | r.to(torch.complex128) * x | conv1d(x.view(1, 2, 3), m[:2, :2].reshape(1, 2, 2))
"""

FOURIER = """
fft.fft(x) | fft.fft(x, 2) | fft.fft(r, 5, norm="ortho") | fft.ifft(x, 4) | fft.ifft(x, norm="forward") | fft.rfft(r) | fft.rfft(r, 4, norm="ortho") | fft.rfft(r, 2, 0)
fft.irfft(x) | fft.irfft(x, 5) | fft.irfft(x, 2, norm="ortho") | fft.hfft(x) | fft.hfft(x, 3, norm="forward") | fft.ihfft(r) | fft.fft2(x) | fft.ifft2(x, [3, 2])
fft.fftn(x, dim=[0]) | fft.ifftn(x, [2, -1]) | fft.rfft2(r) | fft.rfftn(r, [3, 2]) | fft.irfft2(x) | fft.irfftn(x, [2, 5]) | fft.hfftn(x) | fft.ihfft2(r) | fft.fftshift(x) | fft.ifftshift(x, 1)
stft(w, 4, return_complex=True) | stft(w, 8, 2, 6, w[:6] + 2, return_complex=True) | stft(w, 4, center=False, normalized=True, onesided=False, return_complex=True)
istft(stft(w, 4, return_complex=True) * 2j, 4) | istft(x.view(3, 2), 4, 1) | istft(stft(w, 4, onesided=False, return_complex=True), 4, length=13, return_complex=True)
"""


def split(text):
    return [c.strip() for line in text.strip().splitlines() for c in line.split(" | ")]


def evaluate(call):
    torch.manual_seed(sum(map(ord, call)))
    values = {name: torch.randn(*shape, dtype=torch.complex128) for name, shape in {"x": (2, 3), "y": (2, 3), "v": (3,), "m": (3, 3)}.items()}
    values["m"] = values["m"] + 3 * torch.eye(3)
    values |= {"r": torch.randn(2, 3, dtype=torch.float64), "w": torch.randn(16, dtype=torch.float64)}
    code = compile("torch." + call if call[0] != "(" and not call.startswith(tuple(n + s for n in values for s in ".[ *")) and call[1:4] != " * " else call, call, "eval")
    used = [n for n in values if n in code.co_names]

    def function(*tensors):
        return eval(code, {"torch": torch, **values, **dict(zip(used, tensors)), **{n: getattr(torch, n) for n in ("abs", "stft")}})

    return function, tuple(values[n].requires_grad_() for n in used)


@pytest.mark.parametrize("call", split(CALLS) + split(FOURIER))
def test_gradient(call):
    function, tensors = evaluate(call)
    tolerance = 1e-2 if "complex64" in call else 1e-4
    assert gradcheck(function, tensors, eps=1e-3 if "complex64" in call else 1e-6, atol=tolerance, check_forward_ad=True)
    if not any(name in call for name in ("complex64", "inf")):
        assert gradgradcheck(function, tensors, atol=1e-3, rtol=1e-2)


def test_a_real_leaf_gets_a_real_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x * torch.tensor([1 + 1j, 2j])
    (z.conj() * z).sum().real.backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [4.0, 16.0]


def test_messages_of_gradcheck_tell_the_parts_apart():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    z = torch.ones(2, dtype=torch.complex128, requires_grad=True)
    with pytest.raises(RuntimeError, match="While considering the imaginary part of complex outputs only, Jacobian mismatch for output 0 with respect to input 0,\nnumerical:"):
        gradcheck(Wrong.apply, z)
    assert not gradcheck(Wrong.apply, z, raise_exception=False)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach(), z)
