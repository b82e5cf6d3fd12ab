"""torch.cond: a decision by the elements of a tensor."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._higher_order_ops._operator import HigherOrderOperator, tensor_leaves
from torchjit.utils import _pytree as pytree


def _decide(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    return (true_fn if bool(pred) else false_fn)(*operands)


cond_op = HigherOrderOperator("cond", _decide)


def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """true_fn(*operands) where pred is true, else false_fn(*operands).

    pred is a truth value or a tensor of one. The functions take tensors, give tensors of the same shapes and types, and write to
    none of their operands. torch.export captures both, as graphs of their own, where pred is a tensor or compares sizes that are dynamic.
    Raises RuntimeError for other predicates and for branches that differ.
    """
    if not isinstance(pred, (bool, int, torch.Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, torch.Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not all(isinstance(x, (torch.Tensor, int)) for x in pytree.tree_leaves(operands)):
        raise RuntimeError(
            f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}."
        )
    if not isinstance(pred, torch.Tensor) or not _native.export_active():
        return _decide(pred, true_fn, false_fn, operands)
    _native.export_begin_if(pred)
    yes, spec = tensor_leaves(true_fn, *operands)
    _native.export_end_block(yes, True)
    no, other = tensor_leaves(false_fn, *operands)
    if spec != other:
        raise RuntimeError(f"Unmatched number of outputs from cond() branches: they return {spec} and {other}")
    return pytree.tree_unflatten(_native.export_end_block(no, False), spec)
