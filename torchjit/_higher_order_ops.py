"""Control flow as operators: torch.cond and map, which torch.export captures as calls with graphs of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _native
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


def _decide(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    return (true_fn if bool(pred) else false_fn)(*operands)


def _apply(f: Any, xs: Any, args: Any) -> Any:
    count = len(xs[0])
    results = [f(*(x[i] for x in xs), *args) for i in range(count)]
    if isinstance(results[0], (tuple, list)):
        return tuple(torch.stack(list(column)) for column in zip(*results, strict=True))
    return torch.stack(results)


def _map_impl(f: Any, xs: Any, args: Any) -> Any:
    return _apply(f, list(xs), list(args))


cond_op = HigherOrderOperator("cond", _decide)
map_impl = HigherOrderOperator("map_impl", _map_impl)


def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """true_fn(*operands) where pred is true, else false_fn(*operands).

    pred is a truth value or a tensor of one. The functions take tensors, give tensors of the same shapes and types, and write to
    none of their operands. torch.export captures both, as graphs of their own, where pred is a tensor.
    Raises RuntimeError for other predicates and for branches that differ.
    """
    if not isinstance(pred, (bool, int, torch.Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, torch.Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callbale.")
    if not isinstance(operands, (tuple, list)) or not all(isinstance(x, (torch.Tensor, int)) for x in pytree.tree_flatten(operands)[0]):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got "
            f"{operands}."
        )
    if not isinstance(pred, torch.Tensor) or not _native.export_active():
        return _decide(pred, true_fn, false_fn, operands)
    _native.export_begin_if(pred)
    yes, spec = _branch(true_fn, operands)
    _native.export_end_block(yes, True)
    no, other = _branch(false_fn, operands)
    if spec != other:
        raise RuntimeError(f"The branches of cond return other containers: {spec} and {other}")
    return pytree.tree_unflatten(_native.export_end_block(no, False), spec)


def _branch(f: Any, operands: Any) -> tuple[list[Any], Any]:
    leaves, spec = pytree.tree_flatten(f(*operands))
    for x in leaves:
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"Expected each branch of control flow to return tensors, but it returned {type(x)}")
    return leaves, spec


def map(f: Any, xs: Any, *args: Any) -> Any:
    """f(x, *args) for each x of the first dimension of xs, stacked.

    xs is a tensor or a container of tensors whose first dimensions have one size, which is not 0. f gives tensors.
    torch.export captures f as a graph of its own.
    """
    leaves, spec = pytree.tree_flatten(xs)
    if not leaves or not all(isinstance(x, torch.Tensor) for x in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    if any(x.dim() == 0 for x in leaves) or len({len(x) for x in leaves}) > 1:
        raise RuntimeError("Leading dimensions of mapped xs must be consistent.")
    if len(leaves[0]) == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    found: list[Any] = []

    def flat(*given: Any) -> Any:
        result, out = pytree.tree_flatten(f(pytree.tree_unflatten(list(given[: len(leaves)]), spec), *given[len(leaves) :]))
        found[:] = [out]
        return tuple(result)

    if not _native.export_active():
        return pytree.tree_unflatten(list(_apply(flat, leaves, args)), found[0])
    results = flat(*_native.export_begin_map(leaves), *args)
    return pytree.tree_unflatten(_native.export_end_block(list(results), False), found[0])
