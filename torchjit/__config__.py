"""torch.__config__: how this build was made."""

from __future__ import annotations


def show() -> str:
    """What computes: text for people."""
    from torchjit import get_num_threads
    from torchjit.version import __version__

    return f"torchjit {__version__}: a Go runtime with machine code made at run time; {get_num_threads()} threads\n"


def parallel_info() -> str:
    """How many threads compute: text for people."""
    from torchjit import get_num_threads

    return f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
