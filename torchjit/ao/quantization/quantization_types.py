"""The types of patterns, and of what quantizes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from torchjit.fx import Node

# Patterns are functions, classes, or nested pairs of them.
Pattern = Union[Callable, tuple[Callable, Callable], tuple[Callable, tuple[Callable, Callable]], Any]  # noqa: UP007
NodePattern = Union[tuple[Node, Node], tuple[Node, tuple[Node, Node]], Any]  # noqa: UP007
QuantizerCls = Any

__all__ = ["NodePattern", "Pattern", "QuantizerCls"]
