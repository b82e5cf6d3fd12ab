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
    """A context in which no mode below autograd and no class of tensors sees operators."""
    from torchjit._dispatch_classes import _DisableTorchDispatch

    guard = _DisableTorchDispatch()
    try:
        yield
    finally:
        del guard
