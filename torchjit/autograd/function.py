"""torch.autograd.Function: operations with derivatives written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._dispatch_modes import mode_stack
from torchjit._tensor import Tensor
from torchjit.autograd._nesting import _iter_filter as _iter_filter
from torchjit.autograd._nesting import _iter_jit_values as _iter_jit_values
from torchjit.autograd._nesting import _iter_None_tensors as _iter_None_tensors
from torchjit.autograd._nesting import _iter_tensors as _iter_tensors
from torchjit.autograd._nesting import _iter_tensors_permissive as _iter_tensors_permissive
from torchjit.autograd._nesting import _jit_unwrap_structured as _jit_unwrap_structured
from torchjit.autograd._nesting import _map_tensor_data as _map_tensor_data
from torchjit.autograd._nesting import _nested_map as _nested_map
from torchjit.autograd._nesting import _unflatten as _unflatten
from torchjit.autograd.grad_mode import no_grad


class FunctionCtx:
    """What forward leaves for backward."""

    _saved: tuple[Any, ...] = ()
    _dirty: tuple[Any, ...] = ()
    _non_differentiable: tuple[Any, ...] = ()
    _saved_for_forward: tuple[Any, ...] = ()
    _materialize = True

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors, or None, for backward, which finds them in saved_tensors."""
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors, or None, for jvp, which finds them in saved_tensors."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError("save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.")
        self._saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Says that forward has written these arguments in place; it must return them."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Says that these results have no gradient."""
        self._non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Kept for old programs; does nothing."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros, and not None, where no gradient arrived. The default is True."""
        self._materialize = value


def _without_history(t: Any) -> Any:
    """A view of a tensor that is not recorded; what its class has in the place of elements keeps a history of its own."""
    with no_grad():
        return _native.operator("aten::alias")(t)


class _Saved:
    """The tensors of save_for_backward. Results are kept without their history, which would hold them for ever; hooks on saved tensors
    get them all."""

    def __init__(self, tensors: tuple[Any, ...], inputs: list[Any], outputs: list[Any]) -> None:
        made = {id(t): i for i, t in enumerate(outputs) if isinstance(t, Tensor)}
        given = {id(t): i for i, t in enumerate(inputs)}
        hooks = _native.saved_hooks()
        self.unpack = hooks and hooks[1]
        self.items: list[tuple[Any, int | None, int | None, int]] = []
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {len(self.items)} is of type {type(t).__name__}")
            if t is None:
                self.items.append((None, None, None, 0))
                continue
            output = made.get(id(t))
            kept = _without_history(t) if output is not None and t.requires_grad else t
            version = -1 if t.is_inference() else t._version
            if hooks:
                with no_grad():
                    kept = hooks[0](kept)
            self.items.append((kept, given.get(id(t)), output, version))

    def get(self, node: Any, recording: bool) -> tuple[Any, ...]:
        return tuple(None if kept is None else self._one(node, recording, *item) for item in self.items for kept in item[:1])

    def _one(self, node: Any, recording: bool, kept: Any, given: int | None, output: int | None, version: int) -> Any:
        if self.unpack:
            with no_grad():
                kept = self.unpack(kept)
            if recording and given is not None and node is not None:
                maker, number = _native.grad_node_next(node)[given]
                return kept if maker is None else _native.grad_node_output(maker, number, kept)
        elif version >= 0 and kept._version != version:
            made = f", which is output {kept.output_nr} of {type(kept.grad_fn).__name__}," if kept.grad_fn is not None else ""
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{kept.type()} {list(kept.shape)}]{made} is at version {kept._version}; expected version {version} instead. Hint: enable "
                "anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
            )
        if recording and output is not None and node is not None and not kept.requires_grad:
            return _native.grad_node_output(node, output, _without_history(kept))
        return kept


class BackwardCFunction(FunctionCtx):
    """The context of one call while it is differentiated."""

    saved: _Saved | None = None
    _node: Any = None
    _recording = False
    _in_jvp = False

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward kept."""
        if self._in_jvp:
            return self._saved_for_forward
        if self.saved is None:
            return self._saved
        return self.saved.get(self._node, self._recording)

    saved_variables = saved_tensors

    @property
    def to_save(self) -> tuple[Any, ...] | None:
        """What save_for_backward was given, None where it was not called."""
        return self._saved or None

    @property
    def saved_for_forward(self) -> tuple[Any, ...] | None:
        """What save_for_forward was given, None where it was not called."""
        return self._saved_for_forward or None

    @property
    def dirty_tensors(self) -> tuple[Any, ...] | None:
        """What mark_dirty was given, None where it was not called."""
        return self._dirty or None

    @property
    def non_differentiable(self) -> tuple[Any, ...] | None:
        """What mark_non_differentiable was given, None where it was not called."""
        return self._non_differentiable or None

    def name(self) -> str:
        return type(self).__name__


# What takes the place of calls of classes with a method symbolic while a model is traced to be exported: see torchjit.onnx.
_exported: Callable[[Any, tuple[Any, ...]], Any] | None = None


class FunctionMeta(type):
    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """An operation with a derivative of its own: subclass it, write the static methods forward and backward, call apply.

    forward(ctx, *args) computes, and leaves what backward needs by ctx.save_for_backward; backward(ctx, *grads)
    returns a gradient, or None, for each argument of forward.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> w = torch.tensor([3.0], requires_grad=True)
    >>> Square.apply(w).backward()
    >>> w.grad
    tensor([6.])
    """

    _backward_cls: type
    is_traceable = False
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
            "class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the results."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Leaves what backward needs, of the arguments and the results of a forward that has no argument ctx: forward(*args).

        A class that defines it may be called in functions that torch.func transforms.
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """What apply gives under torch.func.vmap: the results for all samples, and their dimensions of the samples.

        info has batch_size and randomness; in_dims has for each argument the dimension of the samples, None where it has none. A class that sets
        generate_vmap_rule = True needs none: forward and backward are then called for all samples at once.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
        )

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Computes the gradients of forward's arguments from those of its results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Computes the tangents of forward's results from those of its arguments."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward and records the call."""
        if kwargs:
            raise TypeError("apply() takes no keyword arguments")
        level = _innermost_level() if mode_stack() else None
        if level is not None:
            return _in_level(level, cls, args)
        if _exported is not None:
            return _exported(cls, args) if hasattr(cls, "symbolic") else cls._call(*args)
        if _native.is_tracing() and _native.trace_begin_function([a for a in args if isinstance(a, Tensor)]):
            return _traced(cls, args)
        return cls._call(*args)

    @classmethod
    def _call(cls, *args: Any, level: Any = None) -> Any:
        ctx = cls._backward_cls()
        inputs = [a for a in args if isinstance(a, Tensor)]
        recording = _native.grad_enabled() and not _native.inference_mode() and any(t.requires_grad for t in inputs)
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        with no_grad(), _Primal():
            separate = cls.setup_context is not Function.setup_context
            if level is not None:
                from torchjit.func import _functions

                result = _functions.forward_outside(level, cls, args)
            else:
                result = cls.forward(*args) if separate else cls.forward(ctx, *args)
            if separate:
                cls.setup_context(ctx, args, result)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if recording:
            outputs = _record(cls, ctx, args, inputs, outputs)
        if _native.in_forward():
            _move(cls, ctx, args, outputs)
        return tuple(outputs) if isinstance(result, (tuple, list)) else outputs[0]


def _innermost_level() -> Any:
    """The level of torch.func that takes the operators of this thread, None where there is none."""
    from torchjit.func import _functions

    return _functions.innermost()


def _in_level(level: Any, cls: Any, args: tuple[Any, ...]) -> Any:
    """Calls a function in a level of torch.func."""
    from torchjit.func import _functions

    _functions.check_function(cls, cls.setup_context is not Function.setup_context)
    if level.batches:
        return _functions.call_batched(level, cls, args, cls.vmap is not Function.vmap)
    return cls._call(*args, level=level)


class _TracedCall:
    """A call that a trace has noted: it is done again with other tensors, and everything else as it was."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = [None if isinstance(a, Tensor) else a for a in args]
        self.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]

    def __call__(self, *tensors: Any) -> Any:
        args = list(self.args)
        for i, t in zip(self.places, tensors, strict=True):
            args[i] = t
        found = _tensors(self.function.apply(*args))
        return found[0] if len(found) == 1 else tuple(found)


def _tensors(result: Any) -> list[Any]:
    """The tensors that a forward has returned."""
    return [t for t in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(t, Tensor)]


def _traced(cls: Any, args: tuple[Any, ...]) -> Any:
    """Calls a function as one node of the trace that is being recorded."""
    convention = "".join("d" if isinstance(a, Tensor) else "c" for a in args)
    constants = ", ".join(repr(a) for a in args if not isinstance(a, Tensor))
    try:
        result = cls._call(*args)
        if _tensors(result):
            _native.trace_end_function(cls.__name__, cls.__module__, convention, constants, _TracedCall(cls, args), _tensors(result))
        else:
            _native.trace_drop_function()
    except BaseException:
        _native.trace_drop_function()
        raise
    return result


class _Primal:
    """A context in which no tangents are computed."""

    def __enter__(self) -> None:
        self.before = _native.set_forward_enabled(False)

    def __exit__(self, *args: Any) -> None:
        _native.set_forward_enabled(self.before)


def _move(cls: Any, ctx: Any, args: tuple[Any, ...], outputs: list[Any]) -> None:
    """Gives the results of a call the tangents that jvp computes."""
    import torchjit as torch

    pairs = [_native.unpack_dual(a) if isinstance(a, Tensor) else (a, None) for a in args]
    if all(v is None for _, v in pairs):
        return
    tangents = [
        torch.zeros_like(primal) if v is None and ctx._materialize and isinstance(primal, Tensor) and primal.is_floating_point() else v
        for primal, v in pairs
    ]
    ctx._in_jvp = True
    try:
        with _Primal():
            moved = cls.jvp(ctx, *tangents)
    finally:
        ctx._in_jvp = False
    moved = moved if isinstance(moved, (tuple, list)) else (moved,)
    if len(moved) != len(outputs):
        raise RuntimeError(f"{cls.__name__}.jvp returned {len(moved)} tangents for {len(outputs)} results")
    for output, v in zip(outputs, moved):
        if v is not None:
            _native.set_tangent(output, v)


def _record(cls: Any, ctx: Any, args: tuple[Any, ...], inputs: list[Any], outputs: list[Any]) -> list[Any]:
    dirty = {id(t) for t in ctx._dirty}
    fixed = {id(t) for t in ctx._non_differentiable}
    given = {id(t) for t in inputs}
    for t in ctx._dirty:
        if id(t) not in {id(o) for o in outputs}:
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.")
    for i, o in enumerate(outputs):
        if isinstance(o, Tensor) and id(o) in given and id(o) not in dirty:
            outputs[i] = _without_history(o).view_as(o)  # the result is a tensor of its own
    recorded = [o if isinstance(o, Tensor) and id(o) not in fixed else None for o in outputs]
    written = [o is not None and id(o) in dirty for o in recorded]
    _native.record_function(ctx.name(), inputs, recorded, written, _Backward(cls, ctx, args, outputs), ctx)
    ctx.saved = _Saved(ctx._saved, inputs, outputs)
    ctx._saved = ctx._dirty = ctx._non_differentiable = ()
    return outputs


class _Backward:
    """What the library calls to differentiate one call of a Function."""

    def __init__(self, cls: Any, ctx: Any, args: tuple[Any, ...], outputs: list[Any]) -> None:
        self.cls, self.ctx = cls, ctx
        self.is_tensor = [isinstance(a, Tensor) for a in args]
        self.shapes = [(o.shape, o.dtype) if isinstance(o, Tensor) else None for o in outputs]

    def __call__(self, node: Any, grads: list[Any]) -> list[Any]:
        import torchjit as torch

        ctx = self.ctx
        if ctx._materialize:
            grads = [
                torch.zeros(like[0], dtype=like[1]) if g is None and like is not None else g
                for g, like in zip(grads, self.shapes)
            ]
        backward = self.cls.vjp if self.cls.vjp is not Function.vjp else self.cls.backward
        ctx._node, ctx._recording = node, _native.grad_enabled()
        try:
            result = backward(ctx, *grads)
        finally:
            ctx._node = None
        result = list(result) if isinstance(result, (tuple, list)) else [result]
        name, wanted = ctx.name(), len(self.is_tensor)
        if len(result) > wanted and all(r is None for r in result[wanted:]):
            result = result[:wanted]
        if len(result) != wanted:
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {wanted}, got {len(result)})")
        for i, (r, is_tensor) in enumerate(zip(result, self.is_tensor)):
            if r is not None and not is_tensor:
                raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable")
            if r is not None and not isinstance(r, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
        return [r for r, is_tensor in zip(result, self.is_tensor) if is_tensor]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Says that a backward cannot be differentiated itself: doing so fails."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recording = _native.grad_enabled()
        with no_grad():
            result = fn(ctx, *args)
        if not recording or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return result
        results = result if isinstance(result, tuple) else (result,)
        marked = tuple(_Once.apply(r.detach(), *[a for a in args if isinstance(a, Tensor)]) if isinstance(r, Tensor) else r for r in results)
        return marked if isinstance(result, tuple) else marked[0]

    return wrapper


class _Once(Function):
    @staticmethod
    def forward(ctx: Any, result: Any, *args: Any) -> Any:
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


class InplaceFunction(Function):
    """A Function that may write its argument in place; kept for old programs."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


def traceable(fn_cls: Any) -> Any:
    """Marks a Function as one that traces see through; kept for old programs."""
    fn_cls.is_traceable = True
    return fn_cls


class NestedIOFunction(Function):
    """A function of nested arguments and results, of old programs: they are lists, tuples and dictionaries of tensors, which forward_extended and
    backward_extended get and give. It is no longer called: such functions have no static forward."""

    def __call__(self, *inputs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    def forward_extended(self, *inputs: Any) -> Any:
        raise NotImplementedError

    def backward_extended(self, *gradients: Any) -> Any:
        raise NotImplementedError
