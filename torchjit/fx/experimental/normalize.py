"""Calls in one form: arguments by name, operators of Python in the place of functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.fx import GraphModule, Node, Proxy, Transformer
from torchjit.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from torchjit.fx.node import Argument, Target, map_aggregate
from torchjit.fx.operator_schemas import create_type_hint, normalize_function, normalize_module


class NormalizeArgs(Transformer):
    """Gives calls of functions and modules of torch their arguments by name, with defaults, where the overload is known."""

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def type_of(arg: Any) -> Any:
            return self.node_map[arg].meta.get("type", None) if isinstance(arg, Proxy) else type(arg)

        if n.op == "call_function":
            arg_types = tuple(create_type_hint(t) for t in map_aggregate(n.args, _type_of_node))
            kwarg_types = {k: create_type_hint(t) for k, t in map_aggregate(n.kwargs, _type_of_node).items()}
            assert isinstance(args, tuple)
            out = self.call_function(n.target, args, kwargs, arg_types, kwarg_types)
        else:
            out = super().run_node(n)
        if n.op != "output":
            self.node_map[out] = n
            out.node.meta = n.meta
            out.node.type = n.type
        return out

    def call_function(
        self,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Any],
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
    ) -> Any:
        assert callable(target)
        normalized = normalize_function(
            target, args, kwargs, arg_types, kwarg_types, self.normalize_to_only_use_kwargs
        )
        if normalized is None:
            return super().call_function(target, args, kwargs)
        return self.tracer.create_proxy("call_function", target, normalized.args, normalized.kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        assert isinstance(target, str)
        normalized = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        if normalized is None:
            return super().call_module(target, args, kwargs)
        return super().call_module(target, normalized.args, normalized.kwargs)


def _type_of_node(arg: Any) -> Any:
    return arg.meta.get("type", None) if isinstance(arg, Node) else type(arg)


class NormalizeOperators(AnnotateTypesWithSchema):
    """Calls operators of Python where a function of torch does the same."""

    binary_magic_method_remap: dict[Callable[[Any, Any], Any], Callable[[Any, Any], Any]] = {
        torch.add: operator.add, torch.mul: operator.mul, torch.sub: operator.sub, torch.div: operator.truediv,
        torch.floor_divide: operator.floordiv, torch.remainder: operator.mod, torch.eq: operator.eq, torch.ne: operator.ne,
        torch.lt: operator.lt, torch.le: operator.le, torch.gt: operator.gt, torch.ge: operator.ge,
    }  # fmt: skip

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        assert callable(target)
        if target in self.binary_magic_method_remap and len(args) == 2:
            return super().call_function(self.binary_magic_method_remap[target], args, {})
        return super().call_function(target, args, kwargs)
