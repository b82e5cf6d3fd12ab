"""`python -m torchjit` is the command gojit: `python -m torchjit help` lists what it does."""

from __future__ import annotations

import signal
import sys

from torchjit import _native


def main() -> int:
    """Runs the command line of the process and returns the exit status. The function of the script `gojit`."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the library runs without the interpreter, which would not hear it
    sys.stdout.flush()
    return _native.command(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
