"""Functions that are declared with several signatures: what is checked, and how they are compiled one by one."""

from __future__ import annotations

import ast
import inspect
import warnings
from typing import Any

from torchjit import _jit_internal as _marks

_OVERLOAD_EXAMPLE = """
Example usage of overload function:
@torch.jit._overload
def my_function(x: type0) -> type0: # decl 1
    pass

@torch.jit._overload
def my_function(x: type1) -> type1: # decl 2
    pass

def my_function(x):                 # implementation
    if isinstance(x, type0):
        return x
    elif isinstance(x, type1):
        return x
"""


def _check_overload_body(func: Any) -> None:
    """Raises RuntimeError for a declaration that has more of a body than `pass` or `...`."""
    from torchjit._sources import parse_def

    try:
        parsed = parse_def(func)
    except OSError:
        warnings.warn(f"Unable to retrieve source for @torch.jit._overload function: {func}.")
        return
    definition: Any = parsed.ast.body[0]
    statement = definition.body[0]
    is_ellipsis = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is Ellipsis
    if len(definition.body) != 1 or not (isinstance(statement, ast.Pass) or is_ellipsis):
        head = "\n".join(parsed.source.split("\n")[:3])
        raise RuntimeError(
            "Only `pass` statement or `...` can be the body of overload declaration:\n" + head + " <- Expecting `pass` or `...` here!\n" + _OVERLOAD_EXAMPLE
        )


def get_overload_no_implementation_error_message(kind: str, obj: Any) -> str:
    """What is said of declarations that no definition follows."""
    from torchjit._jit_internal import qualified_name
    from torchjit._sources import get_source_lines_and_file

    lines, first, file = get_source_lines_and_file(obj)
    return (
        f'Implementation for the {kind} "{qualified_name(obj)}" is missing. Please make sure a definition is provided and defined after all '
        f'overload declarations.\nFile "{file}", line {first}:\n' + "".join(lines) + "\n" + _OVERLOAD_EXAMPLE
    )


def check_implementation(kind: str, fn: Any, declarations: list[Any]) -> None:
    """Raises RuntimeError where the last definition of a name is a declaration."""
    if fn in declarations:
        raise RuntimeError(get_overload_no_implementation_error_message(kind, fn))


def _check_overload_defaults(impl_defaults: dict[str, Any], overload_defaults: dict[str, Any], loc: Any) -> None:
    """Raises FrontendError where a declaration has other default values than the definition."""
    from torchjit.jit.frontend import FrontendError

    for name, value in overload_defaults.items():
        if name not in impl_defaults or impl_defaults[name] != value:
            raise FrontendError(
                loc,
                "Default parameters on overloads do not affect the runtime so they must equal to the default parameter on the implementation "
                f"function. Found on parameter {name}",
            )


def _check_further_parameters(fn: Any, declared: inspect.Signature) -> None:
    """Raises RuntimeError where the definition has a parameter without a type that a declaration leaves out."""
    for name, parameter in inspect.signature(fn).parameters.items():
        if name not in declared.parameters and parameter.annotation is parameter.empty:
            raise RuntimeError(
                "Parameters not specified on the overloaded declaration must have a type annotation in the implementation function. "
                f"Did not find type for param {name}:"
            )


def check_declaration(fn: Any, declaration: Any) -> None:
    """Raises what is wrong with a declaration: no types, other default values than those of the definition."""
    from torchjit.frontend import get_default_args, get_jit_def

    signature = inspect.signature(declaration)
    tree = get_jit_def(declaration, declaration.__name__)
    decl: Any = tree.tree[4][1]
    where = tree.source.range(decl[1], decl[2])
    has_comment = "# type:" in tree.source.text.decode("utf-8", "replace")
    if not has_comment and signature.return_annotation is signature.empty and all(p.annotation is p.empty for p in signature.parameters.values()):
        raise RuntimeError(f"\nMust explicitly add type annotations to overloaded functions:\n{where.highlight()}")
    _check_overload_defaults(get_default_args(fn), get_default_args(declaration), where)
    if len(signature.parameters) > len(inspect.signature(fn).parameters):
        implementation = get_jit_def(fn, fn.__name__)
        declared: Any = implementation.tree[4][1]
        there = implementation.source.range(*declared[1:3])
        raise RuntimeError(f"Overload should not have more parameters than implementation function{where.highlight()}{there.highlight()}")
    _check_further_parameters(fn, signature)


def _compile_function_with_overload(overload_fn: Any, qual_name: str, impl_fn: Any) -> Any:
    """The compiled form of a function with the signature of one declaration."""
    from torchjit import _native
    from torchjit.jit._script import script_overload

    compiled = script_overload(impl_fn, overload_fn)
    _native.ensure_compiled(compiled)
    return compiled


def _get_overloads(obj: Any) -> list[Any] | None:
    """The compiled forms of a function that is declared with several signatures, None for another one."""
    declarations = _marks.overloads_of(obj)
    if not declarations:
        return None
    check_implementation("function", obj, declarations)
    return [_compile_function_with_overload(declaration, "", obj) for declaration in declarations]


def _check_directly_compile_overloaded(obj: Any) -> None:
    """Raises RuntimeError for a function that is declared with several signatures: it is compiled where it is called."""
    from torchjit._jit_internal import qualified_name

    if _marks.overloads_of(obj):
        raise RuntimeError(
            f"Function {qualified_name(obj)} cannot be directly compiled because it is overloaded. It must be used in a context "
            "of a function where its inputs can determine which overload to call."
        )
