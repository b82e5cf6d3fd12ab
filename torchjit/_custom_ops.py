"""Operators of functions with annotations: torch.library.custom_op."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torchjit as torch

_SIMPLE = {int: "SymInt", float: "float", bool: "bool", str: "str", complex: "Scalar"}


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None) -> str:
    """The schema of a function by its annotations: "(Tensor x, int n) -> Tensor", with op_name before it.

    mutates_args names the tensors that it writes, "unknown" stands for all. Raises ValueError for parameters and results without an
    annotation, or with one that operators do not have.
    """
    hints = typing.get_type_hints(prototype_function)
    parameters = list(inspect.signature(prototype_function).parameters.values())
    written = (
        {p.name for p in parameters}
        if mutates_args == "unknown"
        else {mutates_args}
        if isinstance(mutates_args, str)
        else set(mutates_args)
    )
    unknown = written - {p.name for p in parameters}
    if unknown:
        raise ValueError(f"{sorted(unknown)} in mutates_args are not found in the parameters of {prototype_function.__name__}")
    texts, by_name = [], False
    for i, p in enumerate(parameters):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {p.name} must have a type annotation, and be neither *args nor **kwargs")
        if p.kind == p.KEYWORD_ONLY and not by_name:
            texts.append("*")
            by_name = True
        kind = _type_text(hints[p.name], p.name)
        if p.name in written and "Tensor" in kind:
            kind = kind.replace("Tensor", f"Tensor({chr(ord('a') + i)}!)", 1)
        default = "" if p.default is inspect.Parameter.empty else f"={_default_text(p.default)}"
        texts.append(f"{kind} {p.name}{default}")
    if "return" not in hints:
        raise ValueError("infer_schema(func): the function must have a type annotation of its result; None for no result")
    return f"{op_name or ''}({', '.join(texts)}) -> {_result_text(hints['return'])}"


def _default_text(x: Any) -> str:
    return f'"{x}"' if isinstance(x, str) else str(x).removeprefix("torch.")


def _type_text(kind: Any, name: str) -> str:
    if kind is torch.Tensor:
        return "Tensor"
    if kind in _SIMPLE:
        return _SIMPLE[kind].replace("SymInt", "int")
    if kind in (torch.dtype, torch.device):
        return {torch.dtype: "ScalarType", torch.device: "Device"}[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    present = [a for a in args if a is not type(None)]
    if type(None) in args and len(present) == 1:
        return _type_text(present[0], name) + "?"
    if set(args) == {int, float, bool}:
        return "Scalar"
    if origin in (list, Sequence) and len(args) == 1:
        return _type_text(args[0], name) + "[]"
    raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {kind}")


def _result_text(kind: Any) -> str:
    if kind is None or kind is type(None):
        return "()"
    if typing.get_origin(kind) is tuple:
        return "(" + ", ".join(_type_text(a, "result") for a in typing.get_args(kind)) + ")"
    return _type_text(kind, "result")


class CustomOpDef:
    """A function that is an operator: torch.ops.NAMESPACE.NAME. A call of it is a call of the operator."""

    def __init__(self, name: str, fn: Callable[..., Any], mutates_args: Any, device_types: Any, schema: str | None) -> None:
        from torchjit.library import Library

        self._namespace, _, self._name = name.partition("::")
        if not self._name:
            raise ValueError(f"custom_op(name): expected a name of the form namespace::name, but got {name!r}")
        self._qualname, self._init_fn = name, fn
        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        self._lib = Library(self._namespace, "FRAGMENT")
        self._lib.define(self._name + text)
        self._lib.impl(self._name, fn, "CompositeExplicitAutograd")
        self.__name__, self.__doc__ = fn.__name__, fn.__doc__
        self._setup: Any = None

    @property
    def _opoverload(self) -> Any:
        return getattr(getattr(torch.ops, self._namespace), self._name).default

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Gives the rule that tells the results' shapes: fn of tensors without elements."""
        from torchjit.library import implement

        implement(self._qualname, fn, "Meta")
        return fn

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Gives the function for tensors of a device. Those of the CPU are the ones here."""
        kinds = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)

        from torchjit.library import implement

        def register(f: Callable[..., Any]) -> Callable[..., Any]:
            if None in kinds or "cpu" in kinds:
                implement(self._qualname, f, "CPU")
            return f

        return register if fn is None else register(fn)

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """Gives the derivative: backward(ctx, *grads) returns the gradients of the arguments.

        setup_context(ctx, inputs, output) keeps what it needs.
        """
        from torchjit.library import register_autograd

        register_autograd(self._qualname, backward, setup_context=setup_context)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None, schema: str | None = None
) -> Any:  # fmt: skip
    """Makes a function an operator, "namespace::name", by its annotations or by a schema; without fn, a decorator that does so.

    mutates_args names the arguments that it writes: () for none. device_types has no effect: tensors are those of the CPU. torch.export
    captures a call as a call of the operator; register_fake of the result tells the shapes where elements are not there.
    """

    def wrap(f: Callable[..., Any]) -> CustomOpDef:
        return CustomOpDef(name, f, mutates_args, device_types, schema)

    return wrap if fn is None else wrap(fn)
