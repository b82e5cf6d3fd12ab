"""What loaders are made of: fetchers, batches, workers, and what watches over them."""

from __future__ import annotations

import atexit
import importlib.util
import sys

IS_WINDOWS = sys.platform == "win32"
MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between two looks at whether the other side is alive
HAS_NUMPY = importlib.util.find_spec("numpy") is not None

python_exit_status = False  # whether the interpreter is about to end


def _set_python_exit_flag() -> None:
    global python_exit_status
    python_exit_status = True


atexit.register(_set_python_exit_flag)

from torchjit.utils.data._utils import collate, fetch, pin_memory, signal_handling, worker  # noqa: E402
