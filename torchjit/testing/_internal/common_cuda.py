"""What tests ask about CUDA: devices of tensors are the CPU and meta here."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from torchjit.testing._internal._conditions import IS_WINDOWS as IS_WINDOWS
from torchjit.testing._internal._conditions import TEST_CUDA as TEST_CUDA
from torchjit.testing._internal._conditions import TEST_NUMBA as TEST_NUMBA
from torchjit.testing._internal._conditions import TEST_WITH_ROCM as TEST_WITH_ROCM

TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = TEST_NUMBA_CUDA = TEST_CUSPARSE_GENERIC = TEST_HIPSPARSE_GENERIC = False
SM53OrLater = SM60OrLater = SM80OrLater = False
CUDA_DEVICE = CUDA11OrLater = CUDA9 = None
TEST_CUDNN_VERSION = 0


def _get_torch_cuda_version() -> tuple[int, ...]:
    """The version of CUDA that the library was built with: none."""
    return (0, 0)


def _get_magma_version() -> tuple[int, ...]:
    """The version of MAGMA: there is none."""
    return (0, 0)


def _check_cusparse_generic_available() -> bool:
    """Whether there are cuSPARSE's functions of all layouts: there are not."""
    return TEST_CUSPARSE_GENERIC


def _check_hipsparse_generic_available() -> bool:
    """Whether there are hipSPARSE's functions of all layouts: there are not."""
    return TEST_HIPSPARSE_GENERIC


def initialize_cuda_context_rng() -> None:
    """Starts the generators of CUDA devices, of which there are none."""
    assert TEST_CUDA, "CUDA must be available when calling initialize_cuda_context_rng"


def tf32_is_not_fp32() -> bool:
    """Whether products on a CUDA device may be rounded to TF32."""
    return False


@contextlib.contextmanager
def tf32_off() -> Iterator[None]:
    """A context without TF32."""
    yield


@contextlib.contextmanager
def tf32_on(self: Any, tf32_precision: float = 1e-5) -> Iterator[None]:
    """A context with TF32, in which a test has a tolerance."""
    saved, self.precision = self.precision, tf32_precision
    try:
        yield
    finally:
        self.precision = saved


def with_tf32_off(f: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for tests without TF32."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return wrapper


def tf32_on_and_off(tf32_precision: float = 1e-5) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for tests that run with and without TF32 where there is such a device, and once where there is none."""
    return with_tf32_off
