"""vmap: a function of samples as a function of batches of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor
from torchjit.func._batching import VmapLevel
from torchjit.utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def name_of(func: Any) -> str:
    """What messages call a function."""
    return getattr(func, "__name__", None) or (f"partial({name_of(func.func)}, ...)" if isinstance(func, functools.partial) else repr(func))


def check_randomness(randomness: Any) -> None:
    """Raises RuntimeError where vmap's argument randomness is none of the three words."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def batched_inputs(in_dims: Any, args: tuple[Any, ...], name: str, from_behind: bool = True) -> tuple[int, list[Any], list[Any], TreeSpec]:
    """How many samples there are, the leaves of the arguments, the dimension of the samples in each, and the structure. name is the function's
    in messages; from_behind: dimensions may be counted from the last one."""
    start = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{start}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. "
            "The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{start}in_dims is not compatible with the structure of `inputs`. in_dims has structure {tree_flatten(in_dims)[1]} "
            f"but inputs has structure {spec}."
        )
    dims = list(dims)
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if not isinstance(dim, int) and dim is not None:
            raise ValueError(f"{start}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
        if isinstance(dim, int) and not isinstance(leaf, Tensor):
            raise ValueError(
                f"{start}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, "
                "please use None as the respective in_dim"
            )
        if dim is None:
            continue
        if not (-leaf.dim() if from_behind else 0) <= dim < leaf.dim():
            least = f"-{leaf.dim()}" if from_behind else "0"
            raise ValueError(
                f"{start}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} "
                f"so expected in_dim to satisfy {least} <= in_dim < {leaf.dim()}."
            )
        dims[i] = dim % leaf.dim()
    sizes = [leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0], leaves, dims, spec


def _result_dims(outputs: Any, spec: TreeSpec, out_dims: Any, func: Any) -> list[Any]:
    """The dimension of the samples for each result."""
    name = name_of(func)
    if isinstance(out_dims, (int, type(None))) and isinstance(outputs, Tensor):
        return [out_dims]
    if isinstance(outputs, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = _broadcast_to_and_flatten(out_dims, spec)
    where = f"vmap({name}, ..., out_dims={out_dims})"
    if isinstance(out_dims, str) or dims is not None and any(not isinstance(dim, int) and dim is not None for dim in dims):
        raise ValueError(
            f"{where}: `out_dims` must be an int, None or a python collection of ints representing where in the outputs the vmapped dimension should appear."
        )
    if dims is None:
        raise ValueError(
            f"{where}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs "
            f"has structure {spec}."
        )
    return list(dims)


def unbatched(level: VmapLevel, outputs: Any, out_dims: Any, func: Any) -> Any:
    """The results of a function in a level of vmap, each with the samples in a dimension."""
    leaves, spec = tree_flatten(outputs)
    dims = _result_dims(outputs, spec, out_dims, func)
    name, made = name_of(func), []
    for x, dim in zip(leaves, dims, strict=True):
        if not isinstance(x, Tensor):
            if dim is not None:
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= to None for output?"
                )
            made.append(x)
        elif dim is None:
            if level.has(x):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            made.append(x)
        else:
            value = level.samples(x)
            if not -value.dim() <= dim < value.dim():
                raise IndexError(f"Dimension out of range (expected to be in range of [{-value.dim()}, {value.dim() - 1}], but got {dim})")
            made.append(value if dim == 0 else value.movedim(0, dim))
    return tree_unflatten(made, spec)


def call_batched(
    func: Callable[..., Any], size: int, randomness: str, leaves: list[Any], dims: list[Any], spec: TreeSpec, out_dims: Any, kwargs: dict[str, Any]
) -> Any:
    """Calls a function once with tensors that have samples."""
    level = VmapLevel(size, randomness)
    inputs = [x if dim is None else level.batch(x if dim == 0 else x.movedim(dim, 0)) for x, dim in zip(leaves, dims, strict=True)]
    with level:
        outputs = func(*tree_unflatten(inputs, spec), **kwargs)
    return unbatched(level, outputs, out_dims, func)


def _in_chunks(
    func: Callable[..., Any], chunk: int, size: int, randomness: str, leaves: list[Any], dims: list[Any], spec: TreeSpec, out_dims: Any, kwargs: dict[str, Any]
) -> Any:
    """Calls a function with so many samples at a time and joins the results."""
    made, state = [], torch.get_rng_state() if randomness == "same" else None
    for start in range(0, size, chunk):
        some = min(chunk, size - start)
        if state is not None:
            torch.set_rng_state(state)
        part = [x if dim is None else x.narrow(dim, start, some) for x, dim in zip(leaves, dims, strict=True)]
        made.append(call_batched(func, some, randomness, part, dims, spec, out_dims, kwargs))
    flat = [tree_flatten(part) for part in made]
    joined_spec = flat[0][1]
    whole = tree_unflatten([None] * len(flat[0][0]), joined_spec)
    out = [out_dims] if isinstance(whole, type(None)) else _broadcast_to_and_flatten(out_dims, joined_spec)
    assert out is not None
    joined = [items[0] if dim is None else torch.cat(list(items), dim) for items, dim in zip(zip(*(leaves for leaves, _ in flat)), out, strict=True)]
    return tree_unflatten(joined, joined_spec)


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function of batches that gives what func gives for each sample.

    in_dims says which dimension of each argument has the samples, None: all have the argument; it is a number for all of them, or is nested as
    the arguments are. out_dims says so for the results. randomness: what random operators do in func: "error" raises, "same" draws once for all
    samples, "different" draws for each. chunk_size: how many samples func is called with at a time, all where it is None.

    Raises ValueError where in_dims or out_dims do not fit or sizes differ, and RuntimeError for what cannot be done for all samples at once:
    .item(), if statements about tensors, results whose size depends on the samples, writing samples into a tensor that has none.

    >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    >>> torch.vmap(lambda x, y: x + y, in_dims=(0, None))(torch.arange(3), torch.tensor(10))
    tensor([10, 11, 12])
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        size, leaves, dims, spec = batched_inputs(in_dims, args, name_of(func))
        if chunk_size is not None and size > chunk_size:
            return _in_chunks(func, chunk_size, size, randomness, leaves, dims, spec, out_dims, kwargs)
        return call_batched(func, size, randomness, leaves, dims, spec, out_dims, kwargs)

    return wrapped
