"""The autocast of the CPU."""

from __future__ import annotations

import torchjit as torch
from torchjit.amp import autocast_mode
from torchjit.amp.autocast_mode import Any, dtype


class autocast(autocast_mode.autocast):
    """torch.autocast("cpu", dtype, enabled, cache_enabled)."""

    def __init__(self, enabled: bool = True, dtype: dtype = torch.bfloat16, cache_enabled: bool = True):
        if torch.jit.is_scripting():
            self._enabled = enabled
            self.device = "cpu"
            self.fast_dtype = dtype
            return
        super().__init__("cpu", dtype, enabled, cache_enabled)

    def __enter__(self):
        if torch.jit.is_scripting():
            return self
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if torch.jit.is_scripting():
            return
        super().__exit__(exc_type, exc_val, exc_tb)

    def __call__(self, func: Any) -> Any:
        if torch.jit.is_scripting():
            return func
        return super().__call__(func)
