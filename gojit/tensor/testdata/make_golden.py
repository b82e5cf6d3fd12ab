"""Writes the expected texts in this folder; run with a Python that has PyTorch 1.13."""
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


with open(os.path.join(HERE, "print.json"), "w") as f:
    json.dump(texts(), f, indent=0, separators=(",", ":"))
