"""torch.utils.hooks: handles of registered hooks."""

from __future__ import annotations

from torchjit.nn.modules._hooks import RemovableHandle as RemovableHandle
