"""torch.backends.mkldnn: oneDNN, which is not here: dense layers run on kernels of this library."""

from __future__ import annotations

from torchjit.backends import _settings

enabled = True


def is_available() -> bool:
    """Whether oneDNN computes: it does not."""
    return False


_settings.serve(__name__)
