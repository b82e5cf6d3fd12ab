"""vmap: a function of samples as a function of batches of them. The function is called once for each sample, and its results are stacked."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit.func._vmap import batched_inputs
from torchjit.utils._pytree import tree_unflatten

__all__ = ["vmap"]


def _get_name(func: Any) -> str:
    return getattr(func, "__name__", repr(func))


def _as_tuple(value: Any, num_elements: int, error_message_lambda: Callable[[], str]) -> tuple[Any, ...]:
    """The elements of a tuple, or one value as often as it is wanted."""
    if not isinstance(value, tuple):
        return (value,) * num_elements
    if len(value) != num_elements:
        raise ValueError(error_message_lambda())
    return value


def _stacked(results: list[Any], out_dims: Any, name: str, allow_none_pass_through: bool) -> Any:
    """The results of the samples as those of the batch."""
    first = results[0]
    one = isinstance(first, Tensor) or first is None and allow_none_pass_through
    parts = [(result,) if one else result for result in results]
    if not isinstance(parts[0], tuple):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(first)} as the return.")
    for part in parts[0]:
        if not isinstance(part, Tensor) and not (part is None and allow_none_pass_through):
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(part)} for return 0.")
    if not (isinstance(out_dims, int) or isinstance(out_dims, tuple) and all(isinstance(dim, int) for dim in out_dims)):
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int or a tuple of int representing where in the outputs the vmapped dimension should appear.")
    count = len(parts[0])
    dims = _as_tuple(
        out_dims, count, lambda: f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must have one dim per output (got {count} outputs) of {name}."
    )
    stack = _native.operator("aten::stack")
    made = tuple(None if part[0] is None else stack(list(part), dim) for part, dim in zip(zip(*parts, strict=True), dims, strict=True))
    return made[0] if one else made


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """A function of batches that calls func for each sample. in_dims says which dimension of each argument has the samples, None: all have the
    argument. out_dims says where that dimension stands in each result.

    >>> from torchjit._vmap_internals import vmap
    >>> vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    warnings.warn(
        "Please use functorch.vmap instead of torch.vmap (https://github.com/pytorch/functorch). "
        "We've moved development on torch.vmap over to functorch; functorch's vmap has a multitude of significant performance and "
        "functionality improvements.",
        stacklevel=2,
    )
    return _vmap(func, in_dims, out_dims)


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False) -> Callable[..., Any]:
    """vmap without a warning; allow_none_pass_through: func may return None."""

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        count, leaves, dims, spec = batched_inputs(in_dims, args, _get_name(func), from_behind=False)
        results = []
        for i in range(count):
            sample = [leaf if dim is None else leaf.select(dim, i) for leaf, dim in zip(leaves, dims, strict=True)]
            results.append(func(*tree_unflatten(sample, spec)))
        if not results:
            raise RuntimeError("vmap: a batch without samples does not say what the function returns")
        return _stacked(results, out_dims, _get_name(func), allow_none_pass_through)

    return wrapped
