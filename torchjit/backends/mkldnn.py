"""torch.backends.mkldnn: oneDNN, which is not here: dense layers run on kernels of this library."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from torchjit.backends import _settings

enabled = True
flags: Callable[..., AbstractContextManager[None]]  # settings for a with block


def is_available() -> bool:
    """Whether oneDNN computes: it does not."""
    return False


_settings.serve(__name__)
