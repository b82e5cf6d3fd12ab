"""torch.cuda.amp: mixed precision on CUDA devices. Where there is none, programs that ask for it run in full precision, with a warning."""

from __future__ import annotations

from torchjit.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from torchjit.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
