"""torch.utils.hooks: handles of registered hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit.nn.modules._hooks import RemovableHandle as RemovableHandle


class RemovableHook:
    """What registering a hook of a tensor returns."""

    def __init__(self, remove: Callable[[], None]) -> None:
        self._remove: Callable[[], None] | None = remove

    def remove(self) -> None:
        """Ends that the hook is called."""
        if self._remove is not None:
            self._remove()
            self._remove = None

    def __enter__(self) -> RemovableHook:
        return self

    def __exit__(self, *args: Any) -> None:
        self.remove()
