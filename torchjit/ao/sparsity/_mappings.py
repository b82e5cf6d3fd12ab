"""Which quantized classes sparse layers become: there are none, since quantized products with sparse weights have no kernels here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def _refuse() -> NoReturn:
    raise NotImplementedError("torchjit has no quantized layers with sparse weights: quantize the model with the masks in its weights (squash_mask)")


get_static_sparse_quantized_mapping: Callable[[], NoReturn] = _refuse
get_dynamic_sparse_quantized_mapping: Callable[[], NoReturn] = _refuse
