"""torch.backends.cudnn: settings of cuDNN, which computes convolutions on CUDA devices where it is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import torchjit
from torchjit import _native
from torchjit.backends import _settings

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
flags: Callable[..., AbstractContextManager[None]]  # settings for a with block


def is_available() -> bool:
    """Whether cuDNN is there for a CUDA device."""
    return version() is not None


def version() -> int | None:
    """The version of cuDNN, 91002 for 9.10.2; None where there is none, or no device."""
    return _native.cuda_dnn_version() or None


def is_acceptable(tensor: torchjit.Tensor) -> bool:
    """Whether cuDNN can take a tensor."""
    return enabled and tensor.is_cuda and tensor.dtype in (torchjit.float16, torchjit.float32, torchjit.float64, torchjit.bfloat16) and is_available()


_settings.serve(__name__)
