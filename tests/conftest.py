"""The tests run against the package in this checkout."""

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Tests interrupt themselves; a process in the background begins with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest  # noqa: E402

from torchjit import _executor_settings, _native  # noqa: E402


@pytest.fixture(autouse=True)
def unprofiled():
    """No test leaves the profiling executor on."""
    yield
    if _executor_settings._asked[0]:
        _executor_settings._asked[0] = False
        _native.set_executor(False, 1, True)
