"""torch.utils._mode_utils: what code with modes asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def all_same_mode(modes: Any) -> bool:
    """Whether modes are all the same one."""
    return all(mode is modes[0] for mode in modes)


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """A context without modes below autograd."""
    from torchjit.utils._python_dispatch import no_modes

    with no_modes():
        yield
