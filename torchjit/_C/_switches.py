"""Settings of the libraries that compute, by the functions that torch.backends calls in PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from torchjit._C._profiler import _Number

# Settings: the module and the attribute that keep one, its name in that of the functions, and the one in messages.
_SETTINGS = {
    "cudnn_enabled": ("torchjit.backends.cudnn:enabled", "set_enabled_cudnn"),
    "cudnn_benchmark": ("torchjit.backends.cudnn:benchmark", "set_benchmark_cudnn"),
    "cudnn_deterministic": ("torchjit.backends.cudnn:deterministic", "set_deterministic_cudnn"),
    "cudnn_allow_tf32": ("torchjit.backends.cudnn:allow_tf32", "set_allow_tf32_cublas"),
    "cublas_allow_tf32": ("torchjit.backends.cuda:matmul.allow_tf32", "set_allow_tf32_cublas"),
    "cublas_allow_fp16_reduced_precision_reduction": (
        "torchjit.backends.cuda:matmul.allow_fp16_reduced_precision_reduction", "set_allow_fp16_reduction_cublas",
    ),
    "mkldnn_enabled": ("torchjit.backends.mkldnn:enabled", "set_enabled_mkldnn"),
    "backcompat_broadcast_warn": ("torchjit.utils.backcompat:broadcast_warning.enabled", "set_backcompat_broadcast_warn"),
    "backcompat_keepdim_warn": ("torchjit.utils.backcompat:keepdim_warning.enabled", "set_backcompat_keepdim_warn"),
}  # fmt: skip


def _owner(place: str) -> tuple[Any, str]:
    module, _, path = place.partition(":")
    owner = importlib.import_module(module)
    *parts, name = path.split(".")
    for part in parts:
        owner = getattr(owner, part)
    return owner, name


def _getter(name: str, place: str) -> Callable[[], bool]:
    def get() -> bool:
        owner, attribute = _owner(place)
        return bool(getattr(owner, attribute))

    get.__name__ = get.__qualname__ = "_get_" + name
    get.__doc__ = f"The setting {place.partition(':')[2]}."
    return get


def _setter(name: str, place: str, told: str) -> Callable[[bool], None]:
    def set_to(on: bool) -> None:
        if not isinstance(on, bool):
            raise RuntimeError(f"{told} expects a bool, but got {type(on).__name__}")
        setattr(*_owner(place), on)

    set_to.__name__ = set_to.__qualname__ = "_set_" + name
    set_to.__doc__ = f"Changes the setting {place.partition(':')[2]}. Raises RuntimeError for what is no bool."
    return set_to


for _name, (_place, _told) in _SETTINGS.items():
    globals()["_get_" + _name] = _getter(_name, _place)
    globals()["_set_" + _name] = _setter(_name, _place, _told)


def _get_flash_sdp_enabled() -> bool:
    """torch.backends.cuda.flash_sdp_enabled; the three after it are its kin."""
    return _cuda().flash_sdp_enabled()


def _get_math_sdp_enabled() -> bool:
    return _cuda().math_sdp_enabled()


def _set_sdp_use_flash(on: bool) -> None:
    if not isinstance(on, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(on).__name__}")
    _cuda().enable_flash_sdp(on)


def _set_sdp_use_math(on: bool) -> None:
    if not isinstance(on, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(on).__name__}")
    _cuda().enable_math_sdp(on)


def _cuda() -> Any:
    return importlib.import_module("torchjit.backends.cuda")


def _set_qengine(number: int) -> None:
    """Chooses the engine of quantized operators by its number. Raises RuntimeError where there is none."""
    from torchjit.backends import quantized

    if not isinstance(number, int):
        raise RuntimeError(f"set_qengine expects an int, but got {type(number).__name__}")
    names = {n: name for name, n in quantized._NUMBERS.items()}
    if number not in names:
        raise RuntimeError(f"quantized engine {number} is not supported")
    quantized.engine = names[number]


class _LinalgBackend(_Number):
    """The libraries that may decompose matrices on GPUs."""

    Default = 0
    Cusolver = 1
    Magma = 2


def _get_linalg_preferred_backend() -> _LinalgBackend:
    """The library that decomposes matrices on GPUs: this one, or cuSOLVER where this has no kernels."""
    return _LinalgBackend.Default


def _set_linalg_preferred_backend(backend: Any) -> None:
    """Chooses the library that decomposes matrices on GPUs. Raises RuntimeError for any but the default."""
    if not isinstance(backend, _LinalgBackend):
        raise TypeError(
            "_set_linalg_preferred_backend(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C._LinalgBackend) -> None\n\nInvoked with: {backend!r}"
        )
    if backend is not _LinalgBackend.Default:
        library = "cuSOLVER" if backend is _LinalgBackend.Cusolver else "MAGMA"
        raise RuntimeError(f"Cannot set preferred backend to {library} if PyTorch has not been compiled with {library}.")


def _has_distributed() -> bool:
    """Whether processes can work together: no."""
    return False


def _is_mps_available() -> bool:
    """Whether there is one of Apple's GPUs: no."""
    return False


def _is_xnnpack_enabled() -> bool:
    """Whether XNNPACK computes: no."""
    return False


def _add_docstr(obj: Any, doc_str: str) -> Any:
    """Gives a function of the library its documentation, and returns it. Raises TypeError for others, RuntimeError where it has some."""
    from torchjit import _native

    if not isinstance(obj, _native.Function):
        raise TypeError(f"don't know how to add docstring to type '{type(obj).__name__}'")
    if obj.__doc__:
        raise RuntimeError(f"function '{obj.__name__}' already has a docstring")
    obj.__doc__ = doc_str
    return obj
