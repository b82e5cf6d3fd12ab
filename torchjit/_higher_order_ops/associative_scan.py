"""associative_scan: running combinations of items."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit._higher_order_ops._operator import check_mapped
from torchjit.utils import _pytree as pytree


def associative_scan(combine_fn: Any, xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise") -> Any:
    """What combine_fn makes of the first one, two, three, ... items along dim: xs[0], combine_fn(xs[0], xs[1]), ...

    xs is a tensor or a container of tensors, and combine_fn takes and gives such ones without that dimension; it is associative.
    reverse begins with the last item. An export has a call for each item. Raises ValueError for another combine_mode than pointwise and
    generic.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = pytree.tree_flatten(xs)
    leaves = [x.movedim(dim, 0) for x in leaves]
    check_mapped("Scanned", leaves)
    order = list(range(len(leaves[0])))
    order = order[::-1] if reverse else order
    results = [pytree.tree_unflatten([x[order[0]] for x in leaves], spec)]
    for i in order[1:]:
        results.append(combine_fn(results[-1], pytree.tree_unflatten([x[i] for x in leaves], spec)))
    results = results[::-1] if reverse else results
    return pytree.tree_map(lambda *items: torch.stack(items).movedim(0, dim), *results)
