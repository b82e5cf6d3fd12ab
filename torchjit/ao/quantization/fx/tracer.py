"""Recording of models that are to be quantized: every node is put down with the submodule that it comes from."""

from __future__ import annotations

from typing import Any

from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.fx._symbolic_trace import Tracer

__all__ = ["Scope", "ScopeContextManager", "QuantizationTracer"]


class Scope:
    """The path and class of the submodule that is being called."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path: str = module_path
        self.module_type = module_type


class ScopeContextManager:
    """While the block runs a scope is that of a submodule."""

    def __init__(self, scope: Scope, current_module: Any, current_module_path: str) -> None:
        self.scope = scope
        self.kept: tuple[str, type | None] = (scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current_module_path, type(current_module)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: Any) -> None:
        self.scope.module_path, self.scope.module_type = self.kept


class QuantizationTracer(Tracer):
    """Records a model; submodules of the given paths and classes, and fused ones, are called as a whole.

    `node_name_to_scope` has the path and class of the submodule that each node comes from, ("", None) for the model itself.
    """

    def __init__(self, skipped_module_names: list[str], skipped_module_classes: list[Any]) -> None:
        super().__init__()
        self.skipped_module_names: list[str] = skipped_module_names
        self.skipped_module_classes = skipped_module_classes
        self.scope: Scope = Scope("", None)
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}
        self.record_stack_traces = True

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return (
            super().is_leaf_module(m, module_qualified_name)
            or module_qualified_name in self.skipped_module_names
            or type(m) in self.skipped_module_classes
            or isinstance(m, _FusedModule)
        )

    def call_module(self, m: Any, forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with ScopeContextManager(self.scope, m, self.path_of_module(m)):
            return super().call_module(m, forward, args, kwargs)

    def create_node(self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type_expr: Any = None) -> Any:
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        return node
