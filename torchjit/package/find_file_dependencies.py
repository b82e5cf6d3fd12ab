"""The modules that a program imports."""

from __future__ import annotations

import ast

__all__ = ["find_files_source_depends_on"]


class _Imports(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self.package = package
        self.found: dict[tuple[str, str | None], None] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.found[alias.name, None] = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self.package.split(".")
            if node.level > len(above):
                raise ValueError("attempted relative import beyond top-level package")
            parent = ".".join(above[: len(above) - node.level + 1])
            base = f"{parent}.{base}" if base else parent
        for alias in node.names:
            self.found[base, None if alias.name == "*" else alias.name] = None

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "__import__" and node.args):
            return
        constants = [a.value if isinstance(a, ast.Constant) else None for a in node.args]
        if not isinstance(constants[0], str) or len(constants) > 4 and constants[4]:
            return  # not known before it runs
        names = node.args[3].elts if len(node.args) > 3 and isinstance(node.args[3], (ast.List, ast.Tuple)) else []
        picked = [n.value for n in names if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        for name in picked or (None,):
            self.found[constants[0], name] = None


def find_files_source_depends_on(src: str, package: str) -> list[tuple[str, str | None]]:
    """What a program imports: modules, and names from them, which may be modules too, in order.

    package is the one that relative imports are seen from. Raises SyntaxError where the text is no program, ValueError where a
    relative import leaves the outermost package.
    """
    visitor = _Imports(package)
    visitor.visit(ast.parse(src))
    return list(visitor.found)
