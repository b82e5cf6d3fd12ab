"""torch.cuda.amp: mixed precision on CUDA devices, of which there are none. Programs that ask for it run in full precision."""

from __future__ import annotations

from torchjit.amp.autocast_mode import CudaAutocast as autocast
from torchjit.amp.autocast_mode import custom_bwd, custom_fwd
from torchjit.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
