"""torch.jit.frontend: from Python's ast to Trees, by the names that PyTorch has for it.

What is compiled goes through torchjit.frontend; here its parts are to be had one by one, with views of Trees for results.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from torchjit import _lazy, _native
from torchjit import frontend as _frontend
from torchjit._C import _jit_tree_views as _tree_views
from torchjit._C._jit_tree_views import *  # noqa: F403
from torchjit._C._jit_tree_views import TreeView, view, view_of_definition
from torchjit._jit_internal import FunctionModifiers as FunctionModifiers
from torchjit._jit_internal import is_unused as should_drop
from torchjit._sources import ParsedDef as _ParsedDef  # noqa: F401
from torchjit._sources import SourceContext as SourceContext
from torchjit._sources import get_source_lines_and_file as get_source_lines_and_file
from torchjit._sources import make_source_context as make_source_context
from torchjit._sources import parse_def as parse_def
from torchjit.frontend import FrontendError as FrontendError
from torchjit.frontend import FrontendTypeError as FrontendTypeError
from torchjit.frontend import NotSupportedError as NotSupportedError
from torchjit.frontend import SourceRange as SourceRange
from torchjit.frontend import UnsupportedNodeError as UnsupportedNodeError
from torchjit.frontend import get_default_args as get_default_args
from torchjit.frontend import is_torch_jit_ignore_context_manager as is_torch_jit_ignore_context_manager

# Whether annotations can be written as text again; Python's own ast does it.
_IS_ASTUNPARSE_INSTALLED = True

_reserved_prefix = "__jit"
_reserved_names = {"print"}
_identifier_chars = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

_vararg_kwarg_err = _frontend.VARIADIC_PARAMETERS

pretty_node_names: dict[type[ast.AST], str] = {
    getattr(ast, kind): text
    for kind, text in {
        "FunctionDef": "function definitions", "For": "for loops", "Delete": "del statements", "ClassDef": "class definitions",
        "With": "with statements", "Raise": "raise statements", "Assert": "assertions", "Import": "import statements",
        "ImportFrom": "import statements", "Global": "global variables", "Break": "break statements", "Continue": "continue statements",
        "AsyncFunctionDef": "async function definitions", "AsyncFor": "async for loops", "AsyncWith": "async with statements",
        "Try": "try blocks", "Nonlocal": "nonlocal variables", "AnnAssign": "annotated assignments",
    }.items()
}  # fmt: skip
node_start_tokens: dict[type[ast.AST], str] = {
    getattr(ast, kind): word
    for kind, word in {
        "FunctionDef": "def", "For": "for", "Delete": "del", "ClassDef": "class", "With": "with", "Raise": "raise", "Assert": "assert",
        "Import": "import", "ImportFrom": "from", "Global": "global", "Break": "break", "Continue": "continue", "AsyncFunctionDef": "async def",
        "AsyncFor": "async for", "AsyncWith": "async with", "Try": "try", "Nonlocal": "nonlocal",
    }.items()
}  # fmt: skip


def is_reserved_name(name: str) -> bool:
    """Whether programs may not use a name."""
    return name.startswith(_reserved_prefix) or name in _reserved_names


# ---- definitions ----


def get_jit_def(fn: Any, def_name: str, self_name: str | None = None, is_classmethod: bool = False) -> Any:
    """The definition of a Python function under a name. self_name is the type of self in a method.

    The body of an unused function is replaced by an exception. Raises FrontendError for what programs do not have.
    """
    return merged(_frontend.get_jit_def(fn, def_name, self_name, is_classmethod, should_drop(fn)))


def merged(definition: Any) -> Any:
    """A definition as a view, with the types that comments give its parameters."""
    made = view_of_definition(definition)
    comments = _type_comment_of(made)
    if comments is None:
        return made
    name, decl, body = made.tree[4]
    decl = merge_type_from_type_comment(view(decl, made.source), parse_type_comment(comments), made.is_method).tree
    made.tree = (*made.tree[:4], (name, decl, body))
    return made


def _type_comment_of(definition: Any) -> str | None:
    from torchjit.jit.annotations import get_type_line

    text = definition.source.text.decode("utf-8", "surrogatepass")
    return get_type_line(text) if "# type:" in text else None


def get_jit_class_def(cls: type, self_name: str) -> Any:
    """The definition of a Python class under a name: its own methods, its properties and what it assigns."""
    made = view_of_definition(_frontend.get_jit_class_def(cls, self_name))
    name, base, methods, properties, assigns = made.tree[4]
    methods = _frontend.group(map(merged, methods[4]))
    made.tree = (*made.tree[:4], (name, base, methods, properties, assigns))
    return made


def get_class_properties(cls: type, self_name: str) -> list[Any]:
    """The properties of a class that are compiled, as definitions."""
    found = []
    for name, getter, setter in _frontend.get_class_properties(cls, self_name):
        start, end = getter.tree[1:3]
        at = SourceRange(getter.source, start, end)
        found.append(_tree_views.Property(at, _tree_views.Ident(at, name), view_of_definition(getter), setter and view_of_definition(setter)))
    return found


def get_class_assigns(ctx: Any, cls_ast: ast.ClassDef) -> list[Any]:
    """The assignments of a class body that can be compiled."""
    return [view(tree, ctx) for tree in _frontend.class_assigns(_frontend.Builder(ctx), cls_ast)]


def build_class_def(ctx: Any, py_def: ast.ClassDef, methods: list[Any], properties: list[Any], self_name: str, assigns: list[Any]) -> Any:
    """The definition of a class from its parts."""
    start = ctx.offset(py_def.lineno, py_def.col_offset)
    at = SourceRange(ctx, start, start + len("class"))
    return _tree_views.ClassDef(_tree_views.Ident(at, self_name), [_tree_views.Stmt(m) for m in methods], properties, assigns)


def build_def(ctx: Any, py_def: Any, type_line: str | None, def_name: str, self_name: str | None = None, pdt_arg_types: Any = None) -> Any:
    """The definition of a function from its ast. type_line is a type comment; pdt_arg_types are types of parameters by name."""
    tree = _frontend.Builder(ctx).definition(py_def, def_name, self_name)
    made = view(tree, ctx)
    made.is_method = self_name is not None
    name, decl, body = tree[4]
    if pdt_arg_types:
        decl = _typed(decl, pdt_arg_types)
    if type_line is not None:
        decl = merge_type_from_type_comment(view(decl, ctx), parse_type_comment(type_line), made.is_method).tree
    made.tree = (*tree[:4], (name, decl, body))
    return made


def _typed(decl: Any, kinds: dict[str, str]) -> Any:
    """A declaration whose parameters have the types that texts name, where they have none."""
    params, result = decl[4]
    typed = tuple(_typed_parameter(p, kinds.get(p[4][0][3])) for p in params[4])
    return (*decl[:4], ((*params[:4], typed), result))


def _typed_parameter(param: Any, kind: str | None) -> Any:
    name, annotation, default, flag = param[4]
    if kind is None or annotation[4]:
        return param
    given = _frontend.option(_frontend.variable(name[1], name[2], kind))
    return (*param[:4], (name, given, default, flag))


def build_param_list(ctx: Any, py_args: ast.arguments, self_name: str | None, pdt_arg_types: Any = None) -> list[Any]:
    """The parameters of a function. Raises NotSupportedError for *args and **kwargs."""
    trees: list[Any] = _frontend.Builder(ctx).params(py_args, self_name, False)
    return [view(_typed_parameter(tree, (pdt_arg_types or {}).get(tree[4][0][3])), ctx) for tree in trees]


def build_param(ctx: Any, py_arg: ast.arg, self_name: str | None, kwarg_only: bool, pdt_arg_type: str | None = None) -> Any:
    """One parameter of a function."""
    tree = _frontend.Builder(ctx).param(py_arg, self_name, kwarg_only, False)
    return view(_typed_parameter(tree, pdt_arg_type), ctx)


def build_ignore_context_manager(ctx: Any, stmt: ast.With) -> ast.stmt:
    """The statement that calls Python where a with statement of torch.jit._IgnoreContextManager stands."""
    return _frontend.ignored_call(stmt, ctx.filename)


def get_default_args_for_class(cls: type) -> dict[str, dict[str, Any]]:
    """The default values of the parameters of a class's own methods by their names."""
    from torchjit._jit_internal import is_static_fn

    members = inspect.getmembers(cls, lambda m: (inspect.isfunction(m) or inspect.ismethod(m)) and not is_static_fn(cls, m.__name__) and m.__name__ in vars(cls))
    return {member.__name__: get_default_args(member) for _, member in members}


# ---- type comments ----


def parse_type_comment(comment: str) -> Any:
    """The declaration that a type comment is: "# type: (A, B) -> C". Raises RuntimeError for another text."""
    return _from_text(_native.parse_type_comment(comment), comment)


def _parse_source_def(src: str) -> Any:
    """The definition of the one function in a text."""
    return _from_text(_native.parse_definition(src), src)


def _from_text(found: Any, text: str) -> Any:
    return view(_tree_views.tree_of_lists(found), _frontend.Source(text, "", 1, 0))


def merge_type_from_type_comment(decl: Any, type_annotation_decl: Any, is_method: bool) -> Any:
    """A declaration with the types of another one, whose parameters lack self in a method.

    Raises RuntimeError where they have not the same number.
    """
    params, (types, result) = decl.tree[4][0][4], type_annotation_decl.tree[4]
    own, given = params[1 if is_method else 0 :], types[4]
    if len(own) != len(given):
        raise RuntimeError(
            f"\nNumber of type annotations ({len(given)}) did not match the number of {'method' if is_method else 'function'} parameters ({len(own)}):\n{decl.range().highlight()}"
        )
    typed = [_with_type(mine, view(other, type_annotation_decl.source)) for mine, other in zip(own, given, strict=True)]
    params = (*params[: len(params) - len(own)], *typed)
    source = type_annotation_decl.source
    result = result if source is decl.source or not result[4] else _frontend.option(TreeView(result[4][0], source))
    return view((*decl.tree[:4], ((*decl.tree[4][0][:4], params), result)), decl.source)


def _with_type(param: Any, other: Any) -> Any:
    """A parameter with the type of another one and no default."""
    name, _, _, flag = param[4]
    annotation = other.tree[4][1][4]
    held = _frontend.option(TreeView(annotation[0], other.source)) if annotation else _frontend.option(None)
    return (*param[:4], (name, held, _frontend.option(None), flag))


def _replace_overloaded_method_decl(overload_decl: Any, implementation_def: Any, new_name: str) -> Any:
    """A definition with the declaration of an overload and another name. Raises RuntimeError where they take different numbers of arguments."""
    if len(overload_decl.tree[4][0][4]) != len(implementation_def.decl().tree[4][0][4]):
        ranges = overload_decl.range().highlight() + implementation_def.decl().range().highlight()
        raise RuntimeError(f"Overload must have same number of parameters\n{ranges}")
    at = implementation_def.name().range()
    body = implementation_def.tree[4][2]
    name = _frontend.ident(at.start, at.end, new_name)
    made = view((*implementation_def.tree[:4], (name, TreeView(overload_decl.tree, overload_decl.source), body)), implementation_def.source)
    made.is_method = implementation_def.is_method
    return made


# ---- statements and expressions ----


class Builder:
    """Calls the method build_NAME for an ast node of the class NAME."""

    def __call__(self, ctx: Any, node: ast.AST) -> Any:
        method = getattr(self, "build_" + node.__class__.__name__, None)
        if method is None:
            raise UnsupportedNodeError(ctx, node)
        return method(ctx, node)


def _build(ctx: Any, node: Any) -> Any:
    return view(_frontend.Builder(ctx).build(node), ctx)


class WithItemBuilder(Builder):
    """Builds the items of with statements."""

    @staticmethod
    def build_withitem(ctx: Any, item: ast.withitem) -> Any:
        """The view of an item."""
        return view(_frontend.Builder(ctx).with_item(item), ctx)


class StmtBuilder(Builder):
    """Builds statements."""

    augassign_map: dict[type[ast.AST], str] = {getattr(ast, kind): word for kind, word in _frontend.AUGMENTED_OPERATORS.items()}


class ExprBuilder(Builder):
    """Builds expressions."""

    binop_map: dict[type[ast.AST], str] = {getattr(ast, kind): word for kind, word in _frontend.BINARY_OPERATORS.items()}
    unop_map: dict[type[ast.AST], str] = {ast.Not: "not", ast.USub: "-", ast.Invert: "~"}
    boolop_map: dict[type[ast.AST], str] = {ast.And: "and", ast.Or: "or"}
    cmpop_map: dict[type[ast.AST], str] = {getattr(ast, kind): word for kind, word in _frontend.COMPARISONS.items()} | {ast.NotIn: "not in"}


def _give_methods(cls: type, kinds: str) -> None:
    for kind in kinds.split():
        setattr(cls, "build_" + kind, staticmethod(_build))


_give_methods(StmtBuilder, "Expr Assign AnnAssign Delete Return Raise Assert AugAssign While For If Pass Break Continue With")
_give_methods(
    ExprBuilder,
    "Attribute Call Name NameConstant BinOp UnaryOp BoolOp IfExp Compare Subscript List Tuple Dict Constant JoinedStr ListComp GeneratorExp DictComp Starred",
)

build_expr: Callable[[Any, Any], Any] = ExprBuilder()
build_stmt: Callable[[Any, Any], Any] = StmtBuilder()
build_withitem: Callable[[Any, Any], Any] = WithItemBuilder()


def build_stmts(ctx: Any, stmts: list[ast.stmt]) -> list[Any]:
    """The views of statements."""
    return [build_stmt(ctx, s) for s in stmts]


def build_withitems(ctx: Any, items: list[ast.withitem]) -> list[Any]:
    """The views of the items of a with statement."""
    return [build_withitem(ctx, i) for i in items]


def find_before(ctx: Any, pos: int, substr: str, offsets: tuple[int, int] = (0, 0)) -> SourceRange:
    """The range of the last place before pos at which the text has substr, with both ends moved by offsets."""
    at = ctx.source[:pos].rindex(substr)
    return ctx.make_raw_range(at + offsets[0], at + len(substr) + offsets[1])


def _from_message(cls: type) -> type:
    """A class for errors that come from the library with their text complete."""

    class Reported(cls):
        def __init__(self, message: str) -> None:
            Exception.__init__(self, message)

    Reported.__name__, Reported.__qualname__, Reported.__module__ = cls.__name__, cls.__qualname__, cls.__module__
    return Reported


_native.register_exception("FrontendError", _from_message(FrontendError))
_native.register_exception("NotSupportedError", _from_message(NotSupportedError))


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "_jit_internal",
    "torchjit._jit_internal": "is_static_fn",
    "torchjit.jit._dataclass_impls": "DATACLASS_MAGIC_METHODS",
    "torchjit.jit._monkeytype_config": "get_qualified_name monkeytype_trace",
})  # fmt: skip


