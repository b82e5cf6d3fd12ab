"""Modules made faster for inference."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torchjit as torch
from torchjit.fx import Graph, GraphModule, Node, Tracer, symbolic_trace
from torchjit.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["matches_module_pattern", "replace_node_module", "fuse", "remove_dropout", "extract_subgraph", "optimize_for_inference"]


def _parent_name(target: str) -> tuple[str, str]:
    """The path of a module's owner, and its name there."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node calls a module of the last class on what calls one of the first."""
    if len(node.args) == 0:
        return False
    for expected, current in zip(pattern, (node.args[0], node), strict=False):
        if not isinstance(current, Node) or current.op != "call_module" or not isinstance(current.target, str):
            return False
        if type(modules.get(current.target)) is not expected:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: torch.nn.Module) -> None:
    """Puts another module where a node finds the one that it calls."""
    assert isinstance(node.target, str)
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: torch.nn.Module, inplace: bool = False) -> torch.nn.Module:
    """The model with batch normalizations made part of the convolutions before them; it must be in evaluation mode."""
    patterns = [
        (torch.nn.Conv1d, torch.nn.BatchNorm1d),
        (torch.nn.Conv2d, torch.nn.BatchNorm2d),
        (torch.nn.Conv3d, torch.nn.BatchNorm3d),
    ]
    if not inplace:
        model = copy.deepcopy(model)
    fx_model = symbolic_trace(model)
    modules = dict(fx_model.named_modules())
    graph = copy.deepcopy(fx_model.graph)
    for pattern in patterns:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            if len(node.args[0].users) > 1:  # others want what the convolution gives
                continue
            norm = modules[node.target]
            if not norm.track_running_stats:
                continue
            fused = fuse_conv_bn_eval(modules[node.args[0].target], norm)
            replace_node_module(node.args[0], modules, fused)
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(fx_model, graph)


def remove_dropout(model: torch.nn.Module) -> torch.nn.Module:
    """The model without its dropouts."""

    class DropoutRemover(torch.fx.Transformer):
        def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
            if isinstance(self.submodules[target], torch.nn.Dropout):
                assert len(args) == 1
                return args[0]
            return super().call_module(target, args, kwargs)

    return DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: torch.nn.Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """Some nodes of a module's graph as a module of their own."""
    graph = Graph()
    env: dict[Node, Node] = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        env[node] = graph.node_copy(node, lambda x: env[x])
    graph.output([env[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: torch.nn.Module, pass_config: dict[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> torch.nn.Module:
    """The model with fused convolutions and without dropouts; pass_config says by name what not to do.

    This library chooses the layouts of convolutions itself, so mkldnn_layout_optimize is only checked. Raises RuntimeError
    where that is no dictionary with a heuristic.
    """
    config: dict[str, Any] = {"conv_bn_fuse": True, "remove_dropout": True, "mkldnn_layout_optimize": {"heuristic": None}}
    config.update(pass_config or {})
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    layouts = config["mkldnn_layout_optimize"]
    if layouts is False:
        return model
    if not isinstance(layouts, dict):
        raise RuntimeError("mkldnn_layout_optimize config is not a dict")
    if "heuristic" not in layouts:
        raise RuntimeError("Heuristic not found in mkldnn_layout_optimize config")
    return GraphModule(model, tracer().trace(copy.deepcopy(model)))
