"""Operators that take functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.utils import _pytree as pytree


class HigherOrderOperator:
    """An operator that takes functions: torch.ops.higher_order.cond."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.__name__, self._call = name, call
        self.__qualname__ = name
        self.__module__ = "torch.ops.higher_order"
        self.namespace = "higher_order"

    def name(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __deepcopy__(self, memo: Any = None) -> HigherOrderOperator:
        return self

    def __repr__(self) -> str:
        return f"torch.ops.higher_order.{self.__name__}"


def tensor_leaves(f: Any, *args: Any) -> tuple[list[Any], Any]:
    """The tensors that a function gives, and what holds them. Raises RuntimeError where it gives something else."""
    leaves, spec = pytree.tree_flatten(f(*args))
    for x in leaves:
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"Expected each branch of control flow to return tensors, but it returned {type(x)}")
    return leaves, spec


def items_of(results: Any) -> list[Any]:
    """What a graph gives, one by one."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def check_mapped(name: str, leaves: list[Any]) -> None:
    """Raises RuntimeError unless the leaves are tensors whose first dimensions have one size, which is not 0."""
    if not leaves or not all(isinstance(x, torch.Tensor) for x in leaves):
        raise RuntimeError(f"{name} xs can only consist of tensors. Got xs {leaves}.")
    if any(x.dim() == 0 for x in leaves) or any(bool(len(x) != len(leaves[0])) for x in leaves):
        raise RuntimeError(f"Leading dimensions of {name.lower()} xs must be consistent.")
    if len(leaves[0]) == 0:
        raise RuntimeError(f"Leading dimensions of {name.lower()} xs cannot be 0.")
