"""torch.onnx.symbolic_helper: decorators of functions that describe an export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that notes the kinds of the arguments of a function that describes an export."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        f._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return f

    return decorate
