"""The rows that operators.py compares: about 470 operators over one element type, eager, one thread. It runs under
PyTorch and under torchjit alike:

    python operators_work.py MODULE DTYPE

It answers each line of its input with a line of JSON: an empty one with the names of the rows, a name with the nanoseconds of a call,
the least of several rounds; a row that the library refuses has the error instead.
"""

import importlib
import json
import math
import os
import sys
import time
import warnings

# Two processes that are measured in turn are woken anew each time; one that is moved to another processor finds its caches empty.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
torch = importlib.import_module(sys.argv[1])
F = importlib.import_module(sys.argv[1] + ".nn.functional")
DTYPE = getattr(torch, sys.argv[2])
LARGE, SMALL, SIDE = 1000000, 4, 1000

UNARY = """abs acos acosh asin asinh atan atanh bitwise_not ceil clone cos cosh digamma erf erfc erfinv exp exp2 expm1 floor frac i0
isfinite isinf isnan lgamma log log10 log1p log2 logical_not logit nan_to_num neg reciprocal relu round rsqrt sgn sigmoid sign signbit
sin sinc sinh sqrt square tan tanh trunc""".split()
ACTIVATIONS = """celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu softplus softshrink
softsign tanhshrink""".split()
BINARY = """add atan2 bitwise_and bitwise_xor copysign div eq floor_divide fmax fmin fmod gcd heaviside hypot ldexp logaddexp logical_and
lt maximum minimum mul nextafter pow remainder sub xlogy""".split()
WHOLE = "all amax amin any argmax argmin count_nonzero max mean median min nansum norm prod std sum var".split()
ALONG = """all amax any argmax argsort cummax cumprod cumsum logcumsumexp log_softmax logsumexp max mean median min nansum norm prod
softmax sort std sum var""".split()

# Expressions over x, y: tensors of one dimension, c: a mask.
ELEMENTWISE = """x + 2|x ** 2|x ** 3|x ** 0.5|x ** 1.3|x ** -1|torch.clamp(x, 0.2, 0.7)|torch.where(c, x, y)|torch.lerp(x, y, 0.3)
torch.addcmul(x, x, y)|torch.addcdiv(x, x, y)|x.masked_fill(c, 0)|F.dropout(x, 0.5)|torch.rand(n)|torch.randn(n)|torch.randint(0, 100, (n,))
torch.bernoulli(x)|z.uniform_()|z.normal_()|z.exponential_()|torch.randperm(n)|torch.zeros(n)|torch.ones(n)|torch.arange(n)
torch.linspace(0, 1, n)|torch.full_like(x, 2)|x.to(torch.float64)|x.to(torch.int64)|x.to(torch.bfloat16)|x.half()|x.bool()"""
# Over a, b: square matrices, i: a vector of indices, m: a matrix of them.
MATRICES = """a.t() + b|a.t().contiguous()|torch.cat([a, b])|torch.cat([a, b], 1)|torch.stack([a, b])|a.index_select(0, i)
a.index_select(1, i)|a[i]|a[:, i]|a.gather(0, m)|a.gather(1, m)|a.scatter(1, m, b)|a.scatter_add(1, m, b)|torch.take(a, m)
a.index_put((i,), b)|a.index_add(0, i, b)|a[c]|c.nonzero()|a.flip(0)|a.flip(1)|a.roll(3, 1)|a[:500].repeat(2, 1)|a[:, :500].repeat(1, 2)
a[:500].repeat_interleave(2, 0)|F.pad(a, (1, 1, 1, 1))|F.pad(a[None], (2, 2), mode='reflect')|a.tril()|a.topk(5, 1)|a.kthvalue(5, 1)
torch.unique(m)|torch.bincount(m.view(-1))|torch.histc(a)|torch.searchsorted(s, a)|a + b[0]|a + b[:, :1]|b[0].expand(1000, 1000).contiguous()
a.view(100, 10, 1000).permute(2, 0, 1).contiguous()|a.diagonal().sum()|a[::2, ::2] + 1|F.one_hot(i, 1000)|F.embedding(i, a)
F.layer_norm(a, (1000,))|F.batch_norm(a, None, None, training=True)|F.group_norm(a.view(10, 100, 1000), 10)|F.cross_entropy(a, i)
F.mse_loss(a, b)|F.binary_cross_entropy(a, b)|F.normalize(a)|F.cosine_similarity(a, b)|a @ b|a @ b[0]|torch.dot(a.view(-1), b.view(-1))
torch.outer(a[0], b[0])|torch.bmm(a.view(100, 100, 100), b.view(100, 100, 100))|torch.einsum('ij,jk->ik', a[:100], b)
F.max_pool2d(a[None, None], 2)|F.avg_pool2d(a[None, None], 2)|F.adaptive_avg_pool2d(a[None, None], 10)
F.interpolate(a[None, None], scale_factor=2)|F.interpolate(a[None, None], scale_factor=2, mode='bilinear')|F.unfold(a[None, None], 3)
torch.cdist(a[:200], b[:200])|torch.quantile(a[0], 0.3)|torch.equal(a, e)|torch.allclose(a, e)|torch.isclose(a, b)|a.tolist()
torch.fft.fft(a)|F.conv1d(a[None], w)|torch.linalg.inv(a[:200, :200])|a.diff()|F.prelu(a, b[0, :1])|F.glu(a)|e.copy_(a)|torch.max(a, b)
torch.std_mean(a, 1)|torch.var_mean(a, 0)|torch.cross(a[:, :3], b[:, :3])|torch.kron(a[:30, :30], b[:30, :30])|torch.vander(a[0], 10)"""
# Over x: a vector, l: the same as one line of one image, w: a filter, i: as many indices, h: its elements as rows, t: rows of five.
LINES = """F.interpolate(l, scale_factor=2)|F.interpolate(l, scale_factor=1.37, mode='linear')|F.interpolate(l, scale_factor=0.6, mode='linear')
F.conv1d(l, w)|F.max_pool1d(l, 2)|F.avg_pool1d(l, 3, 1)|x.index_add(0, i, x)|x.index_copy(0, i, x)|x.index_fill(0, i, 0)
x.scatter_reduce(0, i, x, 'amax')|torch.unique_consecutive(x)|torch.gradient(x)|torch.all(h, 1)|torch.amax(h, 1)|torch.argmax(h, 1)
torch.sum(t, 1)|torch.amax(t, 1)|torch.argmax(t, 1)|torch.softmax(t, 1)|F.grid_sample(a, g, align_corners=False)"""
# Over a: 2 by 2, i: two indices.
CALLS = """a.reshape(4)|a.view(4)|a.t()|a[0]|a[:, 1]|a[i]|a.__setitem__(0, 1)|a @ a|torch.cat([a, a])|torch.stack([a, a])|a.unsqueeze(0)
a.permute(1, 0)|a[0, 0].item()|torch.tensor([1.0, 2.0])|torch.empty(2, 2)|torch.zeros_like(a)|torch.softmax(a, 1)|F.linear(a, a, a[0])
F.layer_norm(a, (2,))|a.size()|a.shape|a.dtype|a.numel()|a.sum(1)|a.max(1)|a.chunk(2)|a.split(1)|a.clone()|a.detach()|a[:1].expand(2, 2)
bool(a[0, 0] > 0)|a.to(torch.float64)|torch.where(a > 0, a, a)|a.tolist()|list(a)|F.embedding(i, a)|F.mse_loss(a, a)|F.cross_entropy(a, i)
linear(a)"""


def expressions(text):
    return [e for line in text.splitlines() for e in line.split("|")]


def sample(*shape):
    if DTYPE.is_complex:
        return torch.complex(torch.rand(*shape) + 0.05, torch.rand(*shape)).to(DTYPE)
    if DTYPE.is_floating_point:
        return torch.rand(*shape, dtype=torch.float64).to(DTYPE) * 0.9 + 0.05
    return torch.randint(1, 100, shape).to(DTYPE)


def rows():
    """The name of each row, its expression and what its names stand for."""
    for n in (LARGE, SMALL):
        x, y = sample(n), sample(n)
        names = {"x": x, "y": y, "z": x.clone(), "c": (x.real if DTYPE.is_complex else x) > 0.5, "n": n}
        calls = [f"torch.{f}(x)" for f in UNARY + WHOLE] + [f"F.{f}(x)" for f in ACTIVATIONS] + [f"torch.{f}(x, y)" for f in BINARY]
        for e in calls + expressions(ELEMENTWISE):
            yield f"{n}: {e}", e, names
    a, b, w = sample(SIDE, SIDE), sample(SIDE, SIDE), sample(8, SIDE, 3)
    i, m = torch.randint(0, SIDE, (SIDE,)), torch.randint(0, SIDE, (SIDE, SIDE))
    names = {"a": a, "b": b, "w": w, "i": i, "m": m, "e": a.clone(), "c": (a.real if DTYPE.is_complex else a) > 0.5}
    if not DTYPE.is_complex:
        names["s"] = a[0].sort()[0]
    for d in (1, 0):
        for f in ALONG:
            e = f"torch.{f}(a, dim={d})"
            yield f"matrix: {e}", e, names
    for e in expressions(MATRICES):
        yield f"matrix: {e}", e, names
    x = sample(LARGE // 5)
    names = {"x": x, "l": x[None, None], "w": sample(1, 1, 31), "i": torch.randint(0, len(x), (len(x),)), "h": x[:, None], "t": x.view(-1, 5)}
    names.update(a=sample(4, 16, 64, 64), g=(torch.rand(4, 64, 64, 2) * 2 - 1).to(DTYPE))
    for e in expressions(LINES):
        yield f"line: {e}", e, names
    names = {"a": sample(2, 2), "i": torch.tensor([0, 1]), "linear": torch.nn.Linear(2, 2).to(DTYPE) if DTYPE.is_floating_point else None}
    for e in expressions(CALLS):
        yield f"call: {e}", e, names


def best(call):
    """The best time of one call in nanoseconds."""
    call()
    begin = time.perf_counter()
    call()
    once = time.perf_counter() - begin
    times = range(max(1, min(2000, int(0.002 / once))))
    found = math.inf
    for _ in range(7 if once < 0.05 else 2):
        begin = time.perf_counter()
        for _ in times:
            call()
        found = min(found, (time.perf_counter() - begin) / len(times))
    return found * 1e9


def nanoseconds(expression, names):
    try:
        return best(eval("lambda: " + expression, {"torch": torch, "F": F, **names}))
    except Exception as e:
        return f"{type(e).__name__}: {e}"[:100]


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    calls = {name: (expression, names) for name, expression, names in rows()}
    for line in sys.stdin:
        print(json.dumps(nanoseconds(*calls[line[:-1]]) if line != "\n" else list(calls)), flush=True)


if __name__ == "__main__":
    main()
