"""Writes random.json: what PyTorch 1.13 draws. Run with a Python that has it."""
import json
import os
import torch

STEP = 84  # of the numbers of long draws only some are written
HERE = os.path.dirname(os.path.abspath(__file__))


def flat(t):
    t = torch.view_as_real(t) if t.is_complex() else t
    return [repr(v) if isinstance(v, float) else v for v in t.reshape(-1).double().tolist()]


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
        ("normal", "float32", 2101, lambda: torch.randn(2101)),
        ("normal", "float64", 2101, lambda: torch.randn(2101, dtype=torch.float64)),
        ("uniform", "float32", 2101, lambda: torch.rand(2101)),
        ("randint", "int64", 2101, lambda: torch.randint(-3, 10, (2101,))),
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
        out.append({"seed": seed, "draws": [{"name": n, "dtype": d, "n": k, "data": flat(f())[::STEP if k > 100 else 1]} for n, d, k, f in draws]})
    return out


with open(os.path.join(HERE, "random.json"), "w") as f:
    json.dump(streams(), f, indent=0, separators=(",", ":"))
