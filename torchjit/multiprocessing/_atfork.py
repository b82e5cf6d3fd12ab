"""What is done in a process that has been forked."""

import os as _os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["register_after_fork"]


def register_after_fork(func: Callable[[], Any]) -> None:
    """Has a function called in each child that is forked from now on. Calls of this library raise RuntimeError there."""
    if sys.platform != "win32":
        _os.register_at_fork(after_in_child=func)
