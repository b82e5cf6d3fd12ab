"""Scaling of losses, which is disabled where there is no CUDA device: never more than passing on."""

from __future__ import annotations

import warnings
from typing import Any


class GradScaler:
    """Scales losses so that small gradients of float16 are kept. Without a CUDA device it is disabled, as in PyTorch."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True
    ) -> None:
        if enabled:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)

    def is_enabled(self) -> bool:
        return False

    def get_scale(self) -> float:
        return 1.0

    def scale(self, outputs: Any) -> Any:
        """The outputs."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Does nothing: there is no scale."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs)."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Does nothing: there is no scale."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Does nothing: there is no state."""
