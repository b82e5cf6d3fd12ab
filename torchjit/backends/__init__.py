"""torch.backends: which libraries compute. Here it is this one alone; the names are those that programs read."""

from __future__ import annotations

import importlib
from typing import Any

from torchjit.backends._settings import disable_global_flags as disable_global_flags
from torchjit.backends._settings import flags_frozen as flags_frozen

_NAMES = ("cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized", "xeon", "xnnpack")


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return importlib.import_module("torchjit.backends." + name)
    raise AttributeError(f"module 'torch.backends' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_NAMES)
