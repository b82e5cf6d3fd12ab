"""Checks of graphs."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
from torchjit.fx.node import Node, map_arg


def check_order(graph: Any) -> None:
    """Raises RuntimeError where a node's name is not its own, or an argument is of another graph or stands behind its user."""
    names: set[str] = set()
    defined: set[Node] = set()

    for node in graph.nodes:

        def check_arg(arg: Node, user: Node = node) -> None:
            if arg.graph is not graph:
                raise RuntimeError(
                    f"Argument '{arg}' of Node '{user}' does not belong to this Graph, but was used as an argument! If you are "
                    f"copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n{graph}"
                )
            if arg not in defined:
                raise RuntimeError(
                    f"Argument '{arg}' of Node '{user}' was used before it has been defined! Please check that Nodes in the "
                    f"graph are topologically ordered\n{graph}"
                )

        if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        map_arg(node.args, check_arg)
        map_arg(node.kwargs, check_arg)
        defined.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)


def check_targets(graph: Any, root: torch.nn.Module) -> None:
    """Raises where what a node reads or calls is not there or no module; warns of attributes of an unusual kind."""
    for node in graph.nodes:
        is_function = node.op == "call_function"
        if not (callable(node.target) if is_function else isinstance(node.target, str)):
            kind = "Callable" if is_function else "str"
            raise ValueError(
                f"Node {node} target {node.target} has type {torch.typename(node.target)} but a {kind} is expected"
            )
        if node.op in ("get_attr", "call_module"):
            _check_path(node, root)


def _check_path(node: Node, root: torch.nn.Module) -> None:
    path = str(node.target).split(".")
    at: Any = root
    for i, atom in enumerate(path):
        seen = ".".join(path[:i])
        if not hasattr(at, atom):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {atom} of {seen}")
        owner, at = at, getattr(at, atom)
        is_module = isinstance(at, torch.nn.Module)
        if node.op == "call_module" and not is_module:
            raise RuntimeError(f"Node {node} target {node.target} {atom} of {seen} does not reference an nn.Module")
        known = is_module or isinstance(at, torch.nn.Parameter) or atom in owner._buffers
        if node.op == "get_attr" and not known:
            warnings.warn(
                f"Node {node} target {node.target} {atom} of {seen} does not reference an nn.Module, nn.Parameter, or "
                "buffer, which is what 'get_attr' Nodes typically target"
            )
