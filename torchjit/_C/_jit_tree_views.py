"""torch._C._jit_tree_views: the Trees of programs as objects, and how they are made by hand.

Every class states what its constructor takes and what Tree it makes. A place to stand at is a SourceRange;
parts may stand in different sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import frontend
from torchjit._sources import SourceRangeFactory as SourceRangeFactory
from torchjit.frontend import SourceRange as SourceRange
from torchjit.frontend import TreeView as TreeView

_STATEMENTS = frozenset((
    "if", "for", "while", "return", "raise", "assert", "assign", "aug_assign", "expression statement", "with", "global", "del", "pass", "break",
    "continue", "def", "class",
))  # fmt: skip
_BINARY = frozenset((*frontend.BINARY_OPERATORS.values(), *frontend.COMPARISONS.values(), "and", "or"))
_UNARY = {"-": "unary minus", "not": "not", "~": "~"}
# Words that are kinds of some Tree, but none of an operator with two sides.
_OTHER_KINDS = frozenset(("if", "not in", "=", "for", "return", "def", "while", "with", "class", "print"))

# Makes the Tree of a class from its arguments: (source, start, end, arguments) -> Tree.
_Make = Callable[..., Any]


def _inside(source: Any, view: Any) -> Any:
    """A part of a Tree that stands in a source."""
    return view.tree if view.source is source else view


def _accepts(kind: str, arg: Any) -> bool:
    """Whether an argument is of a kind that a constructor states."""
    if kind.endswith("?"):
        return arg is None or _accepts(kind[:-1], arg)
    if kind.startswith("List["):
        return isinstance(arg, (list, tuple)) and all(_accepts(kind[5:-1], item) for item in arg)
    if kind in ("str", "bool"):
        return type(arg).__name__ == kind
    return isinstance(arg, globals()[kind])


def _shown(kind: str) -> str:
    kind = kind.rstrip("?")
    if kind.startswith("List["):
        return f"List[{_shown(kind[5:-1])}]"
    return kind if kind in ("str", "bool") else "torch._C._jit_tree_views." + kind


def _parameters(takes: tuple[str, ...]) -> str:
    return ", ".join(f"arg{i}: {_shown(kind)}" for i, kind in enumerate(takes))


class _Made(TreeView):
    """A view whose class has a constructor. TAKES are the kinds of its arguments, in each form that it has."""

    TAKES: tuple[tuple[str, ...], ...] = ()

    def __init__(self, *args: Any) -> None:
        cls = type(self)
        if not cls.TAKES:
            raise TypeError(f"torch._C._jit_tree_views.{cls.__name__}: No constructor defined!")
        for takes in cls.TAKES:
            if len(takes) == len(args) and all(map(_accepts, takes, args)):
                tree, source = self._make(*args)
                TreeView.__init__(self, tree, source)
                return
        forms = "".join(f"\n    {n}. torch._C._jit_tree_views.{cls.__name__}({_parameters(takes)})" for n, takes in enumerate(cls.TAKES, 1))
        raise TypeError(
            "__init__(): incompatible constructor arguments. The following argument types are supported:" + forms
            + "\n\nInvoked with: " + ", ".join(map(repr, args))
        )  # fmt: skip

    def _make(self, *args: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _part(self, *path: int) -> Any:
        """A part of the Tree as a view."""
        tree: Any = self.tree
        source = self.source
        for index in path:
            tree = tree[4][index]
            if isinstance(tree, TreeView):
                tree, source = tree.tree, tree.source
        return view(tree, source)


class Expr(_Made):
    """A Tree with a value."""


class Stmt(_Made):
    """A statement. Made of another view, which must be one: raises RuntimeError where it is not."""

    TAKES = (("TreeView",),)

    def _make(self, *args: Any) -> tuple[Any, Any]:
        (tree,) = args
        if tree.tree[0] not in _STATEMENTS:
            raise RuntimeError(f"\n{TreeView.PRINTED.get(tree.tree[0], tree.tree[0])} is not a valid Stmt:\n{tree.range().highlight()}")
        return tree.tree, tree.source


def _tree(kind: str, at: Any, *parts: Any) -> tuple[Any, Any]:
    """A Tree at a range or at a view; parts are views, lists of views, or options in a tuple."""
    where = at.range() if isinstance(at, TreeView) else at
    source, trees = where.source, []
    for part in parts:
        if isinstance(part, list):
            trees.append(frontend.group(_inside(source, p) for p in part))
        elif isinstance(part, tuple):
            item = None if part[0] is None or isinstance(part[0], EmptyTypeAnnotation) else _inside(source, part[0])
            trees.append(frontend.option(item))
        else:
            trees.append(_inside(source, part))
    return frontend.node(kind, where.start, where.end, *trees), source


def _word(kind: str, at: Any, text: str | None = None) -> tuple[Any, Any]:
    return frontend.leaf(kind, at.start, at.end, text), at.source


def _literal(kind: str) -> Callable[[Any], Expr]:
    def make(at: Any) -> Expr:
        return view(*_word(kind, at))

    make.__name__ = kind + "Literal"
    make.__doc__ = f"The expression {kind} at a range."
    return make


TrueLiteral: Callable[[Any], Expr] = _literal("True")
FalseLiteral: Callable[[Any], Expr] = _literal("False")
NoneLiteral: Callable[[Any], Expr] = _literal("None")


def _binary(kind: str, left: Any, right: Any) -> tuple[Any, Any]:
    if kind in _BINARY:
        return _tree(kind, left, left, right)
    if kind in _UNARY or kind == ".":
        raise RuntimeError(f"\n{kind} is not a valid BinOp:\n{left.range().highlight()}")
    if kind in _OTHER_KINDS:
        raise RuntimeError(f"\n{kind} is not a valid Expr:\n{left.range().highlight()}")
    raise IndexError("unknown token in stringToKind")


def _unary(at: Any, kind: str, operand: Any) -> tuple[Any, Any]:
    if kind in _UNARY:
        return _tree(_UNARY[kind], at, operand)
    if kind in _BINARY or kind in _OTHER_KINDS:
        raise RuntimeError(f"\n{kind} is not a valid UnaryOp:\n{at.highlight()}")
    raise IndexError("unknown token in stringToKind")


def _augmented(target: Any, kind: str, operand: Any) -> tuple[Any, Any]:
    if kind not in frontend.AUGMENTED_OPERATORS.values():
        raise RuntimeError(f"\nis not a valid AugAssignKind:\n{target.range().highlight()}")
    tree, source = _tree("aug_assign", target, target, operand)
    return (*tree[:3], kind, tree[4]), source


def _parameter(kind: Any, name: Any, keyword_only: bool) -> tuple[Any, Any]:
    flag = TreeView(*_word(str(keyword_only), name.range()))
    return _tree("param", name, name, (kind,), (None,), flag)


def _class_definition(name: Any, body: list[Any], properties: list[Any], assigns: list[Any]) -> tuple[Any, Any]:
    return _tree("class", name, name, (None,), body, properties, assigns)


def _returned(at: Any, value: Any) -> tuple[Any, Any]:
    return _tree("return", at, NoneLiteral(at) if value is None else value)


# What every class is: its base, the kinds of its constructor's arguments and the Tree that they make.
_CLASSES: dict[str, tuple[type, tuple[str, ...], _Make]] = {
    "Ident": (_Made, ("SourceRange, str",), lambda at, name: _word("ident", at, name)),
    "Attribute": (_Made, ("Ident, Expr",), lambda name, value: _tree("attribute", name, name, value)),
    "Param": (_Made, ("Expr, Ident, bool", "EmptyTypeAnnotation, Ident, bool"), _parameter),
    "EmptyTypeAnnotation": (_Made, ("SourceRange",), lambda at: _word("option", at)),
    "Decl": (_Made, ("SourceRange, List[Param], Expr?",), lambda at, params, result: _tree("decl", at, params, (result,))),
    "Property": (_Made, ("SourceRange, Ident, Def, Def?",), lambda at, name, getter, setter: _tree("property", at, name, getter, (setter,))),
    "ClassDef": (_Made, ("Ident, List[Stmt], List[Property], List[Assign]",), _class_definition),
    "Assign": (Stmt, ("List[Expr], Expr", "List[Expr], Expr, Expr?"), lambda left, right, kind=None: _tree("assign", left[0], left, (right,), (kind,))),
    "AugAssign": (Stmt, ("Expr, str, Expr",), _augmented),
    "Return": (Stmt, ("SourceRange, Expr?",), _returned),
    "Raise": (Stmt, ("SourceRange, Expr",), lambda at, exception: _tree("raise", at, exception)),
    "Assert": (Stmt, ("SourceRange, Expr, Expr?",), lambda at, test, message: _tree("assert", at, test, (message,))),
    "Pass": (Stmt, ("SourceRange",), lambda at: _word("pass", at)),
    "Break": (Stmt, ("SourceRange",), lambda at: _word("break", at)),
    "Continue": (Stmt, ("SourceRange",), lambda at: _word("continue", at)),
    "ExprStmt": (Stmt, ("Expr",), lambda value: _tree("expression statement", value, value)),
    "Delete": (Stmt, ("SourceRange, List[Expr]",), lambda at, targets: _tree("del", at, targets)),
    "If": (Stmt, ("SourceRange, Expr, List[Stmt], List[Stmt]",), lambda at, *parts: _tree("if", at, *parts)),
    "While": (Stmt, ("SourceRange, Expr, List[Stmt]",), lambda at, *parts: _tree("while", at, *parts)),
    "For": (Stmt, ("SourceRange, List[Expr], List[Expr], List[Stmt]",), lambda at, *parts: _tree("for", at, *parts)),
    "With": (Stmt, ("SourceRange, List[WithItem], List[Stmt]",), lambda at, *parts: _tree("with", at, *parts)),
    "WithItem": (Expr, ("SourceRange, Expr, Var?",), lambda at, target, name: _tree("withitem", at, target, (name,))),
    "Var": (Expr, ("Ident",), lambda name: _tree("variable", name, name)),
    "BinOp": (Expr, ("str, Expr, Expr",), _binary),
    "UnaryOp": (Expr, ("SourceRange, str, Expr",), _unary),
    "Const": (Expr, ("SourceRange, str",), lambda at, text: _word("const", at, text)),
    "StringLiteral": (Expr, ("SourceRange, str",), lambda at, text: _word("string_literal", at, text)),
    "Dots": (Expr, ("SourceRange",), lambda at: _word("dots", at)),
    "Apply": (Expr, ("Expr, List[Expr], List[Attribute]",), lambda callee, *parts: _tree("apply", callee, callee, *parts)),
    "Select": (Expr, ("Expr, Ident",), lambda value, name: _tree(".", value, value, name)),
    "TernaryIf": (Expr, ("Expr, Expr, Expr",), lambda cond, *parts: _tree("if expr", cond, cond, *parts)),
    "ListComp": (Expr, ("SourceRange, Expr, Expr, Expr",), lambda at, *parts: _tree("list comprehension", at, *parts)),
    "DictComp": (Expr, ("SourceRange, Expr, Expr, Expr, Expr",), lambda at, *parts: _tree("dict comprehension", at, *parts)),
    "ListLiteral": (Expr, ("SourceRange, List[Expr]",), lambda at, items: _tree("list-literal", at, items)),
    "TupleLiteral": (Expr, ("SourceRange, List[Expr]",), lambda at, items: _tree("tuple-literal", at, items)),
    "DictLiteral": (Expr, ("SourceRange, List[Expr], List[Expr]",), lambda at, *parts: _tree("dict-literal", at, *parts)),
    "Subscript": (Expr, ("Expr, List[Expr]",), lambda value, items: _subscript(value, items)),
    "SliceExpr": (Expr, ("SourceRange, Expr?, Expr?, Expr?",), lambda at, *parts: _tree("slice expr", at, *((p,) for p in parts))),
    "Starred": (Expr, ("SourceRange, Expr",), lambda at, value: _tree("starred", at, value)),
}  # fmt: skip


def _subscript(value: Any, items: list[Any]) -> tuple[Any, Any]:
    """A subscript reaches to the bracket behind its parts."""
    (kind, start, end, text, parts), source = _tree("subscript", value, value, items)
    return (kind, start, end + 1, text, parts), source


def _split(takes: str) -> tuple[str, ...]:
    return tuple(takes.split(", "))


def _make_class(name: str, base: type, takes: tuple[str, ...], make: _Make) -> type:
    doc = f"A Tree. Made of ({') or ('.join(takes)})."
    return type(name, (base,), {"TAKES": tuple(map(_split, takes)), "_make": lambda self, *args: make(*args), "__doc__": doc, "__module__": __name__})


for _name, (_base, _takes, _how) in _CLASSES.items():
    globals()[_name] = _make_class(_name, _base, _takes, _how)

Ident: Any = globals()["Ident"]
Property: Any = globals()["Property"]
EmptyTypeAnnotation: Any = globals()["EmptyTypeAnnotation"]
Ident.name = property(lambda self: self.tree[3], doc="The name.")
globals()["Var"].name = property(lambda self: self._part(0), doc="The identifier.")
Property.name = lambda self: self._part(0)
Property.getter_name = lambda self: self._part(1).name()
Property.setter_name = lambda self: self._part(2, 0).name() if self.tree[4][2][4] else None


class Def(_Made, frontend.JitDef):
    """A function definition. Made of (Ident, Decl, List[Stmt])."""

    TAKES = (("Ident", "Decl", "List[Stmt]"),)
    is_method = False

    def _make(self, *args: Any) -> tuple[Any, Any]:
        name, decl, body = args
        return _tree("def", name, name, decl, body)

    def name(self) -> Any:
        """The identifier that the function has."""
        return self._part(0)

    def decl(self) -> Any:
        """The parameters and the type of the result."""
        return self._part(1)


def _class_of_kind() -> dict[str, type]:
    """The class of every kind of Tree. Those of operators have many."""
    made = {
        "ident": "Ident", "attribute": "Attribute", "param": "Param", "decl": "Decl", "property": "Property", "class": "ClassDef", "assign": "Assign",
        "aug_assign": "AugAssign", "return": "Return", "raise": "Raise", "assert": "Assert", "pass": "Pass", "break": "Break",
        "continue": "Continue", "expression statement": "ExprStmt", "del": "Delete", "if": "If", "while": "While", "for": "For", "with": "With",
        "withitem": "WithItem", "variable": "Var", "const": "Const", "string_literal": "StringLiteral", "dots": "Dots", "apply": "Apply",
        ".": "Select", "if expr": "TernaryIf", "list comprehension": "ListComp", "dict comprehension": "DictComp", "list-literal": "ListLiteral",
        "tuple-literal": "TupleLiteral", "dict-literal": "DictLiteral", "subscript": "Subscript", "slice expr": "SliceExpr", "starred": "Starred",
        "True": "Expr", "False": "Expr", "None": "Expr", "def": "Def", **dict.fromkeys(_UNARY.values(), "UnaryOp"), **dict.fromkeys(_BINARY, "BinOp"),
    }  # fmt: skip
    return {kind: globals()[name] for kind, name in made.items()}


_KINDS = _class_of_kind()


def view(tree: Any, source: Any) -> Any:
    """A Tree as an object of the class for its kind."""
    made: Any = object.__new__(_KINDS.get(tree[0], TreeView))
    made.tree, made.source = tree, source
    return made


def view_of_definition(definition: Any) -> Any:
    """What get_jit_def of the front end made, as a Def or ClassDef."""
    made = view(definition.tree, definition.source)
    if isinstance(definition, frontend.JitDef):
        made.is_method = definition.is_method
    return made


def tree_of_lists(found: Any) -> Any:
    """A Tree that the library replied."""
    kind, start, end, text, children = found
    has_text = kind in ("ident", "const", "string_literal", "aug_assign")
    return (kind, start, end, text if has_text else None, tuple(map(tree_of_lists, children)))


ClassDef: Any = globals()["ClassDef"]
ClassDef.data = frontend.JitClassDef.data

__all__ = sorted(("Expr", "Stmt", "Def", "TreeView", "SourceRange", "SourceRangeFactory", "TrueLiteral", "FalseLiteral", "NoneLiteral", *_CLASSES))
