"""Python source text of graphs."""

from __future__ import annotations

import keyword
import re
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torchjit as torch
import torchjit.utils._pytree as pytree
from torchjit import _native
from torchjit.fx._compatibility import compatibility
from torchjit.fx._names import _custom_builtins, _Namespace
from torchjit.fx.node import Node, _get_qualified_name, _public_module, _type_repr, map_arg

magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}",
}  # fmt: skip
reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}",
    "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods.update(reflectable_magic_methods)
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip

_origin_type_map: dict[Any, Any] = {
    kind: getattr(typing, name)
    for kind, name in ((list, "List"), (dict, "Dict"), (set, "Set"), (frozenset, "FrozenSet"), (tuple, "Tuple"))
}

TransformCodeFunc = Callable[[list[str]], list[str]]


class _PyTreeInfo(NamedTuple):
    """How arguments and results that are containers stand for the leaves that a graph works on."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


@compatibility(is_backward_compatible=True)
@dataclass
class PythonCode:
    """The text of a graph's function, and the objects that its global names mean."""

    src: str
    globals: dict[str, Any]


def _is_from_torch(obj: Any) -> bool:
    """Whether generated code can reach an object by its name in torch."""
    if isinstance(obj, (_native.Function, _native.ScriptFunction)):
        return isinstance(obj, _native.Function)  # a compiled function has no name in torch
    module = getattr(obj, "__module__", None)
    if module is not None:
        return _public_module(module).partition(".")[0] == "torch"
    name = getattr(obj, "__name__", None)
    if name is None or obj is torch:
        return False
    return any(getattr(guess, name, None) is obj for guess in (torch, torch.nn.functional))


def _format_target(base: str, target: str) -> str:
    """The expression for a dotted path from base."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f"getattr({base}, {_quoted(part)})"
    return base


def _quoted(text: str) -> str:
    """A text as Python writes it, between double quotes where that needs no escape."""
    return f'"{text}"' if text.isprintable() and '"' not in text and "\\" not in text else repr(text)


def check_names(nodes: Iterable[Node]) -> None:
    """Raises SyntaxError where names of a graph, which become text of Python, are not names of variables."""
    for node in nodes:
        names = [node.name, *node.kwargs]
        if node.op == "placeholder":
            names.append(str(node.target).lstrip("*"))
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise SyntaxError(f"{name!r} of the node {node.name!r} is not the name of a variable: it cannot be written into the code of a graph")


def _last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """The nodes that are used for the last time by each node."""
    seen: set[Node] = set()
    ends: dict[Node, list[Node]] = defaultdict(list)
    for user in reversed(nodes):  # type: ignore[call-overload]

        def note(n: Node, user: Node = user) -> None:
            if n not in seen:
                seen.add(n)
                ends[user].append(n)

        map_arg(user.args, note)
        map_arg(user.kwargs, note)
    return ends


class _Emitter:
    """The statements of one function while they are written."""

    def __init__(self, codegen: CodeGen, root_module: str, namespace: _Namespace, verbose: bool) -> None:
        self.codegen, self.root, self.namespace, self.verbose = codegen, root_module, namespace, verbose
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""

    def global_name(self, hint: str, obj: Any) -> str:
        """The name by which the code reaches an object."""
        if _is_from_torch(obj) and obj != torch.device:
            return _get_qualified_name(obj)
        name = self.namespace.create_name(hint, obj)
        assert self.globals.setdefault(name, obj) is obj
        return name

    def type_text(self, kind: Any) -> str:
        if kind == ():
            return "()"
        if not hasattr(kind, "__origin__"):
            return self.global_name(_type_repr(kind), kind)
        origin = _origin_type_map.get(kind.__origin__, kind.__origin__)
        text = self.global_name(_type_repr(origin), origin)
        args = [self.type_text(arg) for arg in getattr(kind, "__args__", ())]
        return f"{text}[{','.join(args)}]" if args else text

    def argument(self, arg: Any) -> str:
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.global_name(_get_qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        return repr(arg)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        return ", ".join([self.argument(a) for a in args] + [f"{k} = {self.argument(v)}" for k, v in kwargs.items()])

    def statement(self, node: Node) -> None:
        """Adds the statement of a node, without the end of its line."""
        annotation = "" if node.type is None else f" : {self.type_text(node.type)}"
        getattr(self, node.op)(node, f"{node!r}{annotation}", annotation)

    def placeholder(self, node: Node, left: str, annotation: str) -> None:
        default = f" = {self.argument(node.args[0])}" if node.args else ""
        target = str(node.target)
        self.free_vars.append(f"{target}{annotation}{default}")
        raw = target.replace("*", "")
        if raw != repr(node):
            self.body.append(f"{node!r} = {raw}\n")

    def call_method(self, node: Node, left: str, annotation: str) -> None:
        path = _format_target(self.argument(node.args[0]), str(node.target))
        self.body.append(f"{left} = {path}({self.arguments(node.args[1:], node.kwargs)})")

    def call_function(self, node: Node, left: str, annotation: str) -> None:
        target: Any = node.target
        if target.__module__ == "_operator" and target.__name__ in magic_methods:
            operands = [self.argument(a) for a in node.args]
            self.body.append(f"{left} = {magic_methods[target.__name__].format(*operands)}")
            return
        if target.__module__ == "_operator" and target.__name__ in inplace_methods:
            operands = [self.argument(a) for a in node.args]
            self.body.append(f"{inplace_methods[target.__name__].format(*operands)};  {left} = {operands[0]}")
            return
        name = self.global_name(_get_qualified_name(target), target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.body.append(f"{left} = {_format_target(self.argument(node.args[0]), node.args[1])}")
            return
        self.body.append(f"{left} = {name}({self.arguments(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    def call_module(self, node: Node, left: str, annotation: str) -> None:
        path = _format_target(self.root, str(node.target))
        self.body.append(f"{left} = {path}({self.arguments(node.args, node.kwargs)})")

    def get_attr(self, node: Node, left: str, annotation: str) -> None:
        self.body.append(f"{left} = {_format_target(self.root, str(node.target))}")

    def output(self, node: Node, left: str, annotation: str) -> None:
        if node.type is not None:
            self.returns = f" -> {self.type_text(node.type)}"
        self.body.append(self.codegen.generate_output(node.args[0]))

    def end_line(self, node: Node, dead: list[Node]) -> None:
        """Ends the line of a node; it drops the values that nothing later uses."""
        if node.op == "placeholder":
            return
        dropped = " = ".join([repr(n) for n in dead] + ["None"]) if dead and node.op != "output" else ""
        self.body.append(f";  {dropped}\n" if dropped else "\n")


@compatibility(is_backward_compatible=False)
class CodeGen:
    """How the code of a graph is written: its def, its arguments, its results."""

    def __init__(self) -> None:
        self._body_transformer: TransformCodeFunc | None = None

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line of def for parameters, to which self is added where it is missing."""
        if len(free_vars) == 0 or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """The statement of return."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders for the arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The result of a call for the value of the output node."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """What the code needs beside what the nodes need: names and objects."""
        return []

    def _gen_python_code(
        self, nodes: Any, root_module: str, namespace: _Namespace, *, verbose: bool = False
    ) -> PythonCode:
        emit = _Emitter(self, root_module, namespace, verbose)
        for name, (_, obj) in _custom_builtins.items():
            emit.global_name(name, obj)
        ends, places = _last_uses(nodes), _Places()
        for node in nodes:
            if verbose:
                emit.body += places.comment(node)
            emit.statement(node)
            emit.end_line(node, ends.get(node, []))
        body = emit.body or ["pass\n"]  # a function needs a statement
        if emit.wrapped:
            wrap_name = emit.global_name("wrap", torch.fx.wrap)
            wraps = "\n".join(f'{wrap_name}("{name}")' for name in emit.wrapped)
        else:
            wraps = ""
        if self._body_transformer:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            emit.global_name(name, value)
        prologue = self.gen_fn_def(emit.free_vars, emit.returns)
        code = "\n".join("    " + line for line in "".join(body).split("\n"))
        return PythonCode(f"\n{wraps}\n\n{prologue}\n{code}", emit.globals)


_place = re.compile(r'^File "(.+)", line (\d+), in (.+)$')


class _Places:
    """Comments that say where nodes come from, one for nodes of the same place that follow each other."""

    def __init__(self) -> None:
        self.last: str | None = None

    def comment(self, node: Node) -> list[str]:
        if node.op in ("placeholder", "output"):
            return []
        stack = node.stack_trace or ""
        if stack == self.last:
            return []
        self.last = stack
        if not stack:
            return ["\n# No stacktrace found for following nodes\n"]
        lines = [" ".join(line.split()) if not line.isprintable() else line.strip() for line in stack.strip().split("\n")]
        found = [(match, code) for match, code in zip(map(_place.match, lines), [*lines[1:], ""], strict=True) if match]
        if not found:
            return []
        match, code = found[-1]
        return [f"\n# File: {match[1]}:{match[2]}, code: {code}\n"]


@compatibility(is_backward_compatible=False)
class _PyTreeCodeGen(CodeGen):
    """The code of a graph whose arguments and results are containers."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.tree_flatten(inputs)[0]

    def process_outputs(self, out: Any) -> Any:
        leaves = list(out) if isinstance(out, (list, tuple)) else [out]
        assert self.pytree_info.out_spec is not None
        return pytree.tree_unflatten(leaves, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        definition = super().gen_fn_def(names[:], maybe_return_annotation)
        if free_vars:
            flat = f"fx_pytree.tree_flatten_spec([{', '.join(names)}], self._in_spec)"
            definition += f"\n    {', '.join(free_vars)}, = {flat}"
        return definition

    def generate_output(self, output_args: Any) -> str:
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"
