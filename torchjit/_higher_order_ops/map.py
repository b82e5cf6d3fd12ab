"""map: a function of the items of the first dimension."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._higher_order_ops._operator import HigherOrderOperator, check_mapped, items_of
from torchjit.utils import _pytree as pytree


def _apply(f: Any, xs: Any, args: Any) -> Any:
    results = [f(*(x[i] for x in xs), *args) for i in range(len(xs[0]))]
    if isinstance(results[0], (tuple, list)):
        return tuple(torch.stack(list(column)) for column in zip(*results, strict=True))
    return torch.stack(results)


map_impl = HigherOrderOperator("map_impl", lambda f, xs, args: _apply(f, list(xs), list(args)))


def map(f: Any, xs: Any, *args: Any) -> Any:
    """f(x, *args) for each x of the first dimension of xs, stacked.

    xs is a tensor or a container of tensors whose first dimensions have one size, which is not 0. f gives tensors.
    torch.export captures f as a graph of its own.
    """
    leaves, spec = pytree.tree_flatten(xs)
    check_mapped("Mapped", leaves)
    found: list[Any] = []

    def flat(*given: Any) -> Any:
        result, out = pytree.tree_flatten(f(pytree.tree_unflatten(list(given[: len(leaves)]), spec), *given[len(leaves) :]))
        found[:] = [out]
        return tuple(result)

    if not _native.export_active():
        return pytree.tree_unflatten(items_of(_apply(flat, leaves, args)), found[0])
    results = flat(*_native.export_begin_map(leaves), *args)
    return pytree.tree_unflatten(_native.export_end_block(list(results), False), found[0])
