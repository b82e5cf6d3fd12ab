"""Hooks around the calls of modules: those of all modules, and those that see gradients."""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torchjit._tensor import Tensor


class RemovableHandle:
    """What registering a hook returns; remove() takes the hook away."""

    _ids = itertools.count()
    next_id: int = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.id: int = next(self._ids)
        self._hooks, self._extra = hooks_dict, extra_dict

    def remove(self) -> None:
        """Takes the hook away. A second time does nothing."""
        self._hooks.pop(self.id, None)
        if self._extra is not None:
            self._extra.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.remove()


def add(hooks: Any, hook: Callable[..., Any]) -> RemovableHandle:
    """Adds a hook to those of a dict."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


# The hooks of all modules, which run before a module's own.
global_forward_pre: OrderedDict[int, Any] = OrderedDict()
global_forward: OrderedDict[int, Any] = OrderedDict()
global_backward: OrderedDict[int, Any] = OrderedDict()
_is_global_full: list[bool | None] = [None]

_MIXED = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, args) before the forward of every module; what it returns replaces the arguments."""
    return add(global_forward_pre, hook)


def register_module_forward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, args, result) after the forward of every module; what it returns replaces the result."""
    return add(global_forward, hook)


def _register_global_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if not global_backward:
        _is_global_full[0] = None
    if _is_global_full[0] is (not full):
        raise RuntimeError(_MIXED)
    _is_global_full[0] = full
    return add(global_backward, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) when gradients of the inputs of any module are there.

    What it returns takes the place of grad_input.
    """
    return _register_global_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """As register_module_full_backward_hook, with the gradients of the last operation of forward for grad_input."""
    return _register_global_backward(hook, False)


def backward_hooks(module: Any) -> tuple[list[Any], list[Any]]:
    """The full hooks and the others that see the gradients of a module."""
    full: list[Any] = []
    others: list[Any] = []
    if global_backward:
        (full if _is_global_full[0] else others).extend(global_backward.values())
    own = module.__dict__.get("_backward_hooks")
    if own:
        (full if module._is_full_backward_hook else others).extend(own.values())
    return full, others


class FullBackward:
    """One call of a module whose gradients hooks see."""

    def __init__(self, module: Any, hooks: list[Any]) -> None:
        self.module, self.hooks = module, hooks
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs_recorded = False
        self.n_inputs = 0

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, made so that their gradients pass here."""
        wrapped = self._wrap(args, self._on_input)
        self.inputs_recorded = wrapped is not args
        self.n_inputs = len(args)
        return wrapped

    def wrap_result(self, result: Any) -> Any:
        """The result, made so that its gradients pass here."""
        if isinstance(result, Tensor):
            return self._wrap((result,), self._on_output)[0]
        return type(result)(self._wrap(tuple(result), self._on_output)) if isinstance(result, (tuple, list)) else result

    def _wrap(self, args: tuple[Any, ...], callback: Callable[..., Any]) -> tuple[Any, ...]:
        import torchjit
        from torchjit.autograd.function import Function

        at = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
        if not at or not torchjit.is_grad_enabled():
            return args

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx: Any, *tensors: Any) -> Any:
                ctx.set_materialize_grads(False)
                return tuple(t.view_as(t) for t in tensors)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                spread: list[Any] = [None] * len(args)
                for i, g in zip(at, grads, strict=True):
                    spread[i] = g
                changed = callback(tuple(spread))
                return tuple(changed[i] for i in at)

        passed = BackwardHookFunction.apply(*(args[i] for i in at))
        items = list(args)
        for i, t in zip(at, passed, strict=True):
            items[i] = t
        return tuple(items)

    def _on_output(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        self.grad_output = grads
        if not self.inputs_recorded:
            for hook in self.hooks:
                if hook(self.module, (None,) * self.n_inputs, grads) is not None:
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                    )
        return grads

    def _on_input(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_output is None:
            raise RuntimeError(
                "Module backward hook for grad_input is called before the grad_output one. This happens because the gradient in your nn.Module flows to the Module's input without passing through the Module's output. Make sure that the output depends on the input and that the loss is computed based on the output."
            )
        for hook in self.hooks:
            changed = hook(self.module, grads, self.grad_output)
            if changed is None:
                continue
            changed = changed if isinstance(changed, tuple) else (changed,)
            if len(changed) != len(grads):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected {len(grads)}"
                )
            grads = changed
        return grads


_LATER = "is deprecated and will be removed in future versions. This hook will be missing"
_DOCUMENTED = "Please use register_full_backward_hook to get the documented behavior."


def warn_of_missing_gradients(inputs: Any, result: Any, grad_fn: Any) -> None:
    """Warns where the last operation of a call, grad_fn, does not have the gradients of all inputs and of all that the call gives."""

    def tensors(values: Any) -> bool:
        return isinstance(values, Tensor) or isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)

    if not tensors(result):
        what = f"Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors {_LATER} some of the grad_output. {_DOCUMENTED}"
    elif not tensors(inputs):
        what = f"Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors {_LATER} some of the grad_input. {_DOCUMENTED}"
    elif grad_fn is None:
        what = f"Using a non-full backward hook when outputs are nested in python data structure {_LATER} some grad_output."
    else:
        given = (inputs,) if isinstance(inputs, Tensor) else inputs
        if {value.grad_fn for value in given} == {before for before, _ in grad_fn.next_functions}:
            return
        what = f"Using a non-full backward hook when the forward contains multiple autograd Nodes {_LATER} some grad_input. {_DOCUMENTED}"
    warnings.warn(what, stacklevel=2)


def hook_last_operation(module: Any, hooks: list[Any], inputs: Any, result: Any) -> None:
    """Has hooks see the gradients of the last operation of forward, as they did before there were full hooks."""
    found = result
    while not isinstance(found, Tensor):
        found = next((v for v in found.values() if isinstance(v, Tensor)), None) if isinstance(found, dict) else found[0]
        if found is None:
            return
    if found.grad_fn is not None:
        module._maybe_warn_non_full_backward_hook(inputs, result, found.grad_fn)
        for hook in hooks:
            found.grad_fn.register_hook(lambda grad_in, grad_out, hook=hook: hook(module, grad_in, grad_out))


class TensorHooks:
    """What the library calls with the gradient of a tensor: the hooks of a dict, one after the other."""

    def __init__(self, hooks: Any) -> None:
        self.hooks = hooks

    def __call__(self, grad: Any) -> Any:
        given = grad
        for hook in list(self.hooks.values()):
            made = hook(grad)
            if made is None:
                continue
            if not isinstance(made, Tensor):
                raise TypeError(f"expected Variable, but hook returned '{type(made).__name__}'")
            name = getattr(hook, "__name__", type(hook).__name__)
            if made.shape != grad.shape:
                raise RuntimeError(f"hook '{name}' has changed the size of value")
            if made.dtype != grad.dtype:
                raise RuntimeError(f"hook '{name}' has changed the type of value (was {grad.type()} got {made.type()})")
            grad = made
        return None if grad is given else grad
