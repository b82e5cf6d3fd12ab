"""The work that `run.py --work fused_work.py` measures: compiled functions of elementwise operators and of reductions of what
they give, one thread; "and gradients" are rows of a run and the gradients of all its tensors, the others run without gradients.

Prints nanoseconds by name: the least of seven rounds.
"""

import json
import sys
import time

if sys.argv[1] == "torchjit":
    import torchjit as torch
else:
    import torch


@torch.jit.script
def bias_gelu(x, b):
    y = x + b
    return y * 0.5 * (1.0 + torch.tanh(0.79788456 * y * (1 + 0.044715 * y * y)))


@torch.jit.script
def rms_norm(x, w):
    v = (x * x).mean(-1, keepdim=True)
    return x * torch.rsqrt(v + 1e-6) * w


@torch.jit.script
def rotary(q, c, s):
    a, b = q.chunk(2, -1)
    return torch.cat([a * c - b * s, b * c + a * s], -1)


@torch.jit.script
def lstm_step(gates, c):
    i, f, o, z = gates.chunk(4, 1)
    c2 = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
    return torch.sigmoid(o) * torch.tanh(c2), c2


@torch.jit.script
def scale_relu(x, s, b):
    return torch.relu(x * s[None, :, None, None] + b[None, :, None, None])


@torch.jit.script
def swish(x, y):
    return x * torch.sigmoid(x) + y


@torch.jit.script
def squares(x, y):
    d = x - y
    return (d * d).mean()


@torch.jit.script
def update(p, g, m, v):
    m2 = m * 0.9 + g * 0.1
    v2 = v * 0.999 + g * g * 0.001
    return p - 0.001 * m2 / (v2.sqrt() + 1e-8), m2, v2


@torch.jit.script
def chain(x, w):
    a = x * w
    b = a + x
    d = b * 0.5 - w
    f = d * d + 1.0
    h = f * b - a
    return h * 0.1 + x


@torch.jit.script
def rows_dot(x, w):
    return (x * w).sum(-1)


@torch.jit.script
def rows_energy(x, w):
    return torch.exp(w - x * x).mean(-1)


def with_gradients(f, *args):
    """A call of f and of the gradients of what it gives."""
    leaves = [a.clone().requires_grad_() for a in args]
    made = f(*leaves)
    outs = made if isinstance(made, tuple) else (made,)
    seeds = [torch.ones_like(o) for o in outs]

    def step():
        made = f(*leaves)
        torch.autograd.grad(made if isinstance(made, tuple) else (made,), leaves, seeds)

    return step


def least(f, *args):
    for _ in range(5):
        f(*args)
    start = time.perf_counter()
    f(*args)
    calls = max(2, min(3000, int(0.05 / (time.perf_counter() - start))))
    found = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            f(*args)
        found = min(found, (time.perf_counter() - start) / calls)
    return found * 1e9


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    r = torch.randn
    work = {
        "gelu of x + bias, 32x128x768": (bias_gelu, r(32, 128, 768), r(768)),
        "gelu of x + bias, 4x8": (bias_gelu, r(4, 8), r(8)),
        "rms norm, 512x768": (rms_norm, r(512, 768), r(768)),
        "rotary embedding, 8x128x64": (rotary, r(8, 128, 64), r(128, 32), r(128, 32)),
        "lstm step, 64x1024": (lstm_step, r(64, 1024), r(64, 256)),
        "lstm step, 1x64": (lstm_step, r(1, 64), r(1, 16)),
        "relu of channels scaled, 8x64x56x56": (scale_relu, r(8, 64, 56, 56), r(64), r(64)),
        "swish + y, 1M": (swish, r(1000000), r(1000000)),
        "mean of squares, 1M": (squares, r(1000000), r(1000000)),
        "dot products of rows, 1000x1000": (rows_dot, r(1000, 1000), r(1000)),
        "dot products of rows, 10x10": (rows_dot, r(10, 10), r(10)),
        "means of exp, 1000x1000": (rows_energy, r(1000, 1000), r(1000)),
        "Adam's update, 1M": (update, r(1000000), r(1000000), r(1000000), r(1000000).abs()),
        "Adam's update, 100": (update, r(100), r(100), r(100), r(100).abs()),
    }
    trained = {
        "chain of ten, 1M": (chain, r(1000000), r(1000000)),
        "chain of ten, 100": (chain, r(100), r(100)),
        "gelu of x + bias, 32x128x768": work["gelu of x + bias, 32x128x768"],
        "gelu of x + bias, 4x8": work["gelu of x + bias, 4x8"],
        "lstm step, 64x1024": work["lstm step, 64x1024"],
        "lstm step, 1x64": work["lstm step, 1x64"],
        "rms norm, 512x768": work["rms norm, 512x768"],
        "mean of squares, 1M": work["mean of squares, 1M"],
        "means of exp, 1000x1000": work["means of exp, 1000x1000"],
    }
    found = {}
    with torch.no_grad():
        for name, (f, *args) in work.items():
            found[name] = least(f, *args)
    for name, (f, *args) in trained.items():
        found[name + ", and gradients"] = least(with_gradients(f, *args))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
