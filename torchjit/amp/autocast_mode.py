"""Casting by operator: autocast."""

from __future__ import annotations

import functools
import threading
import warnings
from typing import Any, Optional  # noqa: UP035

import torchjit as torch
from torchjit import _native
from torchjit._types import dtype, dtypes


class autocast:
    """A context, or a decorator, in which operators that gain from it compute in a smaller type, and others in float32.

    On "cpu" the smaller type is bfloat16; another one warns, and fails when the context is entered. On "cuda" it is float16, or the one that is given; without a
    device it is disabled, with a warning. Compiled programs can use it, not as a decorator. Raises RuntimeError for other
    devices. Which operators cast is what PyTorch 1.13 does on each.

    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     y = nn.Linear(3, 2)(torch.ones(1, 3))
    >>> y.dtype
    torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: Optional[dtype] = None,  # noqa: UP045
        enabled: bool = True,
        cache_enabled: Optional[bool] = None,  # noqa: UP045
    ):
        if torch.jit.is_scripting():
            self._enabled = enabled
            self.device: str = device_type
            self.fast_dtype: torch.dtype = dtype if dtype is not None else torch.float16 if device_type == "cuda" else torch.bfloat16
            return
        if device_type not in ("cuda", "cpu"):
            raise RuntimeError("User specified autocast device_type must be 'cuda' or 'cpu'")
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else _smaller(device_type)
        self._cache_enabled = cache_enabled is not False
        if enabled and device_type == "cuda" and not _native.cuda_device_count():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype is not dtypes["bfloat16"]:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        if torch.jit.is_scripting():
            return self
        if self.device == "cpu" and self.fast_dtype is not dtypes["bfloat16"]:
            raise RuntimeError("Currently, AutocastCPU only support Bfloat16 as the autocast_cpu_dtype")
        _native.begin_casting(self.device == "cuda", self._enabled, self.fast_dtype.code)
        self._outer_cache = is_autocast_cache_enabled()
        set_autocast_cache_enabled(self._cache_enabled)
        autocast_increment_nesting()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if torch.jit.is_scripting():
            return
        _native.end_casting()
        autocast_decrement_nesting()
        set_autocast_cache_enabled(self._outer_cache)

    def __call__(self, func: Any) -> Any:
        if torch.jit.is_scripting():
            return func
        return _decorated(self, func)


def _decorated(context: autocast, func: Any) -> Any:
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with context:
            return func(*args, **kwargs)

    call.__script_unsupported = "@autocast() decorator is not supported in script mode"  # type: ignore[attr-defined]
    return call


def _smaller(device_type: str) -> Any:
    return get_autocast_cpu_dtype() if device_type == "cpu" else get_autocast_gpu_dtype()


def _cast(value: Any, to: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(to) if value.is_floating_point() and value.is_cuda and value.dtype is not torch.float64 else value
    if isinstance(value, dict):
        return {_cast(k, to): _cast(v, to) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, to) for v in value)
    return value


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Marks the forward of an autograd.Function for mixed precision: where an autocast of CUDA devices is enabled, its tensors there are cast to cast_inputs and it runs
    without the autocast, or as it is where no type is given. custom_bwd has the backward run as the forward did."""
    if fwd is None:
        return functools.partial(custom_fwd, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._fwd_used_autocast = is_autocast_enabled() and cast_inputs is None
        if cast_inputs is None or not is_autocast_enabled():
            return fwd(ctx, *args, **kwargs)
        with autocast("cuda", enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Any) -> Any:
    """Marks the backward of an autograd.Function for mixed precision: it runs under an autocast where the forward, marked by custom_fwd, did."""

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        if not torch.cuda.is_available():
            return bwd(ctx, *args, **kwargs)
        with autocast("cuda", enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


class _State(threading.local):
    """What a thread has set."""

    cached = True
    nesting = 0


_state = _State()


def _checked(enabled: Any) -> bool:
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    return enabled


def _checked_type(d: Any) -> Any:
    if not isinstance(d, dtype):
        raise TypeError(f"dtype must be a torch.dtype (got {type(d).__name__})")
    return d


def is_autocast_enabled() -> bool:
    """Whether operators on CUDA devices cast."""
    return _native.casting(True) is not None


def set_autocast_enabled(enabled: bool) -> None:
    """Has operators on CUDA devices cast, or not, until the autocast ends that this is called in."""
    _native.set_casting(True, _checked(enabled))


def is_autocast_cpu_enabled() -> bool:
    """Whether operators on the CPU cast."""
    return _native.casting(False) is not None


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Has operators on the CPU cast, or not, until the autocast ends that this is called in."""
    _native.set_casting(False, _checked(enabled))


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters are kept until the outermost autocast ends."""
    return _state.cached


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Has casts of parameters kept until the outermost autocast ends, or made each time."""
    _state.cached = _checked(enabled)
    _native.set_cast_cache(enabled)


def get_autocast_cpu_dtype() -> Any:
    """The type that operators on the CPU cast to."""
    return dtypes["bfloat16"]


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Says to which type operators on the CPU cast: bfloat16. RuntimeError for others."""
    if _checked_type(dtype) is not dtypes["bfloat16"]:
        raise RuntimeError("Currently, AutocastCPU only support Bfloat16 as the autocast_cpu_dtype")


def get_autocast_gpu_dtype() -> Any:
    """The type that operators on CUDA devices cast to."""
    code = _native.cast_type(True)
    return next(d for d in dtypes.values() if d.code == code)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Says to which type operators on CUDA devices cast."""
    _native.set_cast_type(True, _checked_type(dtype).code)


def autocast_increment_nesting() -> int:
    """Counts an autocast that begins and returns how many there are."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting() -> int:
    """Counts an autocast that ends and returns how many are left."""
    _state.nesting -= 1
    return _state.nesting


def clear_autocast_cache() -> None:
    """Forgets casts of parameters."""
    _native.forget_casts()
