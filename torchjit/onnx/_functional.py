"""Writes to tensors and lists become operators that make new ones: ONNX has no memory that is written.

    %v = aten::select(%x, 0, 1)           %v = aten::select(%x, 0, 1)
    %w = aten::add_(%v, %y, 1)       ->   %w = aten::add(%v, %y, 1)
    uses of %x                            %x2 = aten::select_scatter(%x, %w, 0, 1); uses of %x2

Other views of %x are made again of %x2 where they are read later. Branches return what they write, loops carry it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchjit import _C
from torchjit.onnx import errors

_SHARED = "what {} gives shares memory that is written: the exporter has no form of that{}"

# Views of their first input: how what was written into one gets into its base is in _scatter.
_VIEWS = {
    "aten::alias", "aten::detach", "aten::diagonal", "aten::expand", "aten::expand_as", "aten::flatten", "aten::movedim", "aten::narrow",
    "aten::numpy_T", "aten::permute", "aten::reshape", "aten::select", "aten::slice", "aten::squeeze", "aten::swapaxes", "aten::swapdims",
    "aten::t", "aten::transpose", "aten::unflatten", "aten::unsqueeze", "aten::view", "aten::view_as",
}  # fmt: skip

# Views that turn into their base by being made again.
_TURNS = {"aten::numpy_T", "aten::swapaxes", "aten::swapdims", "aten::t", "aten::transpose"}

# Lists of views, which become single ones where something is written.
_PARTS = {"aten::chunk", "aten::split", "aten::split_with_sizes", "aten::tensor_split", "aten::unbind"}

# Views that nothing can be written into here, nor into their bases.
_OTHER_VIEWS = {
    "aten::adjoint", "aten::as_strided", "aten::imag", "aten::mH", "aten::mT", "aten::real", "aten::unfold", "aten::view_as_complex",
    "aten::view_as_real",
}  # fmt: skip

# Writes of the shape of a tensor, not of its elements.
_RESHAPES = {"aten::squeeze_", "aten::swapaxes_", "aten::swapdims_", "aten::t_", "aten::transpose_", "aten::unsqueeze_"}

# Writes whose operator without the underscore is another one, or does not have its meaning here.
_NAMES = {
    "aten::_set_item": "prim::ListSet", "aten::append": "prim::ListAppend", "aten::copy_": "aten::copy", "aten::extend": "prim::ListExtend",
    "aten::fill_": "aten::fill", "aten::insert": "prim::ListInsert", "aten::pop": "prim::ListPop", "aten::zero_": "aten::zero",
}  # fmt: skip


def remove_writes(graph: Any) -> None:
    """Replaces the writes of a graph, blocks included.

    Raises OnnxExporterError where something is written into memory that another operator than those above may share.
    """
    writes = _Writes(graph)
    if writes.places:
        writes.block(graph.block(), {})


def is_write(node: Any) -> bool:
    """Whether a node writes one of its inputs."""
    return written(node) is not None


def written(node: Any) -> Any:
    """The input that a node writes, None where it writes none: the first, or the last where it is where results go."""
    kind = node.kind()
    if (
        kind in _NAMES
        or kind.startswith("aten::")
        and kind.endswith("_")
        and not kind.endswith("__")
        and node.inputsSize() > 0
    ):
        return node.inputsAt(0)
    if (
        kind.startswith("aten::")
        and node.inputsSize() > 1
        and node.outputsSize() == 1
        and "Tensor(a!) out" in _schema(node)
    ):
        return node.inputsAt(node.inputsSize() - 1)
    return None


def _schema(node: Any) -> str:
    try:
        return str(node.schema())
    except RuntimeError:
        return ""  # no operator takes these arguments


class _Writes:
    """Values of the graph as it was stand for places in memory: `now`, which each block has of its own, says what is in a place that was
    written.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.bases: dict[Any, Any] = {}  # the place that a place is a view of
        self.sources: dict[Any, Any] = {}  # the place that the parts in a list are views of
        self.places: set[Any] = set()  # that are written, and what they are views of
        for node in nodes_of(graph.block()):
            place = written(node)
            while place is not None:
                self.places.add(place)
                made = place.node()
                if made.kind() == "prim::ListUnpack" and made.inputsAt(0).node().kind() in _PARTS:
                    made = made.inputsAt(0).node()
                elif made.kind() not in _VIEWS and made.kind() not in _OTHER_VIEWS:
                    place = written(made)
                    continue
                place = made.inputsAt(0)

    def block(self, block: Any, now: dict[Any, Any]) -> None:
        """Removes the writes of a block and adds them to now."""
        for node in list(block.nodes()):
            for made in self._alone(node):
                self._node(made, now)
        returned = block.returnNode()
        for i, place in enumerate(list(returned.inputs())):
            if place in now:
                returned.replaceInput(i, now[place])

    def _node(self, node: Any, now: dict[Any, Any]) -> None:
        places, target = list(node.inputs()), written(node)
        for i, place in enumerate(places):
            if place in now:
                node.replaceInput(i, now[place])
        blocks = list(node.blocks())
        if node.kind() == "prim::If":
            self._branches(node, blocks, now)
        elif node.kind() == "prim::Loop":
            self._loop(node, blocks[0], now)
        elif node.kind() in _RESHAPES:
            self._reshape(node, places[0])
        elif target is not None:
            self._write(node, target, now)
        elif node.kind() in _VIEWS:
            self.bases[node.output()] = places[0]
        elif node.kind() in _OTHER_VIEWS and self._is_written(places[0]):
            raise errors.OnnxExporterError(_SHARED.format(node.kind(), _place(node)))

    def _is_written(self, place: Any) -> bool:
        """Whether something is written into the memory that a place is in."""
        while place in self.bases:
            place = self.bases[place]
        return place in self.places

    def _alone(self, node: Any) -> list[Any]:
        """The node, or a view for each of the parts that a list of views is unpacked into, where something is written."""
        parts = node.inputsAt(0).node() if node.kind() == "prim::ListUnpack" else node
        if parts.kind() not in _PARTS:
            return [node]
        source = self.sources.setdefault(parts.output(), parts.inputsAt(0))
        if not self._is_written(source):
            return [node]
        if parts == node:
            if any(use.user.kind() != "prim::ListUnpack" for use in node.output().uses()):
                raise errors.OnnxExporterError(_SHARED.format(node.kind(), _place(node)))
            return [node]
        made = []
        for value, (kind, rest) in zip(node.outputs(), _single(parts, node.outputsSize())):
            with self.graph.insert_point_guard(node):
                constants = [self.graph.insertConstant(c) for c in rest]
            view = self.graph.create(kind, [source, *constants], 1)
            view.insertBefore(node)
            view.copyMetadata(parts)
            view.output().setType(value.type())
            value.replaceAllUsesWith(view.output())
            made.append(view)
        node.destroy()
        return made

    def _reshape(self, node: Any, place: Any) -> None:
        """The tensor is a view of what it was from here on."""
        view = self.graph.create(node.kind()[:-1], list(node.inputs()), 1)
        view.insertBefore(node)
        view.copyMetadata(node)
        if node.outputsSize():
            view.output().setType(node.outputsAt(0).type())
            node.outputsAt(0).replaceAllUsesWith(view.output())
        node.destroy()
        place.replaceAllUsesAfterNodeWith(view, view.output())
        self.bases[view.output()] = place

    def _write(self, node: Any, place: Any, now: dict[Any, Any]) -> None:
        kind, inputs = node.kind(), list(node.inputs())
        outward = not (kind in _NAMES or kind.endswith("_"))
        made = self.graph.create(
            kind if outward else _NAMES.get(kind, kind[:-1]),
            inputs[:-1] if outward else inputs,
            2 if kind == "aten::pop" else 1,
        )
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
        if kind in _TURNS:
            return op(kind, result, *rest)
        if kind == "aten::movedim":
            return op(kind, result, rest[1], rest[0])
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
            return node.inputsAt(0) if node.kind() in _VIEWS else written(node)

        def walk(block: Any) -> None:
            inside.update(block.inputs())
            for node in block.nodes():
                inside.update(node.outputs())
                for inner in node.blocks():
                    walk(inner)
                place = written(node)
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


def _single(parts: Any, count: int) -> list[tuple[str, list[Any]]]:
    """The view that each of the parts is: its operator and the arguments behind the tensor.

    Raises OnnxExporterError where bounds are not known.
    """
    kind = parts.kind()
    sizes = parts.inputsAt(0).type().varyingSizes()
    given = [_value(v) for v in list(parts.inputs())[1:]]
    if kind == "aten::unbind":
        return [("aten::select", [given[0], i]) for i in range(count)]
    bounds = None
    if given[0] is not None and given[-1] is not None:
        dim, amount = given[-1], given[0]
        whole = None if sizes is None else sizes[dim]
        if isinstance(amount, list) and kind != "aten::tensor_split":
            bounds = [sum(amount[:i]) for i in range(count + 1)]
        elif kind == "aten::split":
            bounds = [amount * i for i in range(count)] + [2**63 - 1]
        elif whole is not None and kind == "aten::chunk":
            part = -(-whole // amount)
            bounds = [part * i for i in range(count)] + [whole]
    if bounds is None:
        raise errors.OnnxExporterError(_SHARED.format(kind, _place(parts)))
    return [("aten::slice", [dim, a, b, 1]) for a, b in zip(bounds, bounds[1:])]


def _place(node: Any) -> str:
    """Where a node comes from, for messages."""
    lines = str(node.sourceRange()).strip().splitlines()
    return f". It is called at {lines[0]}." if lines else "."


def _value(v: Any) -> Any:
    """A constant, or a list of constants."""
    if v.node().kind() == "prim::ListConstruct":
        items = [i.toIValue() for i in v.node().inputs()]
        return None if None in items else items
    return v.toIValue()


def nodes_of(block: Any) -> Iterator[Any]:
    """The nodes of a block and of those in it."""
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from nodes_of(inner)
