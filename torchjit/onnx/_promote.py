"""The element type that operands have together."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.onnx import _fold, _infer


def together(values: list[Any]) -> Any:
    """The element type of what is computed of tensors and numbers, None where one is not known or all have the same.

    A Constant without dimensions is a number: it changes the type only where it is of a higher category, as a tensor without dimensions
    does.
    """
    known = [_infer.info(v) for v in values]
    dtypes = {d for d, _ in known}
    if None in dtypes and len(dtypes) == 1 or len(dtypes) < 2:
        return None
    ranked = [(_rank(v, sizes), dtype) for v, (dtype, sizes) in zip(values, known) if dtype is not None]
    result = None
    for rank in (2, 1, 0):
        here = [d for r, d in ranked if r == rank]
        if not here:
            continue
        joined = here[0]
        for d in here[1:]:
            joined = torch.promote_types(joined, d)
        if result is None:
            result = joined
        elif _category(joined) > _category(result):
            result = torch.get_default_dtype() if rank == 0 and joined == torch.float64 else joined
    return result


def _rank(value: Any, sizes: Any) -> int:
    """2 for tensors, 1 for those without dimensions, 0 for numbers."""
    if sizes:
        return 2
    return 0 if _fold.constant_of(value) is not None and sizes == [] else 1 if sizes == [] else 2


def _category(dtype: Any) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype == torch.bool else 1
