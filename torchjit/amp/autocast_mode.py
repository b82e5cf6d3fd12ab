"""Casting by operator. It is there for devices that are not: on the CPU operators compute in the types that they are given."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from torchjit._types import dtypes


class autocast:
    """A context in which PyTorch casts the arguments of some operators to a smaller type.

    For "cuda" it is disabled, with a warning, as it is in PyTorch without a device. Raises RuntimeError for other devices than
    "cuda" and "cpu", NotImplementedError where it is enabled for "cpu".
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if device_type not in ("cuda", "cpu"):
            raise RuntimeError("User specified autocast device_type must be 'cuda' or 'cpu'")
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else dtypes["bfloat16" if device_type == "cpu" else "float16"]
        if enabled and device_type == "cuda":
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype is not dtypes["bfloat16"]:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16 currently.",
                stacklevel=2,
            )
            enabled = False
        if enabled:
            raise NotImplementedError(
                "autocast on the CPU is not there in this version of torchjit: convert the module with .to(torch.bfloat16)"
            )
        self._enabled = enabled

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def __call__(self, func: Any) -> Any:
        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return call


class CudaAutocast(autocast):
    """torch.cuda.amp.autocast: disabled, with a warning."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Marks the forward of an autograd.Function for mixed precision, which changes nothing here."""
    return fwd if fwd is not None else lambda f: f


def custom_bwd(bwd: Any) -> Any:
    """Marks the backward of an autograd.Function for mixed precision, which changes nothing here."""
    return bwd


def is_autocast_enabled() -> bool:
    """Whether operators on CUDA devices cast: never in this version."""
    return False


def is_autocast_cpu_enabled() -> bool:
    """Whether operators on the CPU cast: never in this version."""
    return False


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters are kept: where there are casts, they would be."""
    return True


def get_autocast_cpu_dtype() -> Any:
    """The type that operators on the CPU would cast to."""
    return dtypes["bfloat16"]


def get_autocast_gpu_dtype() -> Any:
    """The type that operators on CUDA devices would cast to."""
    return dtypes["float16"]


def clear_autocast_cache() -> None:
    """Forgets casts of parameters, of which there are none."""
