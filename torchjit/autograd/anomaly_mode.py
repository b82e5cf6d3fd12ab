"""Looking for NaN in gradients."""

from __future__ import annotations

from typing import Any

from torchjit import _native


class set_detect_anomaly:
    """Whether a derivative that gives NaN fails; also a context manager, which puts back what was set before."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _native.detects_anomaly()
        _native.set_detect_anomaly(bool(mode and check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        _native.set_detect_anomaly(self.prev)


class detect_anomaly:
    """A context manager in which a derivative that gives NaN fails."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.prev = _native.detects_anomaly()

    def __enter__(self) -> None:
        self.prev = _native.detects_anomaly()
        _native.set_detect_anomaly(self.check_nan)

    def __exit__(self, *args: Any) -> None:
        _native.set_detect_anomaly(self.prev)
