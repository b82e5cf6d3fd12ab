"""torch.backends.cuda: settings of CUDA, which is not here."""

from __future__ import annotations

from torchjit._jit_internal import Namespace


class _Matmul(Namespace):
    """Settings of matrix products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True


matmul: _Matmul = _Matmul()


def is_built() -> bool:
    """Whether this build knows CUDA: it does not."""
    return False
