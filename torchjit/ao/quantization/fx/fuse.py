"""Modules that follow each other become one, as the backend configuration says."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.quantization.backend_config import BackendConfig, get_native_backend_config
from torchjit.ao.quantization.fx.custom_config import FuseCustomConfig
from torchjit.ao.quantization.fx.graph_module import FusedGraphModule
from torchjit.ao.quantization.fx.patterns import Match, find_matches
from torchjit.fx import Graph, GraphModule, Node, map_arg

__all__ = ["fuse"]


def as_config(cls: Any, given: Any, name: str) -> Any:
    """A configuration, made of a dictionary where that was given, which warns; a new one for None."""
    if isinstance(given, dict):
        warnings.warn(
            f"Passing a {name}_dict is deprecated and will not be supported in a future version. Please pass in a {cls.__name__} instead."
        )
        return cls.from_dict(given)
    return cls() if given is None else given


def as_backend_config(given: Any) -> BackendConfig:
    """A backend configuration, made of a dictionary where that was given, which warns; the native one for None."""
    return get_native_backend_config() if given is None else as_config(BackendConfig, given, "backend_config")


def fuse(
    model: GraphModule, is_qat: bool, fuse_custom_config: FuseCustomConfig | dict[str, Any] | None = None,
    backend_config: BackendConfig | dict[str, Any] | None = None,
) -> GraphModule:  # fmt: skip
    """The model with the modules of each pattern that has a fuser_method as one, which has the path of the root module."""
    backend_config = as_backend_config(backend_config)
    custom = as_config(FuseCustomConfig, fuse_custom_config, "fuse_custom_config")
    modules = dict(model.named_modules(remove_duplicate=False))
    configs = [config for config in backend_config.configs.values() if config.fuser_method is not None]
    matches = find_matches(model.graph, modules, configs)
    by_last = {match.last: match for match in matches}
    inside = {node for match in matches for node in match.flat()}
    copies: dict[Any, Any] = {}
    graph = Graph()

    def copied(node: Node) -> Node:
        return copies[node]

    for node in model.graph.nodes:
        if node in by_last:
            match = by_last[node]
            _replace_root(model, modules, match, is_qat)
            made = graph.node_copy(match.root, copied)
            getter = match.config._extra_inputs_getter
            if getter is not None:
                made.args = (*made.args, *(map_arg(given, copied) for given in getter(match.nodes)))
            copies[node] = made
        elif node not in inside:
            copies[node] = graph.node_copy(node, copied)
    return FusedGraphModule(model, graph, set(custom.preserved_attributes))


def _replace_root(model: GraphModule, modules: dict[str, Any], match: Match, is_qat: bool) -> None:
    """Puts the module for a match in the place of the one at its root."""
    if match.root.op != "call_module":
        raise AssertionError(f"Expecting module or function nodes for fusion, found {match.root.op} at the root: {match.root}")
    training = modules[str(match.root.target)].training
    fused = match.config.fuser_method(is_qat, *_modules_of(match.nodes, modules, training))
    parent, _, name = str(match.root.target).rpartition(".")
    setattr(model.get_submodule(parent), name, fused)
    modules[str(match.root.target)] = fused


def _modules_of(nodes: Any, modules: dict[str, Any], training: bool) -> tuple[Any, ...]:
    """What the nodes of a match call, in their shape: (relu, (bn, conv)) for a convolution with both after it."""
    return tuple(_module_of(part, modules, training) for part in nodes)


def _module_of(nodes: Any, modules: dict[str, Any], training: bool) -> Any:
    if isinstance(nodes, tuple):
        return _modules_of(nodes, modules, training)
    if nodes.op == "call_module":
        return modules[str(nodes.target)]
    if nodes.target is F.relu:
        return nn.ReLU().train(training)
    return nodes.target
