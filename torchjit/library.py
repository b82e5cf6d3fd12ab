"""torch.library: operators of the caller's own.

    lib = Library("mine", "DEF")
    lib.define("scale(Tensor x, float by) -> Tensor")
    impl(lib, "scale", "CPU")(lambda x, by: x * by)
    torch.ops.mine.scale(x, 2.0)

custom_op makes an operator of a function with annotations. A defined operator can be called, compiled, traced, saved, and is known to the
passes over graphs.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

from torchjit import _lazy, _native

_reserved_namespaces = ["prim"]
_own = frozenset(("aten", "quantized", "_quantized", "prims", "sparse", "mkldnn", "prepacked"))

# The libraries of the kind DEF that there are, by namespace.
_defining: weakref.WeakValueDictionary[str, Library] = weakref.WeakValueDictionary()


def _keyword_only(name: str) -> tuple[int, list[str]]:
    """How many arguments of an operator, "ns::name.overload", are positional, and the names of those that are not."""
    from torchjit import _C

    base, _, overload = name.partition(".")
    for schema in _C._jit_get_schemas_for_operator(base):
        if schema.overload_name == ("" if overload == "default" else overload):
            names = [a.name for a in schema.arguments if a.kwarg_only]
            return len(schema.arguments) - len(names), names
    return 0, []


def implement(name: str, fn: Callable[..., Any], key: str) -> None:
    """Gives an operator a Python function, which gets the operator's keyword-only arguments by keyword."""
    count, names = _keyword_only(name)
    run = fn
    if names:

        def run(*args: Any) -> Any:
            return fn(*args[:count], **dict(zip(names, args[count:], strict=True)))

    _native.implement_operator(name, run, key)


class Library:
    """Adds operators to a namespace ("DEF" or "FRAGMENT"), or implementations to operators that are there ("IMPL").

    dispatch_key: for which tensors the implementations are, where impl does not say.

    >>> lib = torch.library.Library("documented", "DEF")
    >>> _ = lib.define("twice(Tensor x) -> Tensor")
    >>> _ = lib.impl("twice", lambda x: 2 * x, "CPU")
    >>> torch.ops.documented.twice(torch.ones(1))
    tensor([2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: " + kind)
        if ns in _reserved_namespaces:
            raise ValueError(ns + " is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF":
            if ns in _own:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}: its operators are those of torchjit, to which a library of "
                    "the kind FRAGMENT adds some, and one of the kind IMPL implementations."
                )
            if ns in _defining:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}: there is a library of the kind DEF for it, to which "
                    "one of the kind FRAGMENT adds operators, and one of the kind IMPL implementations."
                )
            _defining[ns] = self
        self.ns: str = ns
        self.kind = kind
        self.dispatch_key: str = dispatch_key
        self._implemented: set[tuple[str, str]] = set()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "") -> str:
        """Adds an operator, "name.overload(Tensor x, ...) -> Tensor", and returns its name.

        alias_analysis: "FROM_SCHEMA" (what the annotations say; the default), "PURE_FUNCTION", or "CONSERVATIVE":
        a call may do anything, and is neither removed nor moved.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError("define() cannot be called on a library of the kind IMPL")
        name = _native.define_operator(f"{self.ns}::{schema}", alias_analysis)
        return name.split("::")[1]

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "") -> None:
        """Gives an operator a Python function.

        dispatch_key: "CPU" (gradients need "Autograd" or register_autograd besides), "Autograd", "Meta" (shapes of
        tensors without elements), or "CompositeImplicitAutograd", the default: gradients are those of what fn calls.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if isinstance(op_name, str):
            name = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        else:
            name = str(getattr(op_name, "_qualified_op_name", getattr(op_name, "__name__", op_name)))
        if (name, key) in self._implemented:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {op_name}'s behavior for {key} "
                f"dispatch key and {self.ns} namespace."
            )
        implement(name, fn, key)
        self._implemented.add((name, key))


def impl(lib: Library, name: Any, dispatch_key: str = "") -> Callable[[Any], Any]:
    """A decorator for Library.impl."""

    def wrap(f: Any) -> Any:
        lib.impl(name, f, dispatch_key)
        return f

    return wrap


def define(lib: Library, schema: str, alias_analysis: str = "") -> Callable[[Any], Any]:
    """A decorator that defines an operator and implements it by the function."""

    def wrap(f: Any) -> Any:
        name = lib.define(schema, alias_analysis)
        lib.impl(name, f)
        return f

    return wrap


def register_autograd(op: str, backward: Callable[..., Any], *, setup_context: Callable[..., Any] | None = None) -> None:
    """Gives an operator, "ns::name", a derivative.

    backward(ctx, *grads) returns the gradients of the positional arguments; setup_context(ctx, inputs, output) keeps what it needs.
    It has a parameter keyword_only_inputs, a dictionary, where the operator has keyword-only arguments.
    """
    from torchjit.autograd import Function
    from torchjit.autograd.grad_mode import no_grad

    ns, name = op.split("::")
    run = _native.operator(op)
    if run is None:
        raise RuntimeError(f"There is no schema for the operator {op}")

    count, names = _keyword_only(op)

    def forward(ctx: Any, *args: Any) -> Any:
        inputs, keywords = args[:count], dict(zip(names, args[count:], strict=True))
        with no_grad():
            output = run(*inputs, **keywords)
        if setup_context is not None:
            known = {"keyword_only_inputs": keywords} if names else {}
            setup_context(ctx=ctx, inputs=inputs, output=output, **known)
        return output

    def gradients(ctx: Any, *grads: Any) -> Any:
        found = backward(ctx, *grads)
        if not names:
            return found
        return (*(found if isinstance(found, tuple) else (found,)), *[None] * len(names))

    made: Any = type(re.sub(r"\W", "_", name), (Function,), {"forward": staticmethod(forward), "backward": staticmethod(gradients)})
    _native.implement_operator(op, lambda *args: made.apply(*args), "Autograd")


def register_fake(op: Any, fn: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Gives an operator, "ns::name", the rule that tells the results' shapes: fn of tensors on the device meta. Without fn, a decorator."""
    name = getattr(op, "_qualname", op if isinstance(op, str) else str(getattr(op, "_qualified_op_name", op)))

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        implement(name, f, "Meta")
        return f

    return register if fn is None else register(fn)


impl_abstract = register_fake


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit._custom_ops": "CustomOpDef custom_op infer_schema", "torchjit._ops": "OpOverload"})
