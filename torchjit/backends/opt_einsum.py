"""torch.backends.opt_einsum: the order of products in einsum, which is from left to right."""

from __future__ import annotations

from torchjit.backends import _settings

enabled = False
strategy = None


def is_available() -> bool:
    """Whether the package opt_einsum chooses the order: it does not."""
    return False


_settings.serve(__name__)
