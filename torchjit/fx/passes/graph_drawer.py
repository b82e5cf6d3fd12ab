"""Drawings of graphs, by the package pydot."""

from __future__ import annotations

import hashlib
from itertools import chain
from typing import Any

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.node import _format_arg, _get_qualified_name
from torchjit.fx.passes.shape_prop import TensorMetadata

try:
    import pydot

    HAS_PYDOT = True
except ImportError:
    pydot, HAS_PYDOT = None, False

__all__ = ["FxGraphDrawer"]

_COLOR_MAP = {"placeholder": '"AliceBlue"', "call_module": "LemonChiffon1", "get_param": "Yellow2", "get_attr": "LightGrey", "output": "PowderBlue"}
# For functions and methods: a color by the name of what is called.
_HASH_COLOR_MAP = ["CadetBlue1", "Coral", "DarkOliveGreen1", "DarkSeaGreen1", "GhostWhite", "Khaki1", "LavenderBlush1", "LightSkyBlue", "MistyRose1",
                   "MistyRose2", "PaleTurquoise2", "PeachPuff1", "Salmon", "Thistle1", "Thistle3", "Wheat1"]  # fmt: skip
_WEIGHT_TEMPLATE = {"shape": "record", "fillcolor": "Salmon", "style": '"filled,rounded"', "fontcolor": "#000000"}


@compatibility(is_backward_compatible=False)
class FxGraphDrawer:
    """Draws the graph of a module: get_main_dot_graph() is a pydot graph, get_all_dot_graphs() those of submodules too.

    Raises RuntimeError where the package pydot is missing.
    """

    def __init__(self, graph_module: torch.fx.GraphModule, name: str, ignore_getattr: bool = False) -> None:
        if not HAS_PYDOT:
            raise RuntimeError("FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite Python package manager.")
        self._name = name
        self._dot_graphs = {name: self._drawn(graph_module, name, ignore_getattr)}
        for node in graph_module.graph.nodes:
            if node.op != "call_module":
                continue
            called = graph_module.get_submodule(node.target)
            if isinstance(called, torch.fx.GraphModule):
                self._dot_graphs[f"{name}_{node.target}"] = self._drawn(called, f"{name}_{node.target}", ignore_getattr)

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The drawing of the module, or of a submodule that has a graph."""
        return self._dot_graphs[self._name if submod_name is None else f"{self._name}_{submod_name}"]

    def get_main_dot_graph(self) -> Any:
        """The drawing of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """The drawing of a submodule that has a graph."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All drawings by name."""
        return self._dot_graphs

    def _drawn(self, module: torch.fx.GraphModule, name: str, ignore_getattr: bool) -> Any:
        drawing = pydot.Dot(name, rankdir="TB")
        for node in module.graph.nodes:
            if not (ignore_getattr and node.op == "get_attr"):
                drawing.add_node(pydot.Node(node.name, label=self._label(module, node), **self._style(node)))
        for node in module.graph.nodes:
            if ignore_getattr and node.op == "get_attr":
                continue
            for user in node.users:
                drawing.add_edge(pydot.Edge(node.name, user.name))
        return drawing

    def _style(self, node: torch.fx.Node) -> dict[str, str]:
        style = {"shape": "record", "fillcolor": "#CAFFE3", "style": '"filled,rounded"', "fontcolor": "#000000"}
        if node.op in _COLOR_MAP:
            style["fillcolor"] = _COLOR_MAP[node.op]
        else:
            digest = hashlib.md5(self._target_name(node).encode()).hexdigest()
            style["fillcolor"] = _HASH_COLOR_MAP[int(digest[:8], 16) % len(_HASH_COLOR_MAP)]
        return style

    def _target_name(self, node: torch.fx.Node) -> str:
        return node.target if isinstance(node.target, str) else _get_qualified_name(node.target)

    def _label(self, module: torch.fx.GraphModule, node: torch.fx.Node) -> str:
        rows = [f"name=%{node.name}", f"op_code={node.op}"]
        if node.op == "call_module":
            called = module.get_submodule(node.target)
            rows[1] += f"\\n{torch.typename(called)}"
            rows += [f"{name}: {getattr(called, name)}" for name in getattr(called, "__constants__", ())]
        else:
            rows.append(f"target={self._target_name(node)}")
            rows += self._arguments(node)
        rows.append(f"num_users={len(node.users)}")
        rows += self._tensors(node.meta.get("tensor_meta"))
        return "{" + "|".join(_escaped(row) for row in rows) + "}"

    def _arguments(self, node: torch.fx.Node) -> list[str]:
        if all(isinstance(a, torch.fx.Node) for a in chain(node.args, node.kwargs.values())):
            return []
        rows = [f"args={_format_arg(tuple(node.args), 10)}"] if node.args else []
        return rows + ([f"kwargs={_format_arg(dict(node.kwargs), 10)}"] if node.kwargs else [])

    def _tensors(self, meta: Any) -> list[str]:
        if isinstance(meta, TensorMetadata):
            rows = [f"dtype={meta.dtype}", f"shape={tuple(meta.shape)}", f"requires_grad={meta.requires_grad}", f"stride={meta.stride}"]
            if meta.is_quantized:
                rows.append(f"qparams={meta.qparams}")
            return rows
        if isinstance(meta, dict):
            return [row for item in meta.values() for row in self._tensors(item)]
        if isinstance(meta, (list, tuple)):
            return [row for item in meta for row in self._tensors(item)]
        return []


def _escaped(text: str) -> str:
    for character in "{}<>|":
        text = text.replace(character, "\\" + character)
    return text
