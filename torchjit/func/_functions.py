"""autograd.Function in the levels of torch.func."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torchjit as torch
from torchjit import _native
from torchjit._dispatch_modes import mode_stack
from torchjit._tensor import Tensor
from torchjit.func._batching import VmapLevel
from torchjit.func._levels import Level, as_given
from torchjit.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What the static method vmap of a Function is told: how many samples there are, and vmap's argument randomness."""

    batch_size: int
    randomness: str


def innermost() -> Any:
    """The level that takes the operators of this thread, None where there is none."""
    modes = mode_stack()
    return modes[-1] if modes and isinstance(modes[-1], Level) else None


@contextmanager
def _outside(level: Level) -> Iterator[None]:
    """A context in the levels around the innermost one."""
    modes = mode_stack()
    modes.pop()
    _native.set_dispatching(bool(modes))
    grad = _native.grad_enabled()
    _native.set_grad_enabled(level.recorded())
    try:
        yield
    finally:
        _native.set_grad_enabled(grad)
        modes.append(level)
        _native.set_dispatching(True)


def check_function(cls: Any, separate: bool) -> None:
    """Raises RuntimeError where a Function cannot be called in a level."""
    if not separate:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context "
            f"staticmethod. {_MORE}"
        )


def forward_outside(level: Any, cls: Any, args: tuple[Any, ...]) -> Any:
    """The result of a Function in a level of grad: the levels around it call the Function, too, each with a derivative of its own."""
    values, given = level.values(args)
    with _outside(level):
        made = cls.apply(*values)
    return as_given(made, given, level.wrap)


def call_batched(level: VmapLevel, cls: Any, args: tuple[Any, ...], has_vmap: bool) -> Any:
    """The result of a Function in a level of vmap."""
    if cls.generate_vmap_rule:
        if has_vmap:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set "
                f"generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. {_MORE}"
            )
    elif not has_vmap:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap staticmethod or set "
            f"generate_vmap_rule=True. {_MORE}"
        )
    leaves, spec = tree_flatten(args)
    batched = [level.has(x) for x in leaves]
    values = [level_value(level, x) for x in leaves]
    if not any(batched):
        with _outside(level):
            return cls.apply(*args)
    if not has_vmap:
        with _outside(level):
            made = _generated(level, cls, batched).apply(*tree_unflatten(values, spec))
        return level.batch_all(made)
    dims = tree_unflatten([0 if b else None for b in batched], spec)
    with _outside(level):
        result = cls.vmap(VmapInfo(level.size, level.randomness), tuple(dims), *tree_unflatten(values, spec))
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. "
            f"Got a {type(result)} instead"
        )
    output, out_dims = result
    found, out_spec = tree_flatten(output)
    flat_dims = _broadcast_to_and_flatten(out_dims, out_spec)
    if flat_dims is None:
        raise RuntimeError(
            f"Expected the vmap staticmethod to give out_dims with a structure compatible with the output's, {out_spec}, got {out_dims}"
        )
    made = [x if d is None or not isinstance(x, Tensor) else level.batch(x if d == 0 else x.movedim(d, 0)) for x, d in zip(found, flat_dims, strict=True)]
    return tree_unflatten(made, out_spec)


def level_value(level: Level, x: Any) -> Any:
    return x._value if level.has(x) else x


class _Context:
    """The context that a Function is given whose calls are batched: what it keeps are tensors of the level."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.saved_tensors: tuple[Any, ...] = ()
        self.needs_input_grad = needs_input_grad
        self.materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize = value

    def mark_non_differentiable(self, *args: Any) -> None:
        self.non_differentiable = args

    def mark_dirty(self, *args: Any) -> None:
        raise RuntimeError("mark_dirty is not supported where generate_vmap_rule=True. Please write a vmap staticmethod")


def _generated(level: VmapLevel, cls: Any, batched: list[bool]) -> Any:
    """A Function whose forward and backward are those of cls, called for samples."""

    class Generated(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*args: Any) -> Any:
            again = VmapLevel(level.size, level.randomness)
            leaves, spec = tree_flatten(args)
            with again:
                output = cls.forward(*tree_unflatten([again.batch(x) if b else x for x, b in zip(leaves, batched, strict=True)], spec))
            return tree_map(lambda x: again.samples(x) if isinstance(x, Tensor) else x, output)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            again = VmapLevel(level.size, level.randomness)
            leaves, spec = tree_flatten(inputs)
            wrapped = tuple(tree_unflatten([again.batch(x) if b else x for x, b in zip(leaves, batched, strict=True)], spec))
            results = tree_map(lambda x: again.batch(x) if isinstance(x, Tensor) else x, output)
            inner = _Context(ctx.needs_input_grad)
            with again:
                cls.setup_context(inner, wrapped, results)
            kept = inner.saved_tensors
            ctx.places = [again.has(x) for x in kept]
            ctx.save_for_backward(*(level_value(again, x) for x in kept))
            ctx.set_materialize_grads(inner.materialize)
            fixed = [id(x) for x in getattr(inner, "non_differentiable", ())]
            flat, given = tree_flatten(results)[0], tree_flatten(output)[0]
            ctx.mark_non_differentiable(*(x for r, x in zip(flat, given, strict=True) if id(r) in fixed))
            ctx.inner = inner

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            again = VmapLevel(level.size, level.randomness)
            inner = ctx.inner
            inner.saved_tensors = tuple(again.batch(x) if b else x for x, b in zip(ctx.saved_tensors, ctx.places, strict=True))
            with again:
                found = cls.backward(inner, *(None if g is None else again.batch(g) for g in grads))
            found = found if isinstance(found, (tuple, list)) else (found,)
            made = []
            for g, b in zip(found, batched, strict=True):
                if isinstance(g, Tensor):
                    g = again.samples(g) if b else again.samples(g).sum(0) if again.has(g) else g * again.size
                made.append(g)
            return tuple(made)

    Generated.__name__ = cls.__name__
    return Generated
