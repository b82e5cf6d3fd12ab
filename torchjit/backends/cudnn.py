"""torch.backends.cudnn: settings of cuDNN, which is not here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from torchjit.backends import _settings

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
flags: Callable[..., AbstractContextManager[None]]  # settings for a with block


def is_available() -> bool:
    """Whether cuDNN computes: never in this version."""
    return False


def version() -> int | None:
    """The version of cuDNN: None, there is none."""
    return None


def is_acceptable(tensor: object) -> bool:
    """Whether cuDNN can take a tensor: it cannot."""
    return False


_settings.serve(__name__)
