"""Looking for anomalies in gradients: derivatives that fail, or give NaN, are reported with the place of the operation."""

from __future__ import annotations

import warnings
from typing import Any

from torchjit import _native


class detect_anomaly:  # noqa: N801
    """A context in which a derivative that gives NaN fails (with check_nan), and what fails is reported.

    The report is a warning with the traceback of the operation whose derivative failed, where that ran in such a context too.

    >>> with torch.autograd.detect_anomaly(check_nan=False):
    ...     print(torch.is_anomaly_enabled())
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev: bool = _native.detects_anomaly()
        self.check_nan = check_nan
        self.prev_check_nan: bool = _native.detects_nan()
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        _native.set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *args: Any) -> None:
        _native.set_detect_anomaly(self.prev, self.prev_check_nan)


class set_detect_anomaly:  # noqa: N801
    """Begins or ends looking for anomalies; also a context manager, which puts back what was set before. See detect_anomaly.

    >>> with torch.autograd.set_detect_anomaly(False):
    ...     print(torch.is_anomaly_enabled())
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev: bool = _native.detects_anomaly()
        self.prev_check_nan: bool = _native.detects_nan()
        _native.set_detect_anomaly(bool(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        _native.set_detect_anomaly(self.prev, self.prev_check_nan)
