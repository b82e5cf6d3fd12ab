"""Warns of attributes of modules whose types programs cannot know."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from torchjit.frontend import read_source

_MESSAGE = (
    "The TorchScript type system doesn't support instance-level annotations on empty non-base types in `__init__`. Instead, either "
    "1) use a type annotation in the class body, or 2) wrap the type in `torch.jit.Attribute`."
)


class AttributeTypeIsSupportedChecker(ast.NodeVisitor):
    """Looks in __init__ for an empty list, an empty dictionary or None whose type only an annotation there says."""

    def check(self, nn_module: Any) -> None:
        """Warns once for every such place. Raises OSError where __init__ has no text."""
        self.class_level_annotations = list(getattr(nn_module, "__annotations__", ()))
        try:
            source = read_source(type(nn_module).__init__)
        except OSError as e:
            raise OSError("could not get source code") from e
        self.visit(ast.parse(source.text))

    def visit_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        """Looks into the value, but not of what the class body annotates."""
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and (not isinstance(target, ast.Attribute) or target.attr in self.class_level_annotations):
            return
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        """self.x: List[int] = []"""
        target = node.target
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            if target.attr not in self.class_level_annotations:
                self._warn_of(node.annotation, node.value)

    def visit_Call(self, node: ast.Call) -> None:  # noqa: N802
        """torch.jit.annotate(List[int], [])"""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "annotate" and len(node.args) == 2:
            self._warn_of(*node.args)
        self.generic_visit(node)

    def _warn_of(self, annotation: ast.expr, value: ast.expr | None) -> None:
        if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.value, ast.Name):
            return
        empty = {
            "List": isinstance(value, ast.List) and not value.elts, "Dict": isinstance(value, ast.Dict) and not value.keys,
            "Optional": isinstance(value, ast.Constant) and value.value is None,
        }  # fmt: skip
        if empty.get(annotation.value.id):
            warnings.warn(_MESSAGE, stacklevel=2)
