"""Small members of torch._C: texts about the library, references to tensors."""

from __future__ import annotations

import importlib
import weakref
from typing import Any

import torchjit


class _WeakTensorRef:
    """A reference to a tensor that does not keep it."""

    def __init__(self, tensor: Any) -> None:
        self._reference = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._reference() is None


def _show_config() -> str:
    """How the library was built: torch.__config__.show()."""
    config: Any = importlib.import_module("torchjit.__config__")
    return config.show()


def _parallel_info() -> str:
    """How threads are used: torch.__config__.parallel_info()."""
    config: Any = importlib.import_module("torchjit.__config__")
    return config.parallel_info()


def vitals_enabled() -> bool:
    """False: vital signs are not noted."""
    return False


def is_anomaly_check_nan_enabled() -> bool:
    """Whether the search for anomalies also looks for NaN: see torch.autograd.set_detect_anomaly."""
    return torchjit.is_anomaly_check_nan_enabled()
