"""Two tensors, x and y, for operators on both."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.utils.benchmark.op_fuzzers import _sizes
from torchjit.utils.benchmark.utils.fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias


class BinaryOpFuzzer(Fuzzer):
    """Makes x, of 4096 to 32 million elements, and y, some of whose dimensions are of size one, which broadcast."""

    def __init__(self, seed: int, dtype: Any = torch.float32, cuda: bool = False) -> None:
        of_second = [FuzzedParameter(f"y_k{i}", distribution={ParameterAlias(f"k{i}"): 0.8, 1: 0.2}, strict=True) for i in range(3)]
        options: dict[str, Any] = {
            "probability_contiguous": 0.75, "max_allocation_bytes": 2 * 1024**3, "dim_parameter": "dim", "dtype": dtype, "cuda": cuda,
        }  # fmt: skip
        super().__init__(
            parameters=[*_sizes.sizes(), *of_second, *_sizes.steps("x", "y"), _sizes.seed()],
            tensors=[
                FuzzedTensor("x", ("k0", "k1", "k2"), ("x_step_0", "x_step_1", "x_step_2"), min_elements=4 * 1024, max_elements=32 * 1024**2, **options),
                FuzzedTensor("y", ("y_k0", "y_k1", "y_k2"), ("x_step_0", "x_step_1", "x_step_2"), **options),
            ],
            seed=seed,
        )
