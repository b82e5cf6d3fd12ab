"""while_loop: turns as long as the elements of tensors ask for them."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._higher_order_ops._operator import HigherOrderOperator, items_of, tensor_leaves
from torchjit.utils import _pytree as pytree


def _turns(cond_fn: Any, body_fn: Any, carried: Any, additional: Any = ()) -> Any:
    given = tuple(carried)
    while True:
        (truth,) = items_of(cond_fn(*given, *additional))
        if not bool(truth):
            return given
        given = tuple(items_of(body_fn(*given, *additional)))


while_loop_op = HigherOrderOperator("while_loop", _turns)


def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> Any:
    """body_fn(*carried) in the place of carried as long as cond_fn(*carried) is true.

    carried_inputs is a tuple or a list of tensors, or of containers of them; body_fn gives as many of the same shapes and types. cond_fn
    gives a truth value, as a tensor of one element. torch.export captures both functions, as graphs of their own. The result is what
    body_fn gave last, carried_inputs if there was no turn. Raises RuntimeError for other arguments.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    leaves, spec = pytree.tree_flatten(carried_inputs)
    if not isinstance(carried_inputs, (tuple, list)) or not all(isinstance(x, torch.Tensor) for x in leaves):
        raise RuntimeError(
            f"Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {carried_inputs}."
        )
    if not _native.export_active():
        return _eager(cond_fn, body_fn, carried_inputs)
    given = pytree.tree_unflatten(_native.export_begin_while(leaves), spec)
    given = pytree.tree_unflatten(_native.export_end_block(tensor_leaves(cond_fn, *given)[0], True), spec)
    results, other = tensor_leaves(body_fn, *given)
    if len(results) != len(leaves):
        raise RuntimeError(f"body_fn should return {len(leaves)} tensors, as many as it is given, but it returned {other}")
    return pytree.tree_unflatten(_native.export_end_block(results, False), other)


def _eager(cond_fn: Any, body_fn: Any, carried: Any) -> Any:
    while True:
        truth = cond_fn(*carried)
        if not isinstance(truth, (bool, torch.Tensor)) or isinstance(truth, torch.Tensor) and truth.numel() != 1:
            raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {truth}")
        if not bool(truth):
            return carried
        given, carried = carried, body_fn(*carried)
        if len(given) > 1 and (not isinstance(carried, (tuple, list)) or len(carried) != len(given)):
            raise RuntimeError(f"body_fn should return {len(given)} values, as many as it is given, but it returned {carried}")
        if not isinstance(carried, (tuple, list)):
            carried = (carried,)
