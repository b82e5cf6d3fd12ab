"""Writes the expected texts and streams in this folder; run with a Python that has PyTorch 1.13."""
import json
import os
import torch

HERE = os.path.dirname(os.path.abspath(__file__))


@torch.jit.script
def identity(x):
    return f"{x}"


def flat(t):
    t = torch.view_as_real(t) if t.is_complex() else t
    return [repr(v) if isinstance(v, float) else v for v in t.reshape(-1).double().tolist()]


def compact(values):
    """An arithmetic sequence is written as its first element and its step."""
    if len(values) < 100:
        return values
    values = [float(v) for v in values]
    step = values[1] - values[0]
    assert all(v == values[0] + i * step for i, v in enumerate(values))
    return [values[0], step]


def cases():
    nan, inf = float("nan"), float("inf")
    g = torch.Generator().manual_seed(3)
    yield torch.tensor([1.0, 2.0])
    yield torch.tensor(3)
    yield torch.tensor(2.5)
    yield torch.tensor([[1.5, 20000.25], [3, 4]])
    yield torch.arange(40.0).view(2, 20) * 1234.5
    yield torch.zeros(2, 0)
    yield torch.zeros(0)
    yield torch.zeros(0, dtype=torch.int64)
    yield torch.zeros(0, 3, dtype=torch.int32)
    yield torch.arange(8).view(2, 2, 2)
    yield torch.arange(24.0).view(2, 1, 3, 4) / 7
    yield torch.tensor([1e-6, 5.0])
    yield torch.tensor([1e-6, 2e-6])
    yield torch.tensor([1e-5, 0.5, 3.25])
    yield torch.tensor([123456.5, 234567.25])
    yield torch.tensor([True, False])
    yield torch.tensor([nan, 1.0, -inf])
    yield torch.tensor([nan, 1.5, inf])
    yield torch.tensor([nan, inf])
    yield torch.tensor([0.0, -0.0])
    yield torch.tensor([1e9, 1.0])
    yield torch.tensor([1e10, 2e10])
    yield torch.tensor([100.0, 200.0, -3.0])
    yield torch.tensor([1234567, -12])
    yield torch.tensor(123456789)
    yield torch.tensor([1, 2], dtype=torch.uint8)
    yield torch.tensor([0.1, 0.25], dtype=torch.float64)
    yield torch.tensor([0.1, 0.25], dtype=torch.float16)
    yield torch.tensor([0.1, 0.25], dtype=torch.bfloat16)
    yield torch.tensor([1 + 2j, -0.5 - 3.25j])
    yield torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128)
    yield torch.tensor(1.5 - 2j)
    yield torch.randn(3, 7, generator=g)
    yield torch.randn(30, generator=g) * 100
    yield torch.arange(1200.0).view(40, 30) / 16
    yield torch.arange(1010)
    yield torch.arange(1020.0).view(3, 340)
    yield torch.arange(1200).view(10, 10, 12)
    yield torch.randn(2, 3, generator=g).requires_grad_()
    yield torch.randn(12, generator=g, dtype=torch.float64).requires_grad_()
    yield torch.tensor([1e-200, 1.0], dtype=torch.float64)
    yield torch.full((3, 3), 1e-3)
    yield torch.full((2, 3, 3), 1e6) + 0.5
    yield torch.full((2, 2), 1e8)
    yield torch.full((2, 2), 12345678.5, dtype=torch.float64)


def texts():
    out = []
    for t in cases():
        with_grad = t.requires_grad
        text = repr(t)
        t = t.detach()
        cpp = None if t.is_complex() else identity(t)
        out.append({"dtype": str(t.dtype)[6:], "shape": list(t.shape), "data": compact(flat(t)),
                    "requires_grad": with_grad, "repr": text, "cpp": cpp})
    return out


def streams():
    e = torch.empty
    draws = [
        ("uniform", "float32", 5, lambda: torch.rand(5)),
        ("uniform", "float64", 3, lambda: torch.rand(3, dtype=torch.float64)),
        ("uniform", "float16", 3, lambda: torch.rand(3, dtype=torch.float16)),
        ("uniform", "bfloat16", 3, lambda: torch.rand(3, dtype=torch.bfloat16)),
        ("uniform", "complex64", 3, lambda: torch.rand(3, dtype=torch.complex64)),
        ("normal", "float32", 5, lambda: torch.randn(5)),
        ("normal", "float32", 35, lambda: torch.randn(35)),
        ("normal", "float64", 3, lambda: torch.randn(3, dtype=torch.float64)),
        ("normal", "float64", 17, lambda: torch.randn(17, dtype=torch.float64)),
        ("normal", "float16", 17, lambda: torch.randn(17, dtype=torch.float16)),
        ("normal", "bfloat16", 33, lambda: torch.randn(33, dtype=torch.bfloat16)),
        ("normal", "complex64", 3, lambda: torch.randn(3, dtype=torch.complex64)),
        ("normal", "complex64", 9, lambda: torch.randn(9, dtype=torch.complex64)),
        ("randperm", "int64", 10, lambda: torch.randperm(10)),
        ("randint", "int64", 8, lambda: torch.randint(-3, 10, (8,))),
        ("randint", "float32", 8, lambda: torch.randint(-3, 10, (8,), dtype=torch.float32)),
        ("bernoulli", "float32", 12, lambda: e(12).bernoulli_(0.4)),
        ("bernoulli", "float64", 12, lambda: e(12, dtype=torch.float64).bernoulli_(0.4)),
        ("bernoulli_tensor", "float32", 12, lambda: torch.bernoulli(torch.full((12,), 0.4))),
        ("bernoulli_tensor", "float64", 12, lambda: torch.bernoulli(torch.full((12,), 0.4, dtype=torch.float64))),
        ("bits", "float32", 3, lambda: e(3).random_()),
        ("bits", "float64", 3, lambda: e(3, dtype=torch.float64).random_()),
        ("bits", "int64", 3, lambda: e(3, dtype=torch.int64).random_()),
        ("bits", "int32", 3, lambda: e(3, dtype=torch.int32).random_()),
        ("bits", "uint8", 3, lambda: e(3, dtype=torch.uint8).random_()),
        ("bits", "bool", 6, lambda: e(6, dtype=torch.bool).random_()),
        ("exponential", "float32", 5, lambda: e(5).exponential_(2.0)),
        ("exponential", "float64", 5, lambda: e(5, dtype=torch.float64).exponential_(2.0)),
        ("cauchy", "float32", 3, lambda: e(3).cauchy_(1.0, 2.0)),
        ("log_normal", "float32", 3, lambda: e(3).log_normal_(0.5, 0.25)),
        ("geometric", "float32", 5, lambda: e(5).geometric_(0.3)),
    ]
    out = []
    for seed in (0, 12345678901):
        torch.manual_seed(seed)
        out.append({"seed": seed, "draws": [{"name": n, "dtype": d, "n": k, "data": flat(f())} for n, d, k, f in draws]})
    return out


for name, make in (("print", texts), ("random", streams)):
    with open(os.path.join(HERE, name + ".json"), "w") as f:
        json.dump(make(), f, indent=0, separators=(",", ":"))
