"""torch.backends.cuda: settings of CUDA, which is not here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torchjit._jit_internal import Namespace


class _Matmul(Namespace):
    """Settings of matrix products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True


matmul: _Matmul = _Matmul()


def is_built() -> bool:
    """Whether this build knows CUDA: it does not."""
    return False


# Which forms of attention may be chosen: there is one, and the settings are kept.
_sdp = {"flash": True, "math": True}


def flash_sdp_enabled() -> bool:
    """Whether flash attention may be chosen."""
    return _sdp["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Keeps whether flash attention may be chosen."""
    _sdp["flash"] = enabled


def math_sdp_enabled() -> bool:
    """Whether attention by products may be chosen."""
    return _sdp["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Keeps whether attention by products may be chosen."""
    _sdp["math"] = enabled


@contextlib.contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True) -> Iterator[None]:
    """A context with other settings."""
    before = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math)
    try:
        yield
    finally:
        _sdp.update(before)
