"""torch.utils.checkpoint: computing parts of a model again when gradients are taken, to save memory."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.autograd import Function
from torchjit.autograd.graph import saved_tensors_hooks


def _detached(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x for x in inputs)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors without their history, which require gradients where they did; other things as they are. Raises RuntimeError for what is no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return _detached(inputs)


def check_backward_validity(inputs: Any) -> None:
    """Warns where no input requires a gradient."""
    if not any(x.requires_grad for x in inputs if isinstance(x, torch.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None")


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The GPUs of tensors and the states of their random streams: there are none."""
    return [], []


def set_device_states(devices: Any, states: Any) -> None:
    """Sets the states of the random streams of GPUs. Raises AssertionError where there are to be any."""
    assert not devices, "Torch not compiled with CUDA enabled"


class CheckpointFunction(Function):
    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4)
        ctx.function, ctx.preserve = function, preserve
        ctx.state = torch.get_rng_state() if preserve else None
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.rest = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        given = list(ctx.rest)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            given[i] = t
        args = _detached(tuple(given))
        with torch.random.fork_rng(enabled=ctx.preserve):
            if ctx.preserve:
                torch.set_rng_state(ctx.state)
            with torch.enable_grad():
                outputs = ctx.function(*args)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, torch.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None) + tuple(a.grad if isinstance(a, torch.Tensor) else None for a in args)


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """function(*args) without keeping what its gradient needs: function runs again for it, with the same random numbers."""
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if not use_reentrant:
        return _checkpoint_without_reentrant(function, preserve_rng_state, *args, **kwargs)
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


class _Holder:
    """Stands for a tensor that will be computed again."""


def _get_autocast_kwargs() -> tuple[dict[str, Any], dict[str, Any]]:
    """What an autocast of GPUs and one of the CPU are made with to be as those that are in force."""
    cache = torch.is_autocast_cache_enabled()
    return (
        {"enabled": torch.is_autocast_enabled(), "dtype": torch.get_autocast_gpu_dtype(), "cache_enabled": cache},
        {"enabled": torch.is_autocast_cpu_enabled(), "dtype": torch.get_autocast_cpu_dtype(), "cache_enabled": cache},
    )


def _checkpoint_without_reentrant(function: Callable[..., Any], preserve_rng_state: bool = True, *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs), for which nothing is saved: it runs again when the first saved tensor is asked for, within the same backward."""
    _, autocast = _get_autocast_kwargs()
    state = torch.get_rng_state() if preserve_rng_state else None
    computed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    holders: list[Any] = []

    def pack(tensor: Any) -> _Holder:
        holder = _Holder()
        holders.append(weakref.ref(holder))
        return holder

    def unpack(holder: _Holder) -> Any:
        if not computed:
            again()
        if holder not in computed:
            raise RuntimeError(
                "Attempt to retrieve a tensor saved by autograd multiple times without checkpoint recomputation being triggered in between, this is not "
                "currently supported. Please open an issue with details on your use case so that we can prioritize adding this."
            )
        return computed[holder]

    def again() -> None:
        left = iter(holders)

        def keep(tensor: Any) -> None:
            holder = next(left)()
            if holder is not None:
                computed[holder] = tensor.detach()

        def refuse(packed: Any) -> Any:
            raise RuntimeError("You are calling backwards on a tensor that is never exposed. Please open an issue.")

        with torch.random.fork_rng(enabled=preserve_rng_state), torch.enable_grad(), torch.autocast("cpu", **autocast):
            if state is not None:
                torch.set_rng_state(state)
            with saved_tensors_hooks(keep, refuse):
                function(*args, **kwargs)

    with saved_tensors_hooks(pack, unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(functions: Any, segments: int, input: Any, **kwargs: Any) -> Any:
    """Runs a Sequential in segments of which all but the last are checkpoints."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for layer in layers[start:end]:
                x = layer(x)
            return x

        return forward

    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(run(start, start + size), input, preserve_rng_state=preserve)
    return run(size * (segments - 1), len(layers))(input)
