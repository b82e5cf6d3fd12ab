"""Tracing of functions with asserts: they are rewritten into calls that are recorded."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from types import FunctionType
from typing import Any, cast

import torchjit as torch
from torchjit.fx import annotate as annotate
from torchjit.fx._symbolic_trace import Tracer
from torchjit.fx.graph import Graph


class AST_Rewriter(ast.NodeTransformer):  # noqa: N801
    """Rewrites what tracing could not record: asserts, and annotated assignments of variables that are no names."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """The function made anew, with the globals and defaults of the old one."""
        tree = self.visit(ast.parse(textwrap.dedent(inspect.getsource(fn))))
        ast.fix_missing_locations(tree)
        definition = tree.body[0]
        definition.decorator_list = []
        scope = dict(fn.__globals__)
        exec(compile(tree, "", "exec"), scope)
        made = scope[definition.name]
        code = made.__code__
        if code.co_freevars:
            raise RuntimeError(f"{fn.__name__} uses variables of the function around it, which a rewritten function cannot")
        result = FunctionType(code, {**fn.__globals__, "torch": torch}, fn.__name__, fn.__defaults__, None)
        result.__kwdefaults__ = fn.__kwdefaults__
        wrapped: Any = functools.wraps(fn)(result)
        return wrapped

    def visit_Assert(self, node: ast.Assert) -> Any:  # noqa: N802
        """A call of torch._assert."""
        message: ast.expr = node.msg if node.msg is not None else ast.Constant(value="", kind=None)
        function = ast.Attribute(value=ast.Name(id="torch", ctx=ast.Load()), attr="_assert", ctx=ast.Load())
        call = ast.Call(func=function, args=[node.test, message], keywords=[])
        return ast.copy_location(ast.Expr(value=call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:  # noqa: N802
        """An assignment whose value is annotated by torch.fx.annotate."""
        if node.value is None:
            return node
        function = functools.reduce(
            lambda owner, name: ast.Attribute(value=owner, attr=name, ctx=ast.Load()), ("fx", "annotate", "annotate"),
            cast(ast.expr, ast.Name(id="torch", ctx=ast.Load())),
        )  # fmt: skip
        call = ast.Call(func=function, args=[node.value, node.annotation], keywords=[])
        return ast.copy_location(ast.Assign(targets=[node.target], value=call), node)


class RewritingTracer(Tracer):
    """A tracer that rewrites the function, or the forward of the module, first."""

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of the rewritten function."""
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(fn: Any) -> Any:
    """A function, or a copy of a module and its submodules, with rewritten code. Modules of torch.nn stay."""
    if not isinstance(fn, torch.nn.Module):
        return AST_Rewriter().rewrite(fn)
    if type(fn).__module__.startswith(("torchjit.nn", "torchjit.ao.nn")) and not list(fn.children()):
        return fn
    made = copy.copy(fn)
    made.__dict__["_modules"] = {name: _rewrite(child) for name, child in fn._modules.items()}
    if not type(fn).__module__.startswith("torchjit."):
        kind: Any = type(fn)
        made.__class__ = type(kind.__name__, (kind,), {"forward": AST_Rewriter().rewrite(kind.forward), "__module__": kind.__module__})
    return made
