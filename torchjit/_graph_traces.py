"""Graphs of what a graph does for given inputs: branches that are taken and rounds of loops, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class _Run:
    """Runs nodes of a graph, and writes those that run into another graph."""

    def __init__(self, into: Any) -> None:
        self.graph = into
        self.made: dict[str, Any] = {}  # values of the graph that is written, by the names of those that are read
        self.held: dict[str, Any] = {}  # what they hold

    def give(self, value: Any, made: Any, held: Any) -> None:
        """Notes what stands for a value, and what it holds."""
        self.made[value.debugName()], self.held[value.debugName()] = made, held

    def pairs(self, values: Iterable[Any]) -> list[tuple[Any, Any]]:
        """What stands for values, and what they hold."""
        return [(self.made[v.debugName()], self.held[v.debugName()]) for v in values]

    def nodes(self, nodes: Iterable[Any]) -> None:
        """Runs nodes."""
        for node in nodes:
            if node.kind() == "prim::If":
                taken = list(node.blocks())[0 if self.held[node.input().debugName()] else 1]
                self.nodes(taken.nodes())
                for value, (made, held) in zip(node.outputs(), self.pairs(taken.outputs())):
                    self.give(value, made, held)
            elif node.kind() == "prim::Loop":
                self.loop(node)
            else:
                self.operator(node)

    def loop(self, node: Any) -> None:
        """Runs the rounds of a loop."""
        (block,) = node.blocks()
        (_, rounds), (_, goes_on), *carried = self.pairs(node.inputs())
        number, *inner = block.inputs()
        i = 0
        while goes_on and i < rounds:
            self.give(number, self.graph.insertConstant(i), i)
            for value, (made, held) in zip(inner, carried):
                self.give(value, made, held)
            self.nodes(block.nodes())
            (_, goes_on), *carried = self.pairs(block.outputs())
            i += 1
        for value, (made, held) in zip(node.outputs(), carried):
            self.give(value, made, held)

    def operator(self, node: Any) -> None:
        """Runs a node, and writes a copy of it."""
        from torchjit import _C

        alone = _C.Graph()
        inputs = list(node.inputs())
        given = {}
        for v in inputs:
            if v.debugName() not in given:
                given[v.debugName()] = alone.addInput()
                given[v.debugName()].setType(v.type())
        copy = alone.createClone(node, lambda v: given[v.debugName()])
        alone.appendNode(copy)
        for v in copy.outputs():
            alone.registerOutput(v)
        made = _C._jit_interpret_graph(alone, tuple(self.held[name] for name in given))
        count = node.outputsSize()
        results: Sequence[Any] = (made,) if count == 1 else made if count else ()
        written = self.graph.createClone(node, lambda v: self.made[v.debugName()])
        self.graph.insertNode(written)
        for old, new, held in zip(node.outputs(), written.outputs(), results):
            _describe(new, held)
            self.give(old, new, held)


def _describe(value: Any, held: Any) -> None:
    import torchjit as torch

    if isinstance(held, torch.Tensor):
        value.inferTypeFrom(held)


def _traced(graph: Any, inputs: tuple[Any, ...]) -> Any:
    from torchjit import _C

    source = graph.copy()
    _C._jit_pass_inline(source)
    places = list(source.inputs())
    if len(places) != len(inputs):
        raise RuntimeError(f"the graph has {len(places)} inputs, {len(inputs)} are given")
    made = _C.Graph()
    run = _Run(made)
    for v, x in zip(places, inputs):
        new = made.addInput()
        new.setDebugName(v.debugName())
        new.setType(v.type())
        _describe(new, x)
        run.give(v, new, x)
    run.nodes(source.nodes())
    for v in source.outputs():
        made.registerOutput(run.made[v.debugName()])
    _C._jit_pass_dce(made)
    return made


def _jit_trace_graph(graph: Any, inputs: tuple[Any, ...]) -> Any:
    """The graph of the operators that a graph runs for inputs: without branches and loops, with the types of the tensors."""
    return _traced(graph, tuple(inputs))


def _jit_trace_module(module: Any, inputs: tuple[Any, ...]) -> None:
    """Has the method forward of a module of the library be what it runs for inputs, as in _jit_trace_graph."""
    graph = module._get_method("forward").graph
    made = _traced(graph, (module, *inputs))
    for _ in range(len(list(graph.outputs()))):
        graph.eraseOutput(0)
    for node in reversed(list(graph.nodes())):
        node.destroy()
    places = list(graph.inputs())
    for v, new in zip(places, made.inputs()):
        v.setType(new.type())
    for v in graph.insertGraph(made, places):
        graph.registerOutput(v)


def functions() -> dict[str, Any]:
    """What torch._C has of these."""
    return {f.__name__: f for f in (_jit_trace_graph, _jit_trace_module)}
