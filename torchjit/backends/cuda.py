"""torch.backends.cuda: settings of products on CUDA devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torchjit import _native, _settings
from torchjit._C._switches import _get_linalg_preferred_backend, _LinalgBackend, _set_linalg_preferred_backend
from torchjit._jit_internal import Namespace


class cuBLASModule(Namespace):  # noqa: N801
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


matmul: cuBLASModule = cuBLASModule()


class cuFFTPlanCache(Namespace):  # noqa: N801
    """The plans of cuFFT that a device keeps."""

    def __init__(self, device_index: int) -> None:
        super().__init__()
        self.device_index = device_index

    @property
    def size(self) -> int:
        """How many there are."""
        return _native.cuda_plans(self.device_index)[0]

    @property
    def max_size(self) -> int:
        """How many there may be: those that were used longest ago make room for others."""
        return _native.cuda_plans(self.device_index)[1]

    @max_size.setter
    def max_size(self, most: int) -> None:
        _native.cuda_limit_plans(self.device_index, most)

    def clear(self) -> None:
        """Gives them all up."""
        _native.cuda_forget_plans(self.device_index)


class cuFFTPlanCacheManager(cuFFTPlanCache):  # noqa: N801
    """The plans of cuFFT that the current device keeps, and by an index those of another."""

    def __init__(self) -> None:
        super().__init__(-1)

    def __getitem__(self, device: object) -> cuFFTPlanCache:
        from torchjit import cuda

        index = device if isinstance(device, int) else cuda._number(device)
        if not 0 <= index < cuda.device_count():
            raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < {cuda.device_count()}, but got device with index {index}")
        return cuFFTPlanCache(index)


cufft_plan_cache: cuFFTPlanCacheManager = cuFFTPlanCacheManager()


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


_LinalgBackends = {"default": _LinalgBackend.Default, "cusolver": _LinalgBackend.Cusolver, "magma": _LinalgBackend.Magma}
_LinalgBackends_str = ", ".join(_LinalgBackends)


def preferred_linalg_library(backend: object = None) -> _LinalgBackend:
    """The library that decomposes matrices on GPUs, or chooses it: "default", "cusolver" or "magma", of which there is the first.

    Raises RuntimeError for others.
    """
    if isinstance(backend, str) and backend not in _LinalgBackends:
        raise RuntimeError(f"Unknown input value. Choose from: {_LinalgBackends_str}.")
    if backend is not None and not isinstance(backend, (str, _LinalgBackend)):
        raise RuntimeError("Unknown input value type.")
    if backend is not None:
        _set_linalg_preferred_backend(_LinalgBackends[backend] if isinstance(backend, str) else backend)
    return _get_linalg_preferred_backend()
