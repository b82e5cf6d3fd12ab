"""Functions that PyTorch 1.13 has taken away: they say what to use."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def _removed(name: str, following: str) -> Callable[..., NoReturn]:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed.",
            f"Please use the `torch.linalg.{following}` function instead.",
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises RuntimeError: torch.linalg.{following} has taken its place."
    return refuse


eig: Callable[..., NoReturn] = _removed("eig", "eig")
lstsq: Callable[..., NoReturn] = _removed("lstsq", "lstsq")
solve: Callable[..., NoReturn] = _removed("solve", "solve")
matrix_rank: Callable[..., NoReturn] = _removed("matrix_rank", "matrix_rank")
