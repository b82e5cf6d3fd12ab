"""Operators of exported programs in terms of simpler ones."""

from __future__ import annotations

import functools
import json
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _composites, _higher_order_ops, _host, _native
from torchjit.export import _program
from torchjit.export.exported_program import ExportedProgram
from torchjit.export.graph_signature import InputKind, OutputKind
from torchjit.fx.node import map_arg
from torchjit.utils import _pytree as pytree


class CustomDecompTable(dict[Any, Any]):
    """A table of functions by operators, at first that of default_decompositions."""

    def __init__(self) -> None:
        super().__init__(_standard())

    def materialize(self) -> dict[Any, Callable[..., Any]]:
        """The table as a dictionary."""
        return dict(self)


def default_decompositions() -> CustomDecompTable:
    """What run_decompositions puts in the place of operators that are made of others. It may be changed.

    >>> program = torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),))
    >>> program = program.run_decompositions(torch.export.default_decompositions())
    >>> any("addmm" in str(node.target) for node in program.graph.nodes)
    True
    """
    return CustomDecompTable()


def _standard() -> dict[Any, Callable[..., Any]]:
    from torchjit.export import _core_losses, _core_operators

    table = {**_composites.table(), **_core_operators.table(), **_core_losses.table()}
    return {**{alias: table.get(first, first) for alias, first in _aliases().items()}, **table}


core_aten_decompositions = default_decompositions


class _Evaluation:
    """Runs the graph of a module with other functions for some operators, also in the graphs in it, and says which node it runs."""

    def __init__(self, table: dict[Any, Callable[..., Any]]) -> None:
        self.table = table
        self.nodes: list[Any] = []  # those that have run, which places of a trace number

    def run(self, module: Any, inputs: list[Any]) -> Any:
        """What the graph gives. Raises ValueError where it has no output."""
        values: dict[Any, Any] = {}
        given = iter(inputs)
        for n in module.graph.nodes:
            args, kwargs = map_arg((n.args, n.kwargs), values.__getitem__)
            if n.op == "placeholder":
                values[n] = next(given)
            elif n.op == "get_attr":
                inner = getattr(module, n.target)
                values[n] = lambda *x, inner=inner: self.run(inner, list(x))
            elif n.op == "call_function":
                before, _host.naming.place = _host.naming.place, f"{_PLACE}({len(self.nodes)}): {n.name}\n"
                self.nodes.append(n)
                try:
                    values[n] = self._call(n.target, args, kwargs)
                finally:
                    _host.naming.place = before
            else:
                return args[0]
        raise ValueError("the graph has no output")

    def _call(self, target: Any, args: Any, kwargs: Any) -> Any:
        control = torch.ops.higher_order
        if target is control.cond:
            return torch.cond(*args)
        if target is control.map_impl:
            mapped = _higher_order_ops.map(lambda xs, *rest: args[0](*xs, *rest), args[1], *args[2])
            return tuple(mapped) if isinstance(mapped, list) else mapped
        if target is control.while_loop:
            test, body, carried, rest = args
            return _higher_order_ops.while_loop(lambda *x: test(*x, *rest), lambda *x: body(*x, *rest), tuple(carried))
        if target is control.scan:
            return _scan(*args)
        if target in _numbers():
            return _numbers()[target](*args)
        with _composites.parts_from(self.table):
            return self.table.get(target, target)(*args, **kwargs)


# What the places of a trace of an evaluation begin with; the number of a node follows.
_PLACE = "decomposition"


def _placed(text: str, nodes: list[Any], modules: dict[str, str]) -> str:
    """A program whose nodes have the places and modules of those that they were made for."""
    form = _program.parse(text)

    def visit(graph: dict[str, Any]) -> None:
        for n in graph["nodes"]:
            meta = n.get("meta") or {}
            found = re.match(_PLACE + r"\((\d+)\): ", meta.get("stack") or "")
            if found:
                meta.update(_program.write_place(nodes[int(found[1])]))
        for inner in graph.get("graphs") or []:
            visit(inner["graph"])

    visit(form["graph"])
    form["modules"] = modules
    return json.dumps(form)


@functools.cache
def _numbers() -> dict[Any, Callable[..., Any]]:
    """What operators that give numbers, or check them, are as calls that a capture sees."""
    aten = torch.ops.aten
    return {
        aten.sym_size.int: lambda x, dim: x.size(dim), aten.item.default: lambda x: x.item(),
        aten._assert_scalar.default: lambda cond, message: torch._check(cond, lambda: message),
    }  # fmt: skip


@functools.cache
def _aliases() -> dict[Any, Callable[..., Any]]:
    """Operators by the first of their names, by their overloads of other names: mul.Tensor by multiply.Tensor."""
    aten, same = torch.ops.aten, {}
    for name in _native.operator_names("aten"):
        first = _native.normalized_name("aten::" + name).removeprefix("aten::")
        if first != name and not name.endswith("_"):
            for overload in getattr(aten, name).overloads():
                if "out" not in overload and overload in getattr(aten, first).overloads():
                    same[getattr(getattr(aten, name), overload)] = getattr(getattr(aten, first), overload)
    return same


def _scan(combine: Any, init: Any, xs: Any, rest: Any) -> Any:
    """A scan by a graph that gives carries and results one after the other."""
    count = len(init)

    def turn(carry: Any, x: Any) -> Any:
        results = combine(*carry, *x, *rest)
        results = results if isinstance(results, (tuple, list)) else [results]
        return list(results[:count]), list(results[count:])

    carried, stacked = _higher_order_ops.scan(turn, list(init), list(xs))
    return (*carried, *stacked)


class _Flat(torch.nn.Module):
    """A program as a module that takes the user's inputs one by one and has the program's tensors."""

    def __init__(self, program: ExportedProgram, table: dict[Any, Callable[..., Any]]) -> None:
        super().__init__()
        from torchjit.export._module import holder

        root = holder(program)
        for name in ("_modules", "_parameters", "_buffers", "_non_persistent_buffers_set"):
            setattr(self, name, getattr(root, name))
        for name, x in root.__dict__.items():
            if isinstance(x, torch.Tensor):
                object.__setattr__(self, name, x)
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_evaluation", _Evaluation(table))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        signature = self._program.graph_signature
        leaves = pytree.tree_leaves((args, kwargs))
        given = iter(leaves)
        flat = [next(given) if s.target is None else self._at(s.target) for s in signature.input_specs]
        out = list(self._evaluation.run(self._program.graph_module, flat))
        names = [s.arg.name for s in signature.input_specs if s.kind == InputKind.USER_INPUT]
        results = []
        with torch.no_grad():
            for spec, x in zip(signature.output_specs, out, strict=True):
                if spec.kind == OutputKind.BUFFER_MUTATION:
                    prefix, _, last = spec.target.rpartition(".")
                    self.get_submodule(prefix)._buffers[last] = x
                elif spec.kind == OutputKind.USER_INPUT_MUTATION:
                    leaves[names.index(spec.target)].copy_(x)
                else:
                    results.append(x)
        return pytree.tree_unflatten(results, self._program.out_spec)

    def _at(self, target: str) -> Any:
        prefix, _, name = target.rpartition(".")
        return getattr(self.get_submodule(prefix), name)


def run(program: ExportedProgram, table: dict[Any, Callable[..., Any]] | None) -> ExportedProgram:
    """The program with the table's functions in the place of operators: it is captured again, on the inputs of the first capture."""
    from torchjit.export._trace import capture
    from torchjit.export.dynamic_shapes import declarations_of
    from torchjit.export.exported_program import program_of

    if program.example_inputs is None:
        raise RuntimeError("This program has been loaded without the inputs that it was captured with: run_decompositions has to come before save.")
    _program.check(program._text())  # one of PyTorch may write to its arguments
    table = default_decompositions() if table is None else table
    args, kwargs = program.example_inputs
    module = _Flat(program, table)
    names = [s.arg.name for s in program.graph_signature.input_specs if s.target is None]
    captured = capture(module, module, args, kwargs, declarations_of(program), names)
    captured.text = _placed(captured.text, module._evaluation.nodes, program._modules)
    captured.classes = program._classes
    made = program_of(captured, OrderedDict(program.state_dict), {**program.constants, **captured.constants}, program.example_inputs)
    first = made.module_call_graph[0].signature
    first.forward_arg_names = program.module_call_graph[0].signature.forward_arg_names  # type: ignore[union-attr]
    return made


