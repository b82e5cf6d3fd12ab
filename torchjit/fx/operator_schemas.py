"""Arguments of calls by the signatures of what is called."""

from __future__ import annotations

import enum
import inspect
import numbers
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import torchjit as torch
from torchjit import _native
from torchjit._jit_internal import boolean_dispatched
from torchjit._ops import OpOverload, OpOverloadPacket
from torchjit.fx._compatibility import compatibility

__all__ = [
    "ArgsKwargsPair", "check_for_mutable_operation", "get_signature_for_torch_op", "create_type_hint", "type_matches",
    "normalize_function", "normalize_module",
]  # fmt: skip


@compatibility(is_backward_compatible=False)
class ArgsKwargsPair(NamedTuple):
    """The arguments of a call by position and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_type_eval_globals: dict[str, Any] = {
    "Tensor": torch.Tensor, "Device": torch.device, "Layout": torch.layout, "number": numbers.Number, "AnyEnumType": enum.Enum,
    "QScheme": torch.qscheme, "NoneType": type(None), "t": typing.TypeVar("t"), "Storage": torch.UntypedStorage,
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union")},
}  # fmt: skip


def _torchscript_type_to_python_type(ts_type: Any) -> Any:
    """The annotation for a type of programs; Any for one that Python has none for."""
    try:
        return eval(ts_type.annotation_str, dict(_type_eval_globals))
    except (NameError, SyntaxError, TypeError, AttributeError):
        return Any


def _torchscript_schema_to_signature(schema: Any) -> inspect.Signature:
    """The signature of an operator; self is input, and arguments after an out are keywords."""
    parameters = []
    for arg in schema.arguments:
        default = arg.default_value if arg.has_default_value() else inspect.Parameter.empty
        kind = inspect.Parameter.KEYWORD_ONLY if arg.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        name = "input" if arg.name == "self" else "from_" if arg.name == "from" else arg.name
        parameters.append(
            inspect.Parameter(name, kind, default=default, annotation=_torchscript_type_to_python_type(arg.type))
        )
    returned = [_torchscript_type_to_python_type(ret.type) for ret in schema.returns]
    result: Any = None if not returned else returned[0] if len(returned) == 1 else tuple(returned)
    parameters.sort(key=lambda p: p.kind)
    return inspect.Signature(parameters, return_annotation=result)


def _schemas(op: Any) -> list[Any] | None:
    """The schemas of an operator or its overload; None for what is no operator."""
    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        name = op._qualified_op_name
    elif isinstance(op, _native.Function):
        name = "aten::" + op.__name__
    else:
        from torchjit import _functions

        if op not in _functions.OPERATORS:
            return None
        name = "aten::" + op.__name__
    from torchjit import _C

    return list(_C._jit_get_schemas_for_operator(name)) or None


@compatibility(is_backward_compatible=False)
def check_for_mutable_operation(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises RuntimeError where a call changes its arguments."""
    schemas = _schemas(target)
    if not schemas:
        return
    matched = []
    for schema in schemas:
        try:
            _torchscript_schema_to_signature(schema).bind(*args, **kwargs)
        except TypeError:
            continue
        matched.append(schema)
    if len(matched) == 1 and matched[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {matched[0]}. FX only supports functional code, so operations that mutate "
            "operands in-place (e.g. via `out` arguments) are not supported"
        )


@compatibility(is_backward_compatible=False)
def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of the overloads of an operator, with the schemas too where asked for; None for what is none."""
    schemas = _schemas(op)
    if schemas is None:
        return (None, None) if return_schemas else None
    signatures = [_torchscript_schema_to_signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


@compatibility(is_backward_compatible=False)
def create_type_hint(x: Any) -> Any:
    """The annotation for a list or tuple of types: of their common base; x where it is neither."""
    if not isinstance(x, (list, tuple)):
        return x

    def container(item: Any) -> Any:
        return getattr(typing, "List")[item] if isinstance(x, list) else typing.Tuple[item, ...]  # noqa: B009, UP006

    if len(x) == 0:
        return container(Any)
    base: Any = x[0]
    for kind in x:
        if issubclass(kind, base):
            continue
        if not issubclass(base, kind):
            return container(Any)
        base = kind
    return container(base)


@compatibility(is_backward_compatible=False)
def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of a type can be given where a signature has another."""
    origin = getattr(signature_type, "__origin__", signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(member, argument_type) for member in signature_type.__args__)
    if origin is list and signature_type.__args__ == (int,):
        # An int stands for a list of equal ones, and so does a tuple.
        argument_origin = getattr(argument_type, "__origin__", argument_type)
        if argument_type is int or argument_origin is tuple and all(a in (int, ...) for a in argument_type.__args__):
            return True
    if getattr(argument_type, "__origin__", None) is list and origin is list:
        wanted, given = signature_type.__args__[0], argument_type.__args__[0]
        return inspect.isclass(given) and inspect.isclass(wanted) and issubclass(given, wanted)
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(argument_type) and inspect.isclass(signature_type) and not isinstance(argument_type, types.GenericAlias):
        return issubclass(argument_type, signature_type) or (argument_type, signature_type) == (torch.dtype, int)
    return False


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    """The arguments of a call with defaults, by position what has none; None where a signature has *args or the like."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in kinds]
    if len(names) != len(signature.parameters):
        # `from` is the one name of operators that Python cannot have.
        if list(signature.parameters)[:2] != ["input", "from"]:
            return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    new_args = []
    new_kwargs = {}
    for i, name in enumerate(names):
        if not only_kwargs and i < len(args):
            new_args.append(bound.arguments[name])
        else:
            new_kwargs[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(new_args), new_kwargs)


@compatibility(is_backward_compatible=False)
def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of a function of torch by its signature, with defaults; None where that is not known.

    Raises RuntimeError where several overloads fit; types of the arguments then tell which one is meant.
    """
    kwargs = kwargs or {}
    if not isinstance(target, (types.FunctionType, OpOverload, OpOverloadPacket, _native.Function)):
        return None
    schemas = _schemas(target)
    if schemas is None:
        return _of_python_function(target, args, kwargs, normalize_to_only_use_kwargs)
    return _of_operator(
        target, [_torchscript_schema_to_signature(s) for s in schemas], args, kwargs, arg_types, kwarg_types,
        normalize_to_only_use_kwargs,
    )  # fmt: skip


def _of_python_function(target: Any, args: Any, kwargs: Any, only_kwargs: bool) -> ArgsKwargsPair | None:
    analyzed = target
    if target in boolean_dispatched:
        # Both ways of a function that is chosen by a flag have the same parameters.
        choice = boolean_dispatched[target]
        if_true, if_false = choice["if_true"], choice["if_false"]
        if inspect.signature(if_true).parameters != inspect.signature(if_false).parameters:
            return None
        analyzed = if_true
    assert callable(analyzed)
    return _bound(inspect.signature(inspect.unwrap(analyzed)), args, kwargs, only_kwargs)


def _of_operator(
    target: Any, signatures: Any, args: Any, kwargs: Any, arg_types: Any, kwarg_types: Any, only_kwargs: bool
) -> ArgsKwargsPair | None:
    matched = []
    for signature in signatures:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        matched.append(signature)
    if not matched:
        return None
    if len(matched) == 1:
        return _bound(matched[0], args, kwargs, only_kwargs)
    if arg_types is None and kwarg_types is None:
        shown = "\n".join(str(signature).replace("torchjit.", "torch.") for signature in matched)
        raise RuntimeError(
            f"Tried to normalize arguments to {torch.typename(target)} but the schema match was ambiguous! Please provide "
            f"argument types to the normalize_arguments() call. Available schemas:\n{shown}"
        )
    arg_types = cast(tuple[Any, ...], arg_types or ())
    for signature in matched:
        try:
            bound = signature.bind(*arg_types, **(kwarg_types or {}))
        except TypeError:
            continue
        if all(type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.arguments.items()):
            return _bound(signature, args, kwargs, only_kwargs)
    return None


@compatibility(is_backward_compatible=False)
def normalize_module(
    root: torch.nn.Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of a submodule by its forward's signature, for modules of torch.nn; None for others.

    Raises RuntimeError where there is no such submodule.
    """
    try:
        submodule = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from e
    if getattr(torch.nn, type(submodule).__name__, None) is not type(submodule):
        return None
    signature = inspect.signature(inspect.unwrap(submodule.forward))
    return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
