"""Operators on the device cuda at sizes at which their kernels divide the work in different ways, compared with the processor.

    GOJIT_CUDA_DRIVER=... python tests/cuda_sizes.py

The last line is "agree".
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torchjit as torch  # noqa: E402
import torchjit.nn.functional as F  # noqa: E402

NARROW = (torch.float16, torch.bfloat16)


def same(here, there, tolerance=1e-4):
    there = there.cpu()
    assert here.shape == there.shape and here.dtype == there.dtype, (here.shape, there.shape, here.dtype, there.dtype)
    wide = torch.complex128 if here.is_complex() else torch.float64
    a, b = here.to(wide), there.to(wide)
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * max(1, a.abs().nan_to_num().max().item() if a.numel() else 1), equal_nan=True), (a - b).abs().max()


def numbers(shape, dtype, with_specials=True):
    x = (torch.randn(shape) * 20).to(dtype)
    if with_specials and dtype.is_floating_point and shape[-1] > 50:
        for i, v in enumerate((float("nan"), -0.0, 0.0, float("inf"), -float("inf"))):
            x[..., 3 + 4 * i] = v
    return x


def sorting():
    """Rows that a block of threads sorts, longer ones, and the first of rows: stable, in the processor's order."""
    for dtype in (torch.float32, torch.int64, torch.bfloat16, torch.uint8, torch.bool, torch.float64):
        for shape in ((5,), (3, 100), (1, 2049), (2, 5000)):
            x = numbers(shape, dtype)
            for largest in (False, True):
                values, places = torch.sort(x, stable=True, descending=largest)
                v, p = torch.sort(x.cuda(), stable=True, descending=largest)
                assert torch.equal(places, p.cpu()), (dtype, shape, largest)
                same(values, v)
                k = min(10, shape[-1])
                v, p = x.cuda().topk(k, largest=largest)
                same(x.topk(k, largest=largest)[0], v)
                same(x.gather(-1, p.cpu()), v)


def running():
    """Sums up to each element, of short and of long lines, of one line and of columns."""
    for dtype in (torch.float32, torch.float64, torch.int32, torch.float16):
        for shape in ((5,), (3, 100), (1, 9000), (4, 7000)):
            x = numbers(shape, dtype, False)
            same(x.cumsum(-1), x.cuda().cumsum(-1), 0.02 if dtype in NARROW else 1e-4)
    x = torch.randint(-5, 5, (2, 50000))
    assert torch.equal(x.cumsum(1), x.cuda().cumsum(1).cpu())
    assert torch.equal(x.t().cumsum(0), x.t().cuda().cumsum(0).cpu())


def reductions():
    """Dimensions that lie end to end and others, in the order of memory and not."""
    x = torch.randn(3, 40, 5, 70)
    y = x.cuda()
    for dims in ((0,), (0, 2), (1, 3), (0, 2, 3), (1,), (0, 1, 2, 3), (3,)):
        for f in (torch.sum, torch.mean, torch.amax):
            same(f(x, dims), f(y, dims))
            same(f(x.transpose(1, 3), dims, keepdim=True), f(y.transpose(1, 3), dims, keepdim=True))


def indices():
    """Rows that are moved by several elements at once, and those that cannot be; sums at indices."""
    for dtype in (torch.float32, torch.bfloat16, torch.int8, torch.float64, torch.complex64):
        for width in (8, 6, 7, 16):
            x, at = numbers((10, width), dtype), torch.tensor([3, -1, 0, 9, 3])
            y, there = x.cuda(), at.cuda()
            assert torch.equal(x[at], y[there].cpu()) and torch.equal(x[1:, 1:][at % 9], y[1:, 1:][there % 9].cpu())
            assert torch.equal(x.t()[at % 6], y.t()[there % 6].cpu()) and torch.equal(x[at, at % 6], y[there, there % 6].cpu())
            assert torch.equal(F.embedding(at % 10, x), F.embedding(there % 10, y).cpu())
            a, b, rows = x.clone(), y.clone(), torch.tensor([1, 2, 5])
            a[rows], b[rows.cuda()] = x[:3], y[:3]
            assert torch.equal(a, b.cpu())
            same(a.index_add(0, at % 10, x[:5]), b.index_add(0, there % 10, y[:5]), 0.02 if dtype in NARROW else 1e-4)


def products():
    """Sums in one part and in several, of matrices whose rows or columns lie side by side, and convolutions with their gradients."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int32):
        tolerance = 0.03 if dtype in NARROW else 1e-4
        for m, k, n in ((5, 7, 3), (70, 33, 65), (2, 1100, 3), (130, 20, 129)):
            x, y = numbers((m, k), dtype, False), numbers((k, n), dtype, False)
            same(x @ y, x.cuda() @ y.cuda(), tolerance)
            same(x @ y, x.t().contiguous().cuda().t() @ y.t().contiguous().cuda().t(), tolerance)
    x, w = torch.randn(8, 3, 40, 40, requires_grad=True), torch.randn(4, 3, 3, 3, requires_grad=True)
    b, g = torch.randn(4), torch.randn(8, 4, 40, 40)
    X, W = x.detach().cuda().requires_grad_(), w.detach().cuda().requires_grad_()
    y, Y = F.conv2d(x, w, b, padding=1), F.conv2d(X, W, b.cuda(), padding=1)
    y.backward(g)
    Y.backward(g.cuda())
    same(y, Y)
    same(x.grad, X.grad)
    same(w.grad, W.grad)


def tensor_cores():
    """Products of types that tensor cores multiply, whose factors are read in each of the ways that matrices may lie, in one part and in several; and convolutions."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    matmul.allow_tf32 = cudnn.allow_tf32 = True
    about_one = torch.full((1, 1), 1 + 2**-12)
    assert (about_one.cuda() @ about_one.cuda()).item() == F.conv1d(about_one[None].cuda(), about_one[None].cuda()).item() == 1
    for dtype, tolerance in ((torch.float16, 1e-3), (torch.bfloat16, 8e-3), (torch.float32, 1e-3), (torch.float64, 1e-13)):
        for b, m, k, n in ((1, 5, 7, 3), (2, 70, 33, 65), (1, 2, 1100, 3), (3, 64, 48, 64), (1, 3, 0, 2), (200, 65, 16, 8)):
            x, y = torch.randn(b, m, k).to(dtype), torch.randn(b, k, n).to(dtype)
            want = (x.double() @ y.double()).to(dtype)
            X, Y, columns, rows = x.cuda(), y.cuda(), x.mT.contiguous().cuda().mT, y.mT.contiguous().cuda().mT
            for left, right in ((X, Y), (columns, rows)) if b > 1 else ((X[0], Y[0]), (columns[0], rows[0])):
                same(want if b > 1 else want[0], left @ right, tolerance)
        a = torch.randn(n).to(dtype)
        same((a + want.double()).to(dtype), torch.baddbmm(a.cuda(), X, Y), tolerance)
        same((a[:5] + x[0, :, :16].double() @ x[1, :5, :16].double().t()).to(dtype), F.linear(X[0], X[1, :5], a[:5].cuda()), tolerance)
        for shape, weight, options in (
            ((2, 8, 9, 8), (12, 4, 3, 3), {"padding": 1, "groups": 2}),
            ((1, 3, 8, 8, 8), (5, 3, 2, 3, 2), {"stride": (2, 1, 1), "dilation": (1, 2, 1)}),
            ((70, 8, 34), (136, 8, 3), {}),
        ):
            f = getattr(F, f"conv{len(shape) - 2}d")
            given = [torch.randn(s).to(dtype) for s in (shape, weight, weight[:1])]
            here, there = ([t.detach().to(device, kind).requires_grad_() for t in given] for device, kind in (("cpu", torch.float64), ("cuda", dtype)))
            y, Y = f(*here, **options), f(*there, **options)
            g = torch.randn(y.shape).to(dtype)
            y.backward(g.double())
            Y.backward(g.cuda())
            for a, b in ((y, Y), *((p.grad, q.grad) for p, q in zip(here, there, strict=True))):
                same(a.to(dtype), b, 2 * tolerance)
    matmul.allow_tf32 = cudnn.allow_tf32 = False
    assert (about_one.cuda() @ about_one.cuda()).item() == F.conv1d(about_one[None].cuda(), about_one[None].cuda()).item() > 1
    x, y = torch.randn(200, 65, 16), torch.randn(200, 16, 8)  # larger tiles without them
    same(x @ y, x.cuda() @ y.cuda())


def transforms():
    """Fourier transforms of lengths of several factors, of prime ones and of one."""
    for dtype in (torch.float32, torch.float64):
        for n in (1, 2, 12, 13, 64, 121):
            x = torch.randn(3, n, dtype=dtype)
            z = torch.complex(x, torch.randn(3, n, dtype=dtype))
            for norm in ("backward", "ortho"):
                for f in (torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.ihfft):
                    same(f(x, norm=norm), f(x.cuda(), norm=norm))
                for f in (torch.fft.fft, torch.fft.ifft):
                    same(f(z, norm=norm), f(z.cuda(), norm=norm))
                for size in (n, n + 1):
                    same(torch.fft.irfft(z, n=size, norm=norm), torch.fft.irfft(z.cuda(), n=size, norm=norm))
    x, window = torch.randn(2, 400), torch.hann_window(64)
    a = torch.stft(x, 64, 16, window=window, return_complex=True)
    b = torch.stft(x.cuda(), 64, 16, window=window.cuda(), return_complex=True)
    same(a, b)
    same(torch.istft(a, 64, 16, window=window), torch.istft(b, 64, 16, window=window.cuda()))
    c, d = x.requires_grad_(), x.detach().cuda().requires_grad_()
    torch.fft.rfft(c).abs().sum().backward()
    torch.fft.rfft(d).abs().sum().backward()
    same(c.grad, d.grad)


def solvers():
    """Factors, inverses and solutions of matrices of real and complex numbers, in batches and alone, with their gradients and errors."""
    linalg = torch.linalg

    def both(f, *given, tolerance=1e-6):
        here, there = f(*given), f(*(t.cuda() for t in given))
        for a, b in zip(here, there, strict=True) if isinstance(here, tuple) else [(here, there)]:
            same(a, b, tolerance)

    for dtype in (torch.float64, torch.complex128):
        for shape in ((4, 4), (2, 3, 3), (0, 2, 2), (17, 2, 2)):
            a, b = torch.randn(shape, dtype=dtype), torch.randn(shape[:-1] + (2,), dtype=dtype)
            p = a @ a.mH + torch.eye(shape[-1], dtype=dtype)
            for f in (linalg.det, linalg.slogdet, linalg.inv, linalg.lu_factor, linalg.qr, lambda x: torch.matrix_power(x, -2)):
                both(f, a)
            both(linalg.solve, a, b)
            both(lambda x, y: linalg.solve(x, y.mT, left=False), a, b)
            both(lambda x, y: linalg.solve_triangular(x.tril(), y.mT, upper=False, left=False, unitriangular=True), a, b)
            for upper in (False, True):
                both(lambda x, upper=upper: linalg.cholesky(x, upper=upper), p)
            both(lambda x, y: torch.cholesky_solve(y, linalg.cholesky(x)), p, b)
            both(lambda x: torch.cholesky_inverse(linalg.cholesky(x)), p)
        for shape in ((5, 3), (3, 5)):
            for mode in ("reduced", "complete", "r"):
                both(lambda x, mode=mode: linalg.qr(x, mode=mode), torch.randn(shape, dtype=dtype))
            both(linalg.lu_factor, torch.randn(shape, dtype=dtype))
    singular = torch.zeros(2, 2, 2)
    singular[0] = torch.eye(2)
    for f in (linalg.inv, linalg.cholesky, lambda x: linalg.solve(x, x), linalg.lu_factor):
        said = []
        for t in (singular, singular.cuda()):
            try:
                f(t)
            except RuntimeError as e:
                said.append((type(e), str(e)))
        assert len(said) == 2 and said[0] == said[1], said
    wide, small, whole, row = torch.ones(2, 3), torch.ones(2, 2).half(), torch.ones(2, 2).long(), torch.ones(2)
    for f in (linalg.inv, linalg.det, linalg.slogdet, linalg.cholesky, linalg.lu_factor, linalg.qr, lambda x: linalg.solve(torch.eye(3, device=x.device), x), lambda x: torch.matrix_power(x, -1), linalg.tensorinv):
        for t in (wide, small, whole, row):  # what the processor refuses, with its words
            said = []
            for given in (t, t.cuda()):
                try:
                    f(given)
                    said.append("no error")
                except (RuntimeError, IndexError) as e:
                    said.append((type(e), str(e)))
            assert said[0] == said[1], (f, t.shape, t.dtype, said)
    for f in (lambda x: linalg.inv(x).sum(), linalg.det, lambda x: linalg.qr(x)[1].sum(), lambda x: linalg.cholesky(x @ x.mT + torch.eye(4, device=x.device).double()).sum()):
        x = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
        y = x.detach().cuda().requires_grad_()
        f(x).backward()
        f(y).backward()
        same(x.grad, y.grad, 1e-6)


def decompositions():
    """Matrices are what their singular values, eigenvalues and factors make; vectors are orthonormal. Tall, wide, empty, of less than full rank, in batches."""
    linalg = torch.linalg

    def is_unitary(u, tolerance):
        same(torch.eye(u.shape[-1], dtype=u.dtype).expand(*u.shape[:-2], u.shape[-1], u.shape[-1]), u.mH @ u, tolerance)

    def singular(a, tolerance):
        for full in (False, True):
            u, s, vh = (t.cpu() for t in linalg.svd(a.cuda(), full_matrices=full))
            n = s.shape[-1]
            same(linalg.svdvals(a), s, tolerance)
            same(a, (u[..., :n] * s.unsqueeze(-2)) @ vh[..., :n, :], tolerance)
            is_unitary(u, tolerance)
            is_unitary(vh.mH, tolerance)
        same(linalg.svdvals(a), linalg.svdvals(a.cuda()), tolerance)
        same(linalg.pinv(a), linalg.pinv(a.cuda()), 100 * tolerance)

    def symmetric(a, tolerance):
        for uplo in "LU":
            half = a.tril(-1) if uplo == "L" else a.triu(1)
            whole = half + half.mH + torch.diag_embed(torch.diagonal(a, 0, -2, -1).real.to(a.dtype))
            w, v = (t.cpu() for t in linalg.eigh(a.cuda(), uplo))
            same(linalg.eigvalsh(a, uplo), w, tolerance)
            same(whole, (v * w.unsqueeze(-2)) @ v.mH, tolerance)
            is_unitary(v, tolerance)
            same(w, linalg.eigvalsh(a.cuda(), uplo), tolerance)

    def general(a, tolerance):
        w, v = (t.cpu() for t in linalg.eig(a.cuda()))
        same(a.to(v.dtype) @ v, v * w.unsqueeze(-2), tolerance)
        found, wanted = (t if t.dim() > 1 else t.unsqueeze(0) for t in (linalg.eigvals(a.cuda()).cpu(), linalg.eigvals(a)))
        for x, y in zip(found, wanted, strict=True):
            assert x.numel() == 0 or (x.unsqueeze(0) - y.unsqueeze(1)).abs().amin(0).max() < tolerance * 100
        for hermitian in (False, True) if a.is_complex() else (False,):
            h = a + (a.mH if hermitian else a.mT)
            here, there = linalg.ldl_factor_ex(h, hermitian=hermitian), linalg.ldl_factor_ex(h.cuda(), hermitian=hermitian)
            for x, y in zip(here, there, strict=True):
                same(x, y, 100 * tolerance)
            b = torch.randn(*a.shape[:-1], 2, dtype=a.dtype)
            same(linalg.ldl_solve(*here[:2], b, hermitian=hermitian), linalg.ldl_solve(*there[:2], b.cuda(), hermitian=hermitian), 1000 * tolerance)
        same(torch.matrix_exp(a), torch.matrix_exp(a.cuda()), 100 * tolerance)
        lu, pivots = linalg.lu_factor(a)
        for left in (False, True):
            for adjoint in (False, True):
                c = torch.randn(*a.shape[:-1], 2, dtype=a.dtype)
                c = c if left else c.mT
                same(linalg.lu_solve(lu, pivots, c, left=left, adjoint=adjoint), linalg.lu_solve(lu.cuda(), pivots.cuda(), c.cuda(), left=left, adjoint=adjoint), 1000 * tolerance)
        for x, y in zip(torch.lu_unpack(lu, pivots), torch.lu_unpack(lu.cuda(), pivots.cuda()), strict=True):
            same(x, y)

    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        tolerance = 1e-4 if dtype in (torch.float32, torch.complex64) else 1e-11
        for shape in ((1, 1), (3, 3), (5, 3), (3, 5), (2, 4, 4), (2, 6, 2), (40, 35), (0, 3), (2, 0, 3), (3, 0)):
            singular(torch.randn(shape, dtype=dtype), tolerance)
        for a in (torch.randn(6, 2, dtype=dtype) @ torch.randn(2, 5, dtype=dtype), torch.zeros(3, 4, dtype=dtype), torch.eye(4, dtype=dtype), torch.ones(4, 4, dtype=dtype)):
            singular(a, tolerance)
        for shape in ((1, 1), (2, 2), (3, 3), (2, 4, 4), (20, 20), (0, 0), (0, 3, 3)):
            symmetric(torch.randn(shape, dtype=dtype), tolerance)
            general(torch.randn(shape, dtype=dtype), tolerance)
        for shape in ((5, 3), (3, 5), (2, 4, 3), (4, 4)):
            a, b = torch.randn(shape, dtype=dtype), torch.randn(*shape[:-1], 2, dtype=dtype)
            for f in (linalg.lu, torch.geqrf):
                for x, y in zip(f(a), f(a.cuda()), strict=True):
                    same(x, y, 10 * tolerance)
            packed, factors = torch.geqrf(a)
            if shape[-1] <= shape[-2]:
                same(linalg.householder_product(packed, factors), linalg.householder_product(packed.cuda(), factors.cuda()), 10 * tolerance)
            for left in (False, True):
                for adjoint in (False, True):
                    c = b if left else b.mT
                    same(torch.ormqr(packed, factors, c, left, adjoint), torch.ormqr(packed.cuda(), factors.cuda(), c.cuda(), left, adjoint), 10 * tolerance)
            for x, y in zip(linalg.lstsq(a, b, driver="gels"), linalg.lstsq(a.cuda(), b.cuda()), strict=True):
                same(x, y, 100 * tolerance)
    double = torch.tensor([[2.0, 1.0], [0.0, 2.0]])
    same(linalg.eigvals(double), linalg.eigvals(double.cuda()))
    nothing = torch.full((2, 2), float("nan")).cuda()
    for f in (linalg.svd, linalg.eigh, linalg.eig, lambda x: linalg.lstsq(x, x, driver="gelsd")):
        try:
            f(nothing)
        except RuntimeError:
            continue
        raise AssertionError("no error")


def sequences():
    """Points of Sobol' sequences, scrambled and not; packed sequences of recurrent layers, whose sizes are the processor's."""
    from torchjit.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    ops = torch.ops.aten
    triangles = torch.randint(2, (3, 30, 30)).tril()
    for scrambles in (False, True):
        found = []
        for device in ("cpu", "cuda"):
            state, point = torch.zeros(3, 30, dtype=torch.int64).to(device), torch.zeros(3, dtype=torch.int64).to(device)
            ops._sobol_engine_initialize_state_(state, 3)
            if scrambles:
                ops._sobol_engine_scramble_(state, triangles.to(device), 3)
            ops._sobol_engine_ff_(point, 7, state, 3, 0)
            found.append([point, state, *ops._sobol_engine_draw(point, 9, state, 3, 7, torch.float32)])
        for a, b in zip(*found, strict=True):
            assert torch.equal(a, b.cpu())
    x0 = torch.randn(5, 3, 3)
    for m in (torch.nn.LSTM(3, 4, 2, bidirectional=True), torch.nn.GRU(3, 4), torch.nn.RNN(3, 4)):
        found = []
        for device in ("cpu", "cuda"):
            m.to(device).zero_grad()
            x = x0.to(device).requires_grad_()
            packed = pack_padded_sequence(x, torch.tensor([5, 3, 2]))
            y, lengths = pad_packed_sequence(m(packed)[0])
            assert packed.batch_sizes.device.type == lengths.device.type == "cpu"
            y.sum().backward()
            found.append([y.detach(), x.grad, *(p.grad for p in m.parameters())])
            x0 = x0.detach()
        for a, b in zip(*found, strict=True):
            same(a, b)


def normalizations():
    """Channels of one part and of several, far from zero."""
    for shape in ((4, 3, 5, 6), (2, 7), (8, 2, 60, 30)):
        x = (torch.randn(shape) * 3 + 50).double()
        mean, variance = torch.zeros(shape[1]).double(), torch.ones(shape[1]).double()
        means, variances = mean.cuda(), variance.cuda()
        same(F.batch_norm(x, mean, variance, training=True), F.batch_norm(x.cuda(), means, variances, training=True), 1e-9)
        same(mean, means, 1e-9)
        same(variance, variances, 1e-9)


def main(names):
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False
    for part in (sorting, running, reductions, indices, products, tensor_cores, transforms, solvers, decompositions, sequences, normalizations):
        if not names or part.__name__ in names:
            part()
    print("agree")


if __name__ == "__main__":
    main(sys.argv[1:])
