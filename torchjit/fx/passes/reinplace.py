"""Operators of a graph in the forms that write their first argument, where nothing else sees that."""

from __future__ import annotations

import itertools
from collections import defaultdict
from enum import Enum
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._ops import OpOverload
from torchjit.fx import Node
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.interpreter import Interpreter

__all__ = ["reinplace"]


class _ViewType(Enum):
    """Whether an operator gives a view, or several."""

    NonView = 0
    SingleOutputView = 1
    MultiOutputView = 2


def _get_view_type(tgt: Any) -> _ViewType:
    """Which of them a target is, by its schema."""
    if not isinstance(tgt, OpOverload) or not tgt._schema.arguments:
        return _ViewType.NonView
    alias = tgt._schema.arguments[0].alias_info
    if alias is None or alias.is_write:
        return _ViewType.NonView
    return _ViewType.MultiOutputView if "*" in alias.after_set else _ViewType.SingleOutputView


def _is_view_op(tgt: Any) -> bool:
    """Whether a target gives views."""
    return _get_view_type(tgt) is not _ViewType.NonView


def _schemas_match(functional_schema: Any, inplace_schema: Any) -> bool:
    """Whether an operator that writes its first argument has the arguments of another."""
    ours, theirs = functional_schema.arguments, inplace_schema.arguments
    return (
        inplace_schema.name.endswith("_") and not inplace_schema.name.endswith("__") and len(ours) == len(theirs)
        and all(a.name == b.name and str(a.type) == str(b.type) for a, b in zip(ours, theirs, strict=True))
    )  # fmt: skip


def _maybe_get_inplace_op(op: Any) -> Any:
    """The overload that writes what an overload computes into its first argument, None where there is none."""
    if not isinstance(op, OpOverload) or _is_view_op(op):
        return None
    namespace, _, name = op._schema.name.partition("::")
    try:
        packet = getattr(getattr(torch.ops, namespace), name + "_")
    except (AttributeError, RuntimeError):
        return None
    found = [o for o in (getattr(packet, n) for n in packet.overloads()) if _schemas_match(op._schema, o._schema)]
    return found[0] if found else None


# The operators that put something into a view, with the views.
_VIEW_OF_SCATTER = {
    f"aten::{name}_scatter": f"aten::{name}" for name in ("slice", "select", "diagonal", "as_strided")
}  # fmt: skip


@compatibility(is_backward_compatible=False)
class _FunctionalizationMetadataProp(Interpreter):
    """Runs a graph and notes of each node its value, its place, and of a view the node that it is one of."""

    def run_node(self, node: Node) -> Any:
        self.node_counter += 1
        result = super().run_node(node)
        node.meta["fake_result"], node.meta["node_idx"] = result, self.node_counter
        if node.op == "call_function" and _get_view_type(node.target) is _ViewType.SingleOutputView:
            node.meta["view_of"] = node.args[0]
        elif node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem" and isinstance(node.args[0], Node):
            source = node.args[0]
            if _get_view_type(source.target) is _ViewType.MultiOutputView:
                node.meta["view_of"] = source.args[0]
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph with copies of tensors."""
        self.node_counter = -1
        return super().run(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])


def _get_all_later_node_usages(tensor_aliases: set[Node], op_index: int) -> set[Node]:
    """The nodes behind a place that use one of some nodes, but for views, which only show them."""
    found = set()
    for alias in tensor_aliases:
        for user in alias.users:
            if user.meta.get("node_idx", op_index) > op_index and not _is_view_op(user.target):
                found.add(user)
    return found


def _get_view_inverse_node_usages(later_node_usages: set[Node], self_aliases: set[Node]) -> set[Node]:
    """Those among nodes that put a result into the view of an alias that it was computed from."""
    found = set()
    for node in later_node_usages:
        view = _VIEW_OF_SCATTER.get(node.target._schema.name) if isinstance(node.target, OpOverload) else None
        if view is None:
            continue
        base, rest = node.args[0], tuple(node.args[2:])
        for alias in self_aliases:
            if (
                alias.meta.get("view_of") is base and isinstance(alias.target, OpOverload) and alias.target._schema.name == view
                and tuple(alias.args[1:]) == rest and alias.kwargs == node.kwargs
            ):  # fmt: skip
                found.add(node)
    return found


@compatibility(is_backward_compatible=True)
def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """Has operators of a module's graph write their first argument where that is no argument of the module, has the size and type of the
    result, and is not needed any more. Operators that put something into views go where the view itself is written.

    sample_args are arguments to run the graph with. Returns the module.
    """
    _FunctionalizationMetadataProp(gm).propagate(*sample_args)
    return _Reinplace(gm).run()


class _Reinplace:
    def __init__(self, gm: GraphModule) -> None:
        self.gm = gm
        self.aliases: dict[int, set[Node]] = defaultdict(set)
        self.memory_of: dict[Node, int] = {}
        self.known: list[Any] = []
        for node in gm.graph.nodes:
            result = node.meta.get("fake_result")
            if isinstance(result, torch.Tensor):
                self.memory_of[node] = self._memory(result)
                self.aliases[self.memory_of[node]].add(node)
        self.of_inputs = {self.memory_of[n] for n in gm.graph.nodes if n.op == "placeholder" and n in self.memory_of}
        self.gone: list[Node] = []

    def _memory(self, tensor: Any) -> int:
        """A number for the memory that a tensor shows."""
        for i, other in enumerate(self.known):
            if _native.tensor_shares_storage(tensor, other):
                return i
        self.known.append(tensor)
        return len(self.known) - 1

    def run(self) -> GraphModule:
        """Changes the graph."""
        for node in list(self.gm.graph.nodes):
            if node.op == "call_function" and node not in self.gone:
                self._try(node)
        for node in self.gone:
            self.gm.graph.erase_node(node)
        self.gm.recompile()
        return self.gm

    def _try(self, node: Node) -> None:
        inplace = _maybe_get_inplace_op(node.target)
        old = node.args[0] if node.args else None
        if inplace is None or not isinstance(old, Node) or old not in self.memory_of or node not in self.memory_of:
            return
        before, after = old.meta["fake_result"], node.meta["fake_result"]
        if self.memory_of[old] in self.of_inputs or before.numel() != after.numel() or before.dtype != after.dtype or _overlaps(before):
            return
        aliases = self.aliases[self.memory_of[old]]
        later = _get_all_later_node_usages(aliases, node.meta["node_idx"])
        scatters = _get_view_inverse_node_usages(later, aliases)
        if later - scatters:
            return
        node.target = inplace
        for scatter in scatters:
            base = scatter.args[0]
            self._merge(base, scatter)
            scatter.replace_all_uses_with(base)
            self.gone.append(scatter)
        self._merge(old, node)
        for user in [u for u in node.users if u.meta["node_idx"] > node.meta["node_idx"]]:
            user.replace_input_with(node, old)

    def _merge(self, kept: Node, other: Node) -> None:
        """Notes that two nodes show the same memory from now on."""
        mine, theirs = self.memory_of[kept], self.memory_of[other]
        if mine == theirs:
            return
        for node in self.aliases.pop(theirs):
            self.memory_of[node] = mine
            self.aliases[mine].add(node)


def _overlaps(tensor: Any) -> bool:
    """Whether several elements may stand in one place."""
    return any(stride == 0 and size > 1 for stride, size in itertools.zip_longest(tensor.stride(), tensor.shape))
