"""Writes to tensors and lists become operators that make new ones: ONNX has no memory that is written.

    %v = aten::select(%x, 0, 1)           %v = aten::select(%x, 0, 1)
    %w = aten::add_(%v, %y, 1)       ->   %w = aten::add(%v, %y, 1)
    uses of %x                            %x2 = aten::select_scatter(%x, %w, 0, 1); uses of %x2

Other views of %x are made again of %x2 where they are read later. Branches return what they write, loops carry it.
"""

from __future__ import annotations

from typing import Any

from torchjit import _C

# Views, by the number of the input that they are of: how what was written into one gets into its base is in _scatter.
_VIEWS = {
    "aten::alias", "aten::detach", "aten::expand", "aten::expand_as", "aten::narrow", "aten::permute", "aten::reshape", "aten::select",
    "aten::slice",
    "aten::squeeze", "aten::t", "aten::transpose", "aten::unsqueeze", "aten::view", "aten::view_as", "aten::flatten", "aten::diagonal",
}  # fmt: skip

# Writes whose operator without the underscore is another one, or does not have its meaning here.
_NAMES = {"aten::copy_": "aten::copy", "aten::fill_": "aten::fill", "aten::zero_": "aten::zero", "aten::_set_item": "prim::ListSet",
          "aten::append": "prim::ListAppend", "aten::insert": "prim::ListInsert", "aten::pop": "prim::ListPop", "aten::extend":
          "prim::ListExtend"}  # fmt: skip


def remove_writes(graph: Any) -> None:
    """Replaces the writes of a graph, blocks included. A write whose target is not known to share memory changes that value alone."""
    _Writes(graph).block(graph.block(), {})


def is_write(node: Any) -> bool:
    """Whether a node writes its first input."""
    kind = node.kind()
    if kind in _NAMES:
        return True
    return kind.startswith("aten::") and kind.endswith("_") and not kind.endswith("__") and node.inputsSize() > 0


class _Writes:
    """Values of the graph as it was stand for places in memory: `now`, which each block has of its own, says what is in a place that was
    written.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.bases: dict[Any, Any] = {}  # the place that a place is a view of

    def block(self, block: Any, now: dict[Any, Any]) -> None:
        """Removes the writes of a block and adds them to now."""
        for node in list(block.nodes()):
            places = list(node.inputs())
            for i, place in enumerate(places):
                if place in now:
                    node.replaceInput(i, now[place])
            blocks = list(node.blocks())
            if node.kind() == "prim::If":
                self._branches(node, blocks, now)
            elif node.kind() == "prim::Loop":
                self._loop(node, blocks[0], now)
            elif is_write(node):
                self._write(node, places[0], now)
            elif node.kind() in _VIEWS:
                self.bases[node.output()] = places[0]
        returned = block.returnNode()
        for i, place in enumerate(list(returned.inputs())):
            if place in now:
                returned.replaceInput(i, now[place])

    def _write(self, node: Any, place: Any, now: dict[Any, Any]) -> None:
        kind = node.kind()
        made = self.graph.create(_NAMES.get(kind, kind[:-1]), list(node.inputs()), 2 if kind == "aten::pop" else 1)
        made.insertBefore(node)
        made.copyMetadata(node)
        result = made.outputsAt(0)
        result.setType(place.type())
        if kind == "aten::pop":
            made.outputsAt(1).setType(node.output().type())
            node.output().replaceAllUsesWith(made.outputsAt(1))
        elif node.outputsSize():
            node.outputsAt(0).replaceAllUsesWith(place)
        node.destroy()
        self._written(place, result, made, None, now)

    def _written(self, place: Any, result: Any, after: Any, but: Any, now: dict[Any, Any]) -> None:
        """result, which the node `after` makes, is in a place from now on: so it is in what the place is a view of and in other views of
        it.
        """
        now[place] = result
        for view in [v for v, base in self.bases.items() if base == place and v != but]:
            self._view_again(view, result, after, now)
        base = self.bases.get(place)
        if base is not None:
            scattered = self._scatter(place.node(), after, now.get(base, base), result)
            scattered.setType(base.type())
            self._written(base, scattered, scattered.node(), place, now)

    def _view_again(self, view: Any, base: Any, after: Any, now: dict[Any, Any]) -> None:
        if not any(use.user.isAfter(after) for use in view.uses()) and view not in self.bases.values():
            return
        again = self.graph.createClone(view.node(), lambda v: v)
        again.insertAfter(after)
        again.replaceInput(0, base)
        now[view] = again.output()
        for inner in [v for v, b in self.bases.items() if b == view]:
            self._view_again(inner, again.output(), again, now)

    def _scatter(self, view: Any, after: Any, base: Any, result: Any) -> Any:
        """base with what a view of it shows replaced: nodes behind a node."""
        g, kind, rest = self.graph, view.kind(), list(view.inputs())[1:]
        last = after

        def op(name: str, *args: Any) -> Any:
            nonlocal last
            inputs = [a if isinstance(a, _C.Value) else constant(a) for a in args]
            node = g.create(name, inputs, 1)
            node.insertAfter(last)
            node.copyMetadata(view)
            last = node
            return node.output()

        def constant(a: Any) -> Any:
            nonlocal last
            value = g.insertConstant(a)
            value.node().moveAfter(last)
            last = value.node()
            return value

        if kind == "aten::select":
            return op("aten::select_scatter", base, result, *rest)
        if kind == "aten::slice":
            return op("aten::slice_scatter", base, result, *rest)
        if kind == "aten::narrow":
            end = op("aten::add", rest[1], rest[2])
            end.setType(_C.IntType.get())
            return op("aten::slice_scatter", base, result, rest[0], rest[1], end, 1)
        if kind == "aten::unsqueeze":
            return op("aten::squeeze", result, *rest)
        if kind in ("aten::transpose", "aten::t"):
            return op(kind, result, *rest)
        if kind == "aten::permute":
            given = rest[0].toIValue() or [v.toIValue() for v in rest[0].node().inputs()]
            order = [d % len(given) for d in given]
            return op("aten::permute", result, [order.index(d) for d in range(len(order))])
        if kind == "aten::diagonal":
            return op("aten::diagonal_scatter", base, result, *rest)
        if kind in ("aten::alias", "aten::detach"):
            return op("aten::alias", result)
        return op("aten::view_as", result, base)

    def _outer_writes(self, blocks: list[Any]) -> list[Any]:
        """The places outside of blocks that they write."""
        inside: set[Any] = set()
        found: dict[Any, None] = {}

        def place_of(value: Any) -> Any:
            if value not in inside:
                return self.bases.get(value)
            node = value.node()
            return node.inputsAt(0) if node.kind() in _VIEWS or is_write(node) else None

        def walk(block: Any) -> None:
            inside.update(block.inputs())
            for node in block.nodes():
                inside.update(node.outputs())
                for inner in node.blocks():
                    walk(inner)
                place = node.inputsAt(0) if is_write(node) else None
                while place is not None:
                    found[place] = None
                    place = place_of(place)

        for block in blocks:
            walk(block)
        return [place for place in found if place not in inside]

    def _branches(self, node: Any, blocks: list[Any], now: dict[Any, Any]) -> None:
        outer = self._outer_writes(blocks)
        for block in blocks:
            inner = dict(now)
            self.block(block, inner)
            for place in outer:
                block.registerOutput(inner.get(place, place))
        for place in outer:
            now[place] = node.addOutput()
            now[place].setType(place.type())

    def _loop(self, node: Any, block: Any, now: dict[Any, Any]) -> None:
        outer = self._outer_writes([block])
        inner = dict(now)
        for place in outer:
            node.addInput(now.get(place, place))
            inner[place] = block.addInputToBlock()
            inner[place].setType(place.type())
        self.block(block, inner)
        for place in outer:
            block.registerOutput(inner[place])
            now[place] = node.addOutput()
            now[place].setType(place.type())
