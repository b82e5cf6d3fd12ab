"""A tensor, x, for operators on one."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.utils.benchmark.op_fuzzers import _sizes
from torchjit.utils.benchmark.utils.fuzzer import FuzzedTensor, Fuzzer


class UnaryOpFuzzer(Fuzzer):
    """Makes x: of 4096 to 32 million elements, contiguous in three of four cases."""

    def __init__(self, seed: int, dtype: Any = torch.float32, cuda: bool = False) -> None:
        super().__init__(
            parameters=[*_sizes.sizes(), *_sizes.steps("x"), _sizes.seed()],
            tensors=[FuzzedTensor(
                name="x", size=("k0", "k1", "k2"), steps=("x_step_0", "x_step_1", "x_step_2"), probability_contiguous=0.75, min_elements=4 * 1024,
                max_elements=32 * 1024**2, max_allocation_bytes=2 * 1024**3, dim_parameter="dim", dtype=dtype, cuda=cuda,
            )],
            seed=seed,
        )  # fmt: skip
