"""What help() and inspect.signature() say of operators: their forms, and what the library says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchjit import _native

if TYPE_CHECKING:
    import ast
    import inspect


def forms_of(f: Any) -> list[str]:
    """The ways to call an operator, "(input: Tensor, dim: int) -> Tensor", none for another function."""
    name = _native.operator_of_function(f)
    return [] if name is None else _native.operator_forms(name, isinstance(f, _native.Method))


class _Doc:
    """The attribute __doc__ of functions: what the operator does; of their class, what it is."""

    def __init__(self, of_class: str) -> None:
        self._of_class = of_class

    def __get__(self, f: Any, cls: type | None = None) -> str | None:
        if f is None:
            return self._of_class
        name = _native.operator_of_function(f)
        if name is None:
            return None
        forms = "".join(f"{f.__name__}{form}\n" for form in forms_of(f))
        return f"{forms}\n{_native.operator_doc(name)}\n".strip("\n")


def signature(f: Any) -> inspect.Signature:
    """The parameters of an operator. Where it has several forms, those that all of them begin with, and *args and **kwargs for the others.

    Raises AttributeError for what calls no operator: it has no signature.
    """
    import inspect

    forms = [_parsed(form) for form in forms_of(f)]
    if not forms:
        raise AttributeError("__signature__")
    first, *others = forms
    if not others:
        return first
    common = []
    for one in zip(*(form.parameters.values() for form in forms), strict=False):
        if any(p != one[0] for p in one) or one[0].kind is inspect.Parameter.KEYWORD_ONLY:
            break
        common.append(one[0])
    result = first.return_annotation if all(form.return_annotation == first.return_annotation for form in others) else inspect.Signature.empty
    rest = [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL), inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)]
    return inspect.Signature([*common, *rest], return_annotation=result)


def _parsed(form: str) -> inspect.Signature:
    """The signature that a form is, whose annotations are texts."""
    import ast
    import inspect

    function = ast.parse(f"def f{form}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    parameters = [
        _parameter(one, inspect.Parameter.POSITIONAL_ONLY if i < len(arguments.posonlyargs) else inspect.Parameter.POSITIONAL_OR_KEYWORD, default)
        for i, (one, default) in enumerate(zip(plain, defaults, strict=True))
    ]
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, inspect.Parameter.VAR_POSITIONAL, None))
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(one, inspect.Parameter.KEYWORD_ONLY, default))
    assert function.returns is not None
    return inspect.Signature(parameters, return_annotation=ast.unparse(function.returns))


def _parameter(one: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    import ast
    import inspect

    return inspect.Parameter(
        one.arg, kind, default=inspect.Parameter.empty if default is None else ast.literal_eval(default),
        annotation=inspect.Parameter.empty if one.annotation is None else ast.unparse(one.annotation),
    )  # fmt: skip


def install() -> None:
    """Gives the classes of the library's functions these attributes."""
    for cls in (_native.Function, _native.Method):
        cls.__doc__ = _Doc(cls.__doc__ or "")  # type: ignore[assignment]
        setattr(cls, "__signature__", property(signature))  # noqa: B010 - what a checker sees is what instances have
