"""Functions that PyTorch 1.13 has taken away: they say what to use."""

from __future__ import annotations

from typing import Any


def _removed(name: str, following: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed. Please use the `torch.linalg.{following}` function instead."
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises RuntimeError: torch.linalg.{following} has taken its place."
    return refuse


eig, lstsq = _removed("eig", "eig"), _removed("lstsq", "lstsq")
solve, matrix_rank = _removed("solve", "solve"), _removed("matrix_rank", "matrix_rank")
