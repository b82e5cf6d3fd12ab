"""Modes that see every operator below autograd. There is no such place in this version: entering one fails."""

from __future__ import annotations

from typing import Any


class TorchDispatchMode:
    """A class of PyTorch's that others derive from. Raises NotImplementedError when it is entered."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """What would be called with every operator."""
        raise NotImplementedError()

    def __enter__(self) -> Any:
        raise NotImplementedError("torchjit has no dispatcher below autograd: torch.overrides.TorchFunctionMode sees calls as they are written")

    def __exit__(self, *exception: object) -> None:
        pass

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Makes a mode."""
        return cls(*args, **kwargs)
