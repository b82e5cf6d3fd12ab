"""torch.cuda.amp.grad_scaler: losses that are scaled so that gradients of float16 do not vanish."""

from __future__ import annotations

from torchjit.amp.grad_scaler import GradScaler, OptState
from torchjit.cuda.amp.common import amp_definitely_not_available

__all__ = ["GradScaler", "OptState", "amp_definitely_not_available"]
