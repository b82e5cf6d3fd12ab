"""Functions of torch.masked."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._internal.opinfo.core import SampleInput, gradcheck_wrapper_masked_operation
from torchjit.testing._internal.opinfo.definitions._table import DOUBLE, op


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


def _mask() -> Any:
    return torch.tensor([[True, False, True], [True, True, False]])


def _masked(name: str, *args: Any, **facts: Any) -> Any:
    return op(
        "masked." + name, DOUBLE, lambda m: _s(m(2, 3), *args, mask=_mask()), lambda m: _s(m(2, 3), *args), method_variant=None, inplace_variant=None,
        operator_variant=None, inplace_operator_variant=None, supports_out=False, gradcheck_wrapper=gradcheck_wrapper_masked_operation, **facts,
    )  # fmt: skip


op_db: list[Any] = [
    *(_masked(name) for name in ("sum", "prod", "amax", "amin", "mean")), *(_masked(name, 1) for name in ("median", "cumsum", "cumprod", "softmax", "log_softmax", "softmin", "logsumexp")),
    *(_masked(name, 1, supports_autograd=False) for name in ("argmax", "argmin")), _masked("norm", 2, 1), _masked("normalize", 2.0, 1), *(_masked(name, 1, False) for name in ("var", "std")),
]  # fmt: skip
