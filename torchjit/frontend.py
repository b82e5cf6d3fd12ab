"""Turns Python functions and classes into the compiler's Trees, by way of CPython's ast.

This is the Python door of the compiler. It builds the Tree, refuses the syntax that TorchScript
does not have, and records where every node stands. It knows nothing of types; ``# type:`` comments
are read by the Go side, which has the text.

A Tree node is a tuple ``(kind, start, end, text, children)`` with byte offsets into the source.
``JitDef.data`` and ``JitClassDef.data`` hold the nodes and the text as one bytes object, which
``syntax.Decode`` reads.
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    # What stands at a line and a column; a part that stands in another source is a TreeView.
    Placed: TypeAlias = ast.stmt | ast.expr | ast.arg | ast.keyword
    Tree: TypeAlias = tuple[str, int, int, str | None, tuple["Part", ...]]
    Part: TypeAlias = "Tree | TreeView"

__all__ = [
    "FrontendError",
    "FrontendTypeError",
    "JitClassDef",
    "JitDef",
    "NotSupportedError",
    "SourceRange",
    "UnsupportedNodeError",
    "get_class_properties",
    "get_default_args",
    "get_jit_class_def",
    "get_jit_def",
]

CONTEXT_LINES = 2


class Source:
    """Text of one definition, cut free of its indentation, and where it came from."""

    def __init__(self, text: str, filename: str | None, first_line: int, indent: int, function: str = "") -> None:
        self.text: bytes = text.encode("utf-8", "surrogatepass")
        self.filename: str | None = filename
        self.first_line = first_line
        self.indent = indent
        self.function: str = function
        self.line_starts: list[int] = [0]
        at = self.text.find(b"\n")
        while at >= 0:
            self.line_starts.append(at + 1)
            at = self.text.find(b"\n", at + 1)
        self.columns: list[int] = self.line_starts  # where each line's first column is; see torchjit._sources

    def offset(self, lineno: int, column: int) -> int:
        return self.columns[lineno - 1] + column

    def line_of(self, offset: int) -> int:
        from bisect import bisect_right

        return bisect_right(self.line_starts, offset) - 1

    def range(self, start: int, end: int) -> SourceRange:
        return SourceRange(self, start, min(end, len(self.text)))


class SourceRange:
    """The span of bytes ``[start, end)`` of a Source."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def highlight(self) -> str:
        """Return the lines around the range, with the range underlined."""
        source = self.source
        lines = source.text.decode("utf-8", "replace").split("\n")
        first = source.line_of(self.start)
        last = source.line_of(max(self.start, self.end))
        indent = " " * source.indent
        out = [f'  File "{source.filename}", line {source.first_line + first}'] if source.filename else []
        for number in range(max(0, first - CONTEXT_LINES), min(len(lines), last + CONTEXT_LINES + 1)):
            line = lines[number]
            if number >= first and number == len(lines) - 1 and not line:
                break
            out.append(indent + line if line else line)
            if first <= number <= last:
                out.extend(self._underline(number, first, last, indent))
        return "\n".join(out) + "\n"

    def _underline(self, number: int, first: int, last: int, indent: str) -> Iterator[str]:
        source = self.source
        start = source.line_starts[number]
        end = source.line_starts[number + 1] - 1 if number + 1 < len(source.line_starts) else len(source.text)
        line = source.text[start:end]
        low = max(self.start - start, 0)
        if number > first:
            low = len(line) - len(line.lstrip(b" "))
        high = min(self.end - start, len(line))
        if high > low:
            yield indent + " " * low + "~" * (high - low) + (" <--- HERE" if number == last else "")

    def __str__(self) -> str:
        return "SourceRange at:\n" + self.highlight()

    def __repr__(self) -> str:
        return self.highlight()


# What to write in place of syntax that programs do not have, by the beginning of the message. The Go door has the same.
HINTS = {
    "try blocks": "a program cannot catch exceptions; a Python function that is marked @torch.jit.ignore can",
    "import statements": "import outside of the function: what is imported there is known here",
    "global variables": "pass the value in and return the new one",
    "nonlocal variables": "pass the value in and return the new one",
    "class definitions": "define the class outside of the function",
    "function definitions": "define the function outside of this one",
    "Lambda": "define a function outside of this one and call it",
    "Set ": "the keys of a dictionary are a set",
    "else branches of": "set a variable where the loop is left, and look at it behind the loop",
    "Comprehension ifs": "append to a list in a loop",
    "unsupported kind of augumented assignment": "write x = x // y, or with @",
    "keyword-arg expansion": "name the arguments one by one",
    "Dict expansion": "copy the dictionary and call update",
    "annotated assignments without": "give the variable a value",
    "raise without": "name the exception",
    "Compiled functions can't take variable": "take a list or a tuple",
    "Don't support formatting": "use %: '%.2f' % x",
}


def hint_for(message: str) -> str:
    """Return the hint for a message, "" where there is none."""
    return next((hint for start, hint in HINTS.items() if message.startswith(start)), "")


def _advised(error):
    """The error, with the cure of a common mistake as a note. Where this file is used alone there is no library that knows them."""
    try:
        from torchjit._advice import advised
    except ModuleNotFoundError:
        return error
    return advised(error)


class FrontendError(Exception):
    """A mistake in the program's syntax, with the place it stands at."""

    __module__ = "torchjit.jit.frontend"

    def __init__(self, source_range: SourceRange, msg: str) -> None:
        self.source_range = source_range
        self.msg = msg
        hint = hint_for(msg)
        super().__init__(f"{msg}:\n{source_range.highlight()}" + (f"note: {hint}\n" if hint else ""))
        _advised(self)


class NotSupportedError(FrontendError):
    """Python that TorchScript does not have."""

    __module__ = "torchjit.jit.frontend"


class UnsupportedNodeError(NotSupportedError):
    """A kind of statement or expression that TorchScript does not have."""

    __module__ = "torchjit.jit.frontend"

    def __init__(self, source: Source, node: Any, reason: str = "") -> None:
        kind = type(node).__name__
        what, token = UNSUPPORTED_NODES.get(kind, (kind, " "))
        start = source.offset(node.lineno, node.col_offset)
        super().__init__(source.range(start, start + len(token)), f"{what} {reason + ' ' if reason else ''}aren't supported")


class FrontendTypeError(FrontendError):
    """An annotation that is not a type."""

    __module__ = "torchjit.jit.frontend"


# What messages call a node, and the word that is underlined.
UNSUPPORTED_NODES = {
    "AnnAssign": ("annotated assignments", " "),
    "AsyncFor": ("async for loops", "async for"),
    "AsyncFunctionDef": ("async function definitions", "async def"),
    "AsyncWith": ("async with statements", "async with"),
    "ClassDef": ("class definitions", "class"),
    "FunctionDef": ("function definitions", "def"),
    "Global": ("global variables", "global"),
    "Import": ("import statements", "import"),
    "ImportFrom": ("import statements", "from"),
    "Nonlocal": ("nonlocal variables", "nonlocal"),
    "Try": ("try blocks", "try"),
    "TryStar": ("try blocks", "try"),
}

VARIADIC_PARAMETERS = (
    "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults"
)

BINARY_OPERATORS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "MatMult": "@",
    "Pow": "**",
    "LShift": "<<",
    "RShift": ">>",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
}
AUGMENTED_OPERATORS = {name: op for name, op in BINARY_OPERATORS.items() if name not in ("FloorDiv", "MatMult")}
UNARY_OPERATORS = {"Not": ("not", "not"), "USub": ("unary minus", "-"), "Invert": ("~", "~")}
COMPARISONS = {
    "Eq": "==",
    "NotEq": "!=",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Is": "is",
    "IsNot": "is not",
    "In": "in",
}

WHITESPACE = b" \t\n\r\v\f"


def leaf(kind: str, start: int, end: int, text: str | None = None) -> Tree:
    return (kind, start, end, text, ())


def node(kind: str, start: int, end: int, *children: Part) -> Tree:
    """Return a compound node whose range covers its children."""
    for child in children:
        if isinstance(child, TreeView):  # stands in another source
            continue
        if child[4] or child[0] not in ("list", "option"):
            start = min(start, child[1])
            end = max(end, child[2])
    return (kind, start, end, None, children)


def group(items: Iterable[Part]) -> Tree:
    items = tuple(items)
    near = [i for i in items if not isinstance(i, TreeView)]
    if not near:
        return ("list", 0, 0, None, items)
    return ("list", min(i[1] for i in near), max(i[2] for i in near), None, items)


def option(item: Part | None) -> Tree:
    if item is None:
        return ("option", 0, 0, None, ())
    if isinstance(item, TreeView):
        return ("option", 0, 0, None, (item,))
    return ("option", item[1], item[2], None, (item,))


def ident(start: int, end: int, name: str) -> Tree:
    return leaf("ident", start, end, name)


def variable(start: int, end: int, name: str) -> Tree:
    return node("variable", start, end, ident(start, end, name))


class Builder:
    """Builds the Trees of one Source. The method for an ast class is named after it."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def start(self, item: Placed) -> int:
        return self.source.columns[item.lineno - 1] + item.col_offset

    def range_of(self, tree: Tree) -> SourceRange:
        return self.source.range(tree[1], tree[2])

    def build(self, item: ast.AST) -> Tree:
        method = getattr(self, type(item).__name__, None)
        if method is None:
            raise UnsupportedNodeError(self.source, item)
        return method(item)

    def body(self, statements: list[ast.stmt]) -> Tree:
        return group([self.build(s) for s in statements])

    def keyword(self, kind: str, item: Placed, *children: Part, word: str | None = None) -> Tree:
        start = self.start(item)
        return node(kind, start, start + len(word or kind), *children)

    # Definitions

    def definition(
        self, item: ast.FunctionDef, name: str, self_name: str | None = None, is_classmethod: bool = False,
        unused: bool = False,
    ) -> Tree:  # fmt: skip
        start = self.def_start(item)
        end = start + len("def")
        params = self.params(item.args, self_name, unused)
        returns = None if item.returns is None else self.build(item.returns)
        decl = node("decl", start, end, group(params), option(returns))
        if unused:
            body = group([unused_body(self.source)])
        else:
            body = self.body(item.body)
        if is_classmethod:
            body = group([self.class_binding(item, self_name), *body[4]])
        return node("def", start, end, ident(start, end, name), decl, body)

    def def_start(self, item: ast.FunctionDef) -> int:
        """Return where PyTorch says that a function starts: as many lines below it as it has decorators."""
        line = min(item.lineno - 1 + len(item.decorator_list), len(self.source.line_starts) - 1)
        return self.source.columns[line] + item.col_offset

    def class_binding(self, item: ast.FunctionDef, self_name: str | None) -> Tree:
        """Return the statement that binds the first parameter of a class method to its class."""
        if not item.args.args:
            raise ValueError(f"Class method '{item.name}' must have the class as its first parameter")
        param = item.args.args[0]
        start = self.start(param)
        end = start + len(param.arg)
        return node(
            "assign",
            start,
            end,
            group([variable(start, end, param.arg)]),
            option(variable(start, end, self_name or "")),
            option(None),
        )

    def params(self, args: ast.arguments, self_name: str | None, unused: bool) -> list[Tree]:
        if not unused:
            self.check_params(args)
        positional = getattr(args, "posonlyargs", []) + args.args
        params = [self.param(a, self_name, False, unused) for a in positional]
        return params + [self.param(a, self_name, True, unused) for a in args.kwonlyargs]

    def check_params(self, args: ast.arguments) -> None:
        variadic = args.kwarg or args.vararg
        if variadic is not None:
            start = self.start(variadic)
            raise NotSupportedError(self.source.range(start - 1, start + len(variadic.arg)), VARIADIC_PARAMETERS)
        for default in args.kw_defaults:
            if default is not None:
                raise NotSupportedError(self.range_of(self.build(default)), VARIADIC_PARAMETERS)

    def param(self, arg: ast.arg, self_name: str | None, keyword_only: bool, unused: bool) -> Tree:
        start = self.start(arg)
        end = start + len(arg.arg.encode())
        annotation = None
        if unused:
            annotation = variable(start, end, "Any")
        elif arg.annotation is not None:
            annotation = self.build(arg.annotation)
        elif self_name is not None and arg.arg == "self":
            annotation = variable(start, end, self_name)
        flag = leaf("True" if keyword_only else "False", start, end)
        return node("param", start, end, ident(start, end, arg.arg), option(annotation), option(None), flag)

    # Statements

    def Expr(self, item: ast.Expr) -> Tree:
        value = self.build(item.value)
        return node("expression statement", value[1], value[2], value)

    def Assign(self, item: ast.Assign) -> Tree:
        targets = [self.build(t) for t in item.targets]
        value = self.build(item.value)
        return node("assign", targets[0][1], targets[0][2], group(targets), option(value), option(None))

    def AnnAssign(self, item: ast.AnnAssign) -> Tree:
        if item.value is None:
            raise UnsupportedNodeError(self.source, item, "without assigned value")
        target: Any = self.build(item.target)
        if target[0] == "." and target[4][0][0] == "variable" and target[4][0][4][0][3] == "self":
            if self.source.function != "__init__":
                raise ValueError(
                    "Type annotations on instance attributes must be declared in __init__, "
                    f"not '{self.source.function}': SourceRange at:\n{self.range_of(target).highlight()}"
                )
        value = self.build(item.value)
        annotation = self.build(item.annotation)
        return node("assign", target[1], target[2], group([target]), option(value), option(annotation))

    def AugAssign(self, item: ast.AugAssign) -> Tree:
        left = self.build(item.target)
        right = self.build(item.value)
        name = type(item.op).__name__
        if name not in AUGMENTED_OPERATORS:
            at = self.source.text.rindex(b"=", 0, right[1])
            where = self.source.range(at - 1, at + 1)
            raise NotSupportedError(where, f"unsupported kind of augumented assignment: {name}")
        _, start, end, _, children = node("aug_assign", left[1], left[2], left, right)
        return ("aug_assign", start, end, AUGMENTED_OPERATORS[name], children)

    def Return(self, item: ast.Return) -> Tree:
        if item.value is not None:
            return self.keyword("return", item, self.build(item.value))
        start = self.start(item)
        return self.keyword("return", item, leaf("None", start, start + len("return")))

    def Raise(self, item: ast.Raise) -> Tree:
        if item.exc is None:
            start = self.start(item)
            where = self.source.range(start, start + len("raise"))
            raise NotSupportedError(where, "raise without an exception is not supported")
        return self.keyword("raise", item, self.build(item.exc))

    def Assert(self, item: ast.Assert) -> Tree:
        message = None if item.msg is None else self.build(item.msg)
        return self.keyword("assert", item, self.build(item.test), option(message))

    def Delete(self, item: ast.Delete) -> Tree:
        return self.keyword("del", item, group([self.build(t) for t in item.targets]))

    def If(self, item: ast.If) -> Tree:
        return self.keyword("if", item, self.build(item.test), self.body(item.body), self.body(item.orelse))

    def While(self, item: ast.While) -> Tree:
        self.no_else(item, "while")
        return self.keyword("while", item, self.build(item.test), self.body(item.body))

    def For(self, item: ast.For) -> Tree:
        self.no_else(item, "for")
        targets = group([self.build(item.target)])
        return self.keyword("for", item, targets, group([self.build(item.iter)]), self.body(item.body))

    def no_else(self, item: ast.While | ast.For, word: str) -> None:
        if item.orelse:
            start = self.start(item)
            where = self.source.range(start, start + len(word))
            raise NotSupportedError(where, f"else branches of {word} loops aren't supported")

    def With(self, item: ast.With) -> Tree:
        if is_torch_jit_ignore_context_manager(item):
            return self.build(ignored_call(item, self.source.filename))
        items = group([self.with_item(i) for i in item.items])
        return self.keyword("with", item, items, self.body(item.body))

    def with_item(self, item: ast.withitem) -> Tree:
        target = self.build(item.context_expr)
        name = None
        if item.optional_vars is not None:
            name = self.build(item.optional_vars)
            if name[0] != "variable":
                raise NotSupportedError(
                    self.range_of(name), "'as' expression in with statement must be a variable"
                )
        return node("withitem", target[1], target[2], target, option(name))

    def Pass(self, item: ast.Pass) -> Tree:
        return self.keyword("pass", item)

    def Break(self, item: ast.Break) -> Tree:
        return self.keyword("break", item)

    def Continue(self, item: ast.Continue) -> Tree:
        return self.keyword("continue", item)

    # Expressions

    def Name(self, item: ast.Name) -> Tree:
        start = self.start(item)
        end = start + len(item.id.encode())
        if item.id in ("True", "False", "None"):
            return leaf(item.id, start, end)
        if item.id == "Ellipsis":
            return leaf("dots", start, end)
        return variable(start, end, item.id)

    def NameConstant(self, item: ast.NameConstant) -> Tree:
        return self.Constant(item)

    def Constant(self, item: ast.Constant) -> Tree:
        value = item.value
        start = self.start(item)
        if value is True or value is False or value is None:
            return leaf(str(value), start, start + len(str(value)))
        if value is Ellipsis:
            return leaf("dots", start, start + 3)
        if isinstance(value, str):
            return leaf("string_literal", start, start + len(value) + 1, value)
        text = repr(value)
        if not isinstance(value, (int, float, complex)):
            raise FrontendError(self.source.range(start, start + len(text)), "Unknown Constant expression type")
        return leaf("const", start, start + len(text), text)

    def JoinedStr(self, item: ast.JoinedStr) -> Tree:
        start = self.start(item)
        where = self.source.range(start, start + 1)
        pieces = []
        values = []
        value: Any  # ast.Constant or ast.FormattedValue
        for value in item.values:
            if type(value).__name__ == "Constant":
                pieces.append(value.value)
                continue
            if value.conversion != -1:
                raise NotSupportedError(where, "Don't support conversion in JoinedStr")
            if value.format_spec is not None:
                raise NotSupportedError(where, "Don't support formatting in JoinedStr")
            pieces.append("{}")
            values.append(self.build(value.value))
        text = leaf("string_literal", start, start + 1, "".join(pieces))
        callee = node(".", start, start + 1, text, ident(start, start + 1, "format"))
        return node("apply", start, start + 1, callee, group(values), group([]))

    def Call(self, item: ast.Call) -> Tree:
        callee = self.build(item.func)
        inputs = [self.build(a) for a in item.args]
        attributes = []
        for argument in item.keywords:
            value = self.build(argument.value)
            if argument.arg is None:
                raise NotSupportedError(self.range_of(value), "keyword-arg expansion is not supported")
            name = ident(value[1], value[2], argument.arg)
            attributes.append(node("attribute", value[1], value[2], name, value))
        return node("apply", callee[1], callee[2], callee, group(inputs), group(attributes))

    def Attribute(self, item: ast.Attribute) -> Tree:
        value = self.build(item.value)
        text = self.source.text
        start = value[2] + 1
        while start < len(text) and text[start] in WHITESPACE:
            start += 1
        return node(".", value[1], value[2], value, ident(start, start + len(item.attr.encode()), item.attr))

    def Subscript(self, item: ast.Subscript) -> Tree:
        value = self.build(item.value)
        index: Any = item.slice
        if type(index).__name__ == "Tuple":
            if index.elts:
                items = [self.subscript_item(value, e) for e in index.elts]
            else:
                start = self.start(index)
                items = [node("tuple-literal", start, start + 2, group([]))]
        else:
            items = [self.subscript_item(value, index)]
        return node("subscript", value[1], max(i[2] for i in items) + 1, value, group(items))

    def subscript_item(self, value: Tree, item: Any) -> Tree:
        if type(item).__name__ != "Slice":
            return self.build(item)
        parts = [None if p is None else self.build(p) for p in (item.lower, item.upper, item.step)]
        return node("slice expr", value[1], value[2], *map(option, parts))

    def List(self, item: ast.List) -> Tree:
        return self.display("list-literal", item)

    def Tuple(self, item: ast.Tuple) -> Tree:
        return self.display("tuple-literal", item)

    def display(self, kind: str, item: ast.List | ast.Tuple) -> Tree:
        start = self.start(item)
        return node(kind, start, start + 1, group([self.build(e) for e in item.elts]))

    def Dict(self, item: ast.Dict) -> Tree:
        start = self.start(item)
        if any(key is None for key in item.keys):
            where = self.source.range(start, start + 1)
            raise NotSupportedError(where, "Dict expansion (e.g. `{**dict}`) is not supported")
        keys = group([self.build(k) for k in item.keys if k is not None])
        return node("dict-literal", start, start + 1, keys, group([self.build(v) for v in item.values]))

    def ListComp(self, item: ast.ListComp) -> Tree:
        target, iterable = self.generator(item)
        start = self.start(item)
        return node("list comprehension", start, start + 1, self.build(item.elt), target, iterable)

    GeneratorExp = ListComp

    def DictComp(self, item: ast.DictComp) -> Tree:
        target, iterable = self.generator(item)
        start = self.start(item)
        key, value = self.build(item.key), self.build(item.value)
        return node("dict comprehension", start, start + 1, key, value, target, iterable)

    def generator(self, item: ast.ListComp | ast.DictComp) -> tuple[Tree, Tree]:
        start = self.start(item)
        where = self.source.range(start, start)
        if len(item.generators) != 1:
            raise NotSupportedError(where, "Only a single generator is currently supported")
        generator = item.generators[0]
        if generator.ifs:
            raise NotSupportedError(where, "Comprehension ifs are not supported yet")
        if generator.is_async:
            raise NotSupportedError(where, "async comprehensions aren't supported")
        return self.build(generator.target), self.build(generator.iter)

    def Starred(self, item: ast.Starred) -> Tree:
        start = self.start(item)
        return node("starred", start, start + 1, self.build(item.value))

    def IfExp(self, item: ast.IfExp) -> Tree:
        cond, yes, no = self.build(item.test), self.build(item.body), self.build(item.orelse)
        return node("if expr", cond[1], cond[2], cond, yes, no)

    def UnaryOp(self, item: ast.UnaryOp) -> Tree:
        name = type(item.op).__name__
        start = self.start(item)
        if name not in UNARY_OPERATORS:
            # PyTorch fails while it makes its message, and programs catch what comes of that.
            where = self.source.range(start, start + 1).highlight()
            raise AttributeError(f"'UnaryOp' object has no attribute 'range'\n\nunsupported unary operator: {name}:\n{where}")
        kind, symbol = UNARY_OPERATORS[name]
        return node(kind, start, start + len(symbol), self.build(item.operand))

    def BinOp(self, item: ast.BinOp) -> Tree:
        return self.binary(BINARY_OPERATORS[type(item.op).__name__], self.build(item.left), self.build(item.right))

    def BoolOp(self, item: ast.BoolOp) -> Tree:
        kind = "and" if type(item.op).__name__ == "And" else "or"
        tree = self.build(item.values[0])
        for value in item.values[1:]:
            tree = self.binary(kind, tree, self.build(value))
        return tree

    def Compare(self, item: ast.Compare) -> Tree:
        left = self.build(item.left)
        chain: Any = None
        for operator, comparator in zip(item.ops, item.comparators):
            right = self.build(comparator)
            name = type(operator).__name__
            if name == "NotIn":
                pair = self.binary("in", left, right)
                pair = node("not", pair[1], pair[2], pair)
            else:
                pair = self.binary(COMPARISONS[name], left, right)
            chain = pair if chain is None else self.binary("and", chain, pair)
            left = right
        return chain

    def binary(self, kind: str, left: Tree, right: Tree) -> Tree:
        return node(kind, left[1], left[2], left, right)


def is_torch_jit_ignore_context_manager(stmt: ast.With) -> bool:
    """Tell whether a with statement is one of torch.jit._IgnoreContextManager(...)."""
    import ast

    call = stmt.items[0].context_expr
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.jit._IgnoreContextManager"


def ignored_call(stmt: ast.With, filename: str | None) -> ast.stmt:
    """Return the statement that calls Python where a with statement of torch.jit._IgnoreContextManager stands.

    The body becomes an ignored function of torch.jit.frontend, whose parameters and results the keywords name:
    x="inp:int", y="out:int". It sees torch and the names of typing.
    """
    import ast
    import re

    inputs: list[tuple[str, str]] = []
    outputs: list[tuple[str, str]] = []
    context: Any = stmt.items[0].context_expr
    for keyword in context.keywords:
        direction, _, annotation = ast.literal_eval(keyword.value).partition(":")
        (inputs if direction == "inp" else outputs).append((keyword.arg, annotation))
    name = "func_ignore_" + re.sub(r"\W", "_", str(filename)) + f"_{stmt.lineno}"
    names = [n for n, _ in outputs]
    kinds = [a for _, a in outputs]
    result = f"Tuple[{', '.join(kinds)}]" if len(kinds) > 1 else kinds[0] if kinds else "None"
    parameters = ", ".join(f"{n}: {a}" for n, a in inputs)
    made = ast.parse(f"def {name}({parameters}) -> {result}:\n  return {', '.join(names)}")
    definition: Any = made.body[0]
    definition.body[:0] = stmt.body
    define_ignored(made, name, filename)
    call = f"torch.jit.frontend.{name}({', '.join(n for n, _ in inputs)})"
    (statement,) = ast.parse(f"{', '.join(names)} = {call}" if names else call).body
    for part in ast.walk(statement):
        ast.copy_location(part, stmt)
    return statement


def define_ignored(definition: ast.Module, name: str, filename: str | None) -> None:
    """Make the function of a definition an ignored one of torch.jit.frontend."""
    import ast
    import typing

    import torchjit

    namespace = {**vars(typing), "torch": torchjit}
    exec(compile(ast.fix_missing_locations(definition), filename or "<unknown>", "exec"), namespace)
    setattr(torchjit.jit.frontend, name, torchjit.jit.ignore(namespace[name]))


def unused_body(source: Source) -> Tree:
    """Return the statement that stands for the body of an unused function.

    It stands where PyTorch says it does: as `<tab>raise RuntimeError("...")` in the second line of the text.
    """
    start = source.line_starts[min(1, len(source.line_starts) - 1)] + 1
    name = start + len("raise ")
    callee = variable(name, name + len("RuntimeError"), "RuntimeError")
    text = name + len("RuntimeError(")
    message = leaf("string_literal", text, text + 1, "Cannot call @unused methods")
    return node("raise", start, start + len("raise"), node("apply", name, text, callee, group([message]), group([])))


class Encoder:
    """Writes Trees and the texts they stand in as one bytes object."""

    MAGIC = b"TJT1"

    def __init__(self) -> None:
        self.nodes: array[int] = array("I")
        self.strings: dict[str, int] = {}
        self.sources: list[Source] = []

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def add(self, tree: Tree, source: Source) -> None:
        """Append a tree that stands in a source, children after their parent."""
        if source not in self.sources:
            self.sources.append(source)
        self._add(tree, self.sources.index(source))

    def _add(self, tree: Part, source: int) -> None:
        if isinstance(tree, TreeView):
            self.add(tree.tree, tree.source)
            return
        kind, start, end, text, children = tree
        self.nodes.extend((self.string(kind), source, start, end, 0 if text is None else self.string(text) + 1, len(children)))
        for child in children:
            self._add(child, source)

    def finish(self, is_method: bool) -> bytes:
        import sys

        if sys.byteorder != "little":
            self.nodes.byteswap()
        strings = [s.encode("utf-8", "surrogatepass") for s in self.strings]
        head = struct.pack(
            "<4sIIII", self.MAGIC, int(is_method), len(self.sources), len(self.nodes) // 6, len(strings)
        )
        parts = [head]
        for source in self.sources:
            name = (source.filename or "").encode("utf-8", "surrogatepass")
            parts += [
                struct.pack("<IIII", len(name), len(source.text), source.first_line, source.indent),
                name,
                source.text,
            ]
        parts.append(self.nodes.tobytes())
        parts.append(struct.pack(f"<{len(strings)}I", *map(len, strings)))
        return b"".join(parts + strings)


class TreeView:
    """A Tree with the source it stands in. Its text is the one that PyTorch prints.

    A part of the Tree that stands in another source is a TreeView.
    """

    WIDTH = 40
    PRINTED = {"if expr": "if", "**": "pow operator", "//": "floordiv", "==": "eq", "!=": "ne", "<=": "le", ">=": "ge"}

    def __init__(self, tree: Tree, source: Source) -> None:
        self.tree = tree
        self.source = source

    def range(self) -> SourceRange:
        return self.source.range(self.tree[1], self.tree[2])

    def __str__(self) -> str:
        return self._text(self.tree, 0) + "\n"

    def dump(self) -> None:
        print(self, end="")

    def _parts(self, tree: Tree):
        """Return the kind of a tree and what is printed behind it: trees and texts."""
        kind, _, _, text, parts = tree.tree if isinstance(tree, TreeView) else tree
        if kind == "aug_assign":
            return kind, [parts[0], (self.PRINTED.get(str(text), text), 0, 0, None, ()), parts[1]]
        if kind == "class":
            name, base, methods, properties, assigns = parts
            return kind, [name, base, methods, option(properties), option(assigns)]
        return self.PRINTED.get(kind, kind), [*parts] if text is None else [str(text)]

    def _flat(self, tree: Tree):
        if isinstance(tree, str):
            return tree
        kind, parts = self._parts(tree)
        return "(" + " ".join([kind, *(self._flat(part) for part in parts)]) + ")"

    def _text(self, tree: Tree, indent: int):
        flat = self._flat(tree)
        if indent + len(flat) < self.WIDTH or isinstance(tree, str):
            return flat
        kind, parts = self._parts(tree)
        return "(" + kind + "".join("\n" + " " * (indent + 2) + self._text(part, indent + 2) for part in parts) + ")"


class JitDef(TreeView):
    """One function definition: its Tree, its source, and both as bytes for the compiler."""

    def __init__(self, tree: Tree, source: Source, is_method: bool) -> None:
        super().__init__(tree, source)
        self.is_method = is_method

    @property
    def data(self) -> bytes:
        encoder = Encoder()
        encoder.add(self.tree, self.source)
        return encoder.finish(self.is_method)


class JitClassDef(TreeView):
    """A class: its methods and properties as JitDefs and the attributes it assigns."""

    def __init__(
        self, name: str, start: int, source: Source, methods: Sequence[JitDef],
        properties: Sequence[tuple[str, JitDef, JitDef | None]], assigns: Sequence[Tree],
    ) -> None:  # fmt: skip
        self.methods = methods
        self.assigns = assigns
        end = start + len("class")
        made = [node("property", *g.tree[1:3], ident(*g.tree[1:3], n), g.tree, option(s)) for n, g, s in properties]
        views = [TreeView(tree, getter.source) for tree, (_, getter, _) in zip(made, properties)]
        parts = (ident(start, end, name), option(None), group(methods), group(views), group(assigns))
        super().__init__(("class", start, end, None, parts), source)

    @property
    def data(self) -> bytes:
        encoder = Encoder()
        encoder.add(self.tree, self.source)
        return encoder.finish(True)


def read_source(obj: Any, function: str = "") -> Source:
    """Return the Source of a function or class.

    Raises OSError where Python cannot find the text.
    """
    import inspect

    try:
        filename = inspect.getsourcefile(obj)
        lines, first_line = _lines_of_function(obj, filename) or inspect.getsourcelines(obj)
    except OSError as error:
        found = _lines_of_class(obj) if inspect.isclass(obj) else None
        if found is None:
            raise OSError(
                f"Can't get source for {obj}. TorchScript requires source access in order to carry out "
                "compilation, make sure original .py files are available."
            ) from error
        filename, lines, first_line = found
    return source_of_lines(lines, filename or inspect.getfile(obj), max(first_line, 1), function)


def _lines_of_function(obj: object, filename: str | None):
    """Return the lines of a function and the number of the first one, None where only the tokens can tell.

    They end before the next line that is not indented further than the first one and closes no bracket. Whether
    this is so is seen by parsing them; inspect reads all tokens, which takes longer than the compilation.
    """
    import ast
    import inspect
    import linecache

    fn = inspect.unwrap(obj) if callable(obj) else obj
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is None or filename is None or code.co_filename != filename:
        return None
    lines = linecache.getlines(filename, getattr(fn, "__globals__", None))
    start = code.co_firstlineno - 1
    if not 0 <= start < len(lines):
        return None
    indent = _indentation(lines[start])
    begin = start
    while begin < len(lines) and not (_indentation(lines[begin]) == indent and lines[begin].lstrip().startswith(("def ", "async def "))):
        begin += 1  # a line of a decorator
    end = begin + 1
    for i in range(begin + 1, len(lines)):
        text = lines[i].strip()
        if text and not text.startswith("#"):
            if _indentation(lines[i]) <= indent and not text.startswith((")", "]", "}")):
                break
            end = i + 1
    found = lines[start:end]
    try:
        body = ast.parse(source_of_lines(found, filename, 1).text).body
    except SyntaxError:
        return None
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return found, start + 1


def _lines_of_class(cls: type):
    """Return the file of a class, its lines and the number of the first one, where its module has no file: in a notebook.

    Its functions know where they stand. None for a class without any.
    """
    import ast
    import inspect
    import linecache

    for function in vars(cls).values():
        code = getattr(inspect.unwrap(function) if callable(function) else getattr(function, "fget", None), "__code__", None)
        if code is None:
            continue
        lines = linecache.getlines(code.co_filename)
        for found in ast.walk(ast.parse("".join(lines))):
            if isinstance(found, ast.ClassDef) and found.name == cls.__name__ and found.lineno <= code.co_firstlineno <= found.end_lineno:
                start = min([found.lineno, *(decorator.lineno for decorator in found.decorator_list)])
                return code.co_filename, lines[start - 1 : found.end_lineno], start
    return None


def _indentation(line):
    return len(line) - len(line.lstrip(" \t"))


def source_of_lines(lines: Sequence[str], filename: str, first_line: int, function: str = "") -> Source:
    """Return the Source of lines, cutting the first line's indentation off every line that has it."""
    prefix = lines[0][: len(lines[0]) - len(lines[0].lstrip(" \t"))]
    cut = [line[len(prefix) :] if line.startswith(prefix) else line for line in lines]
    return Source("".join(cut), filename, first_line, len(prefix), function)


def parse_single(source: Source, kinds: tuple[str, ...], what: str) -> Any:
    """Return the one statement of a source, which must be of the ast classes named."""
    import ast

    module = ast.parse(source.text, filename=source.filename or "<unknown>")
    if len(module.body) != 1 or type(module.body[0]).__name__ not in kinds:
        raise _advised(RuntimeError(f"Expected a single top-level {what}: {source.filename}:{source.first_line}"))
    return module.body[0]


def get_jit_def(
    fn: Callable[..., object], def_name: str | None, self_name: str | None = None, is_classmethod: bool = False,
    unused: bool = False,
) -> JitDef:  # fmt: skip
    """Return the JitDef of a Python function under the name def_name.

    self_name is the name of the type of ``self`` in a method. With unused the body is replaced by
    an exception and the parameters take anything.
    """
    made = def_of_source(read_source(fn, fn.__name__), def_name, self_name, is_classmethod, unused)
    if recorded_types[0] is not None:
        made.tree = with_types(made.tree, recorded_types[0](getattr(fn, "__code__", None)))
    return made


# What gives the types of parameters by name for the code of a function, None but while example inputs are used.
recorded_types: list[None] = [None]


def with_types(definition: Any, kinds: Mapping[str, str]) -> Tree:
    """Return a definition whose parameters without annotation have the types that texts name."""
    name, decl, body = definition[4]
    params, result = decl[4]
    typed = tuple(typed_parameter(p, kinds.get(p[4][0][3])) for p in params[4])
    return (*definition[:4], (name, (*decl[:4], ((*params[:4], typed), result)), body))


def typed_parameter(param: Any, kind: str | None) -> Tree:
    """Return a parameter with the type that a text names, where it has none."""
    import ast

    name, annotation, default, flag = param[4]
    if kind is None or annotation[4]:
        return param
    at = Source(kind, "", 1, 0)
    start, end = name[1], name[2]

    def moved(tree):
        return (tree[0], start, end, tree[3], tuple(map(moved, tree[4])))

    made = option(moved(Builder(at).build(ast.parse(kind, mode="eval").body)))
    return (*param[:4], (name, made, default, flag))


def def_of_source(
    source: Source, def_name: str | None = None, self_name: str | None = None, is_classmethod: bool = False,
    unused: bool = False,
) -> JitDef:  # fmt: skip
    """Return the JitDef of the one function in a Source, by its own name unless def_name is given."""
    item = parse_single(source, ("FunctionDef",), "function")
    source.function = source.function or item.name
    tree = Builder(source).definition(item, def_name or item.name, self_name, is_classmethod, unused)
    return JitDef(tree, source, self_name is not None)


def get_default_args(fn: Callable[..., object]) -> dict[str, object]:
    """Return the default values of a function's parameters by name."""
    from torchjit import _annotations

    if fn is None:
        return {}
    parameters = _annotations.signature(fn).parameters
    return {k: v.default for k, v in parameters.items() if v.default is not v.empty}


def is_unused(fn: Callable[..., object]) -> bool:
    """Tell whether a function is marked so that its body is not compiled."""
    modifier = getattr(fn, "_torchscript_modifier", None)
    return modifier is not None and str(getattr(modifier, "value", modifier)).startswith(("unused", "_drop"))


def get_class_properties(cls: type, self_name: str | None) -> list[tuple[str, JitDef, JitDef | None]]:
    """Return ``(name, getter, setter or None)`` for the properties of a class that are compiled."""
    import inspect

    skipped = getattr(cls, "__jit_unused_properties__", [])
    properties = []
    for name, prop in inspect.getmembers(cls, lambda member: isinstance(member, property)):
        if name in skipped or is_unused(prop.fget):
            continue
        getter = get_jit_def(prop.fget, f"__{name}_getter", self_name=self_name)
        setter = None
        if prop.fset is not None:
            setter = get_jit_def(prop.fset, f"__{name}_setter", self_name=self_name)
        properties.append((name, getter, setter))
    return properties


def get_jit_class_def(cls: type, self_name: str | None) -> JitClassDef:
    """Return the JitClassDef of a Python class under the name self_name.

    It has the methods that the class itself defines, in the order of their names.
    """
    import inspect

    source = read_source(cls)
    item = parse_single(source, ("ClassDef",), "class")
    builder = Builder(source)
    methods = {
        name: method_def(cls, name, member, self_name)
        for name, member in inspect.getmembers(cls, lambda m: inspect.ismethod(m) or inspect.isfunction(m))
        if name in cls.__dict__ and not isinstance(cls.__dict__[name], staticmethod) and is_written(member)
    }
    methods.update(dataclass_methods(cls, item, self_name))
    return JitClassDef(
        self_name or cls.__name__,
        builder.start(item),
        source,
        [methods[name] for name in sorted(methods)],
        get_class_properties(cls, self_name),
        class_assigns(builder, item),
    )


def is_written(fn: Callable[..., object]) -> bool:
    """Tell whether a function of a class is the user's: dataclasses make some, and from Python 3.13 on add ``__replace__``.

    From 3.14 on a class with annotations has a function that evaluates them.
    """
    import inspect

    fn = inspect.unwrap(fn)
    code = getattr(fn, "__code__", None)
    if code is None:
        return True
    return code.co_filename != "<string>" and fn.__module__ != "dataclasses" and fn.__name__ != "__annotate__"


def method_def(cls: type, name: str, member: Callable[..., object], self_name: str | None) -> JitDef:
    is_classmethod = isinstance(cls.__dict__[name], classmethod)
    return get_jit_def(member, name, self_name=self_name, is_classmethod=is_classmethod, unused=is_unused(member))


def class_assigns(builder: Builder, item: ast.ClassDef) -> list[Tree]:
    """Return the assignments of a class body that can be compiled."""
    assigns = []
    for statement in item.body:
        if type(statement).__name__ in ("Assign", "AnnAssign"):
            try:
                assigns.append(builder.build(statement))
            except (FrontendError, ValueError):
                continue
    return assigns


def dataclass_methods(cls: type, item: ast.ClassDef, self_name: str | None) -> dict[str, JitDef]:
    """Return the methods that the dataclass decorator makes, written out as TorchScript."""
    if not hasattr(cls, "__dataclass_fields__"):
        return {}
    from torchjit.jit._dataclass_impls import made_methods

    made = made_methods(cls, item.body, is_written)
    return {name: def_of_source(parsed.ctx, name, self_name) for name, parsed in made.items()}
