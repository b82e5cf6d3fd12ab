"""scan: a function of what it gave before and of the next items."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._higher_order_ops._operator import HigherOrderOperator, check_mapped, items_of
from torchjit.utils import _pytree as pytree


def _run(combine_fn: Any, init: Any, xs: Any, additional: Any = ()) -> Any:
    carried, stacked = list(init), []
    for i in range(len(xs[0])):
        results = items_of(combine_fn(*carried, *(x[i] for x in xs), *additional))
        carried = results[: len(carried)]
        stacked.append(results[len(carried) :])
    return (*carried, *(torch.stack(list(column)) for column in zip(*stacked, strict=True)))


scan_op = HigherOrderOperator("scan", _run)


def scan(combine_fn: Any, init: Any, xs: Any, *, dim: int = 0, reverse: bool = False) -> Any:
    """(carry, ys): combine_fn(carry, x) gives the next carry and y, for each x along dim of xs; the ys are stacked along the first dimension.

    init, the first carry, and xs are tensors or containers of them; every carry is like init. reverse begins with the last x.
    torch.export captures combine_fn as a graph of its own. Raises RuntimeError for other arguments.
    """
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    first, carry_spec = pytree.tree_flatten(init)
    leaves, spec = pytree.tree_flatten(xs)
    if not first or not all(isinstance(x, torch.Tensor) for x in first):
        raise RuntimeError(f"All init leaves must be a Tensor, and there must be one, but got {init}")
    leaves = [x.movedim(dim, 0) for x in leaves]
    leaves = [x.flip(0) for x in leaves] if reverse else leaves
    check_mapped("Scanned", leaves)
    found: list[Any] = []

    def flat(*given: Any) -> Any:
        carry, y = combine_fn(
            pytree.tree_unflatten(list(given[: len(first)]), carry_spec), pytree.tree_unflatten(list(given[len(first) :]), spec)
        )
        carried, other = pytree.tree_flatten(carry)
        if other != carry_spec:
            raise RuntimeError(f"The carry that combine_fn returns has the structure {other}, and init {carry_spec}")
        results, out = pytree.tree_flatten(y)
        found[:] = [out]
        return (*carried, *results)

    if _native.export_active():
        results = flat(*_native.export_begin_scan(first, leaves))
        results = _native.export_end_block(list(results), False)
    else:
        results = list(_run(flat, first, leaves))
    ys = [y.flip(0) for y in results[len(first) :]] if reverse else results[len(first) :]
    return pytree.tree_unflatten(results[: len(first)], carry_spec), pytree.tree_unflatten(ys, found[0])
