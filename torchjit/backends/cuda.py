"""torch.backends.cuda: settings of products on CUDA devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torchjit import _native, _settings
from torchjit._jit_internal import Namespace


class _Matmul(Namespace):
    """Settings of matrix products by cuBLAS."""

    @property
    def allow_tf32(self) -> bool:
        """Whether factors of float32 may be rounded to TF32, which set_float32_matmul_precision chooses, too."""
        return _settings.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        _settings.set_float32_matmul_precision("high" if on else "highest")

    @property
    def allow_fp16_reduced_precision_reduction(self) -> bool:
        """Whether parts of sums of float16 products may be rounded to float16."""
        return _native.cuda_setting("reduced_half_sums")

    @allow_fp16_reduced_precision_reduction.setter
    def allow_fp16_reduced_precision_reduction(self, on: bool) -> None:
        _native.cuda_set("reduced_half_sums", on)

    @property
    def allow_bf16_reduced_precision_reduction(self) -> bool:
        """The same for bfloat16."""
        return _native.cuda_setting("reduced_bfloat16_sums")

    @allow_bf16_reduced_precision_reduction.setter
    def allow_bf16_reduced_precision_reduction(self, on: bool) -> None:
        _native.cuda_set("reduced_bfloat16_sums", on)


matmul: _Matmul = _Matmul()


def is_built() -> bool:
    """Whether this build was linked with CUDA: it was not, it opens the libraries where they are."""
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
