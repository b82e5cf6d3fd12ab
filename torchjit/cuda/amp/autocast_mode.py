"""The autocast of CUDA devices."""

from __future__ import annotations

import torchjit as torch
from torchjit.amp import autocast_mode
from torchjit.amp.autocast_mode import Any, custom_bwd, custom_fwd, dtype

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """torch.autocast("cuda", dtype, enabled, cache_enabled), disabled with a warning where there is no such device."""

    def __init__(self, enabled: bool = True, dtype: dtype = torch.float16, cache_enabled: bool = True):
        if torch.jit.is_scripting():
            self._enabled = enabled
            self.device = "cuda"
            self.fast_dtype = dtype
            return
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def __enter__(self):
        if torch.jit.is_scripting():
            return self
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any):
        if torch.jit.is_scripting():
            return
        return super().__exit__(exc_type, exc_val, exc_tb)

    def __call__(self, func):
        if torch.jit.is_scripting():
            return func
        return super().__call__(func)
