"""Sizes of tensors for operators: powers of two and other numbers, in one to three dimensions."""

from __future__ import annotations

from typing import Any

from torchjit.utils.benchmark.utils.fuzzer import FuzzedParameter, ParameterAlias

MIN_DIM_SIZE = 16
MAX_DIM_SIZE = 16 * 1024**2
# The powers of two between the limits.
POW_TWO_SIZES = tuple(2**i for i in range(4, 25))


def sizes() -> list[Any]:
    """dim, and k0 to k2, which are powers of two or other numbers with equal probability."""
    anything = [FuzzedParameter(f"k_any_{i}", MIN_DIM_SIZE, MAX_DIM_SIZE, distribution="loguniform") for i in range(3)]
    powers = [FuzzedParameter(f"k_pow2_{i}", distribution={size: 1.0 / len(POW_TWO_SIZES) for size in POW_TWO_SIZES}) for i in range(3)]
    either = [FuzzedParameter(f"k{i}", distribution={ParameterAlias(f"k_any_{i}"): 0.8, ParameterAlias(f"k_pow2_{i}"): 0.2}, strict=True) for i in range(3)]
    return [FuzzedParameter("dim", distribution={1: 0.3, 2: 0.4, 3: 0.3}, strict=True), *anything, *powers, *either]


def steps(*names: str) -> list[Any]:
    """A step for each dimension of tensors, mostly one."""
    return [FuzzedParameter(f"{name}_step_{i}", distribution={1: 0.8, 2: 0.06, 4: 0.06, 8: 0.04, 16: 0.04}) for i in range(3) for name in names]


def seed() -> FuzzedParameter:
    """A number for what is random in the operator."""
    return FuzzedParameter("random_value", minval=0, maxval=2**32 - 1, distribution="uniform")
