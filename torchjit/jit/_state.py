"""Whether torch.jit compiles at all. PYTORCH_JIT=0 in the environment leaves everything to Python."""

from __future__ import annotations

import os


class EnabledProxy:
    """A switch. As a condition it is true where functions and modules are compiled."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("PYTORCH_JIT", "1") != "0"

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def enable() -> None:
    """Compiles from now on."""
    _enabled.enabled = True


def disable() -> None:
    """Leaves functions and modules to Python from now on."""
    _enabled.enabled = False
