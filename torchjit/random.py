"""torch.random: the default stream of random numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torchjit._settings import default_generator as default_generator
from torchjit._settings import get_rng_state as get_rng_state
from torchjit._settings import initial_seed as initial_seed
from torchjit._settings import manual_seed as manual_seed
from torchjit._settings import seed as seed
from torchjit._settings import set_rng_state as set_rng_state


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, _caller: str = "fork_rng", _devices_kw: str = "devices") -> Iterator[None]:
    """What is drawn inside leaves no trace outside: the state is put back at the end.

    >>> state = torch.get_rng_state()
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(5)
    >>> torch.equal(state, torch.get_rng_state())
    True
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
