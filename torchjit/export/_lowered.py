"""The graphs of exported modules as functions of the library, which run them as a whole."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import torchjit as torch
from torchjit import _native, _override
from torchjit.export import _program
from torchjit.export._errors import SpecViolationError
from torchjit.export._symbolic import SymInt
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.nn.parameter import Parameter

_LOGGING = "export" in os.environ.get("GOJIT_LOG", "").split(",")
_MOST_REASONS = 8


class Lowered:
    """The graph of an exported module, as it is now, as a function of the library.

    Its arguments are the tensors that the graph reads of the module, and then the leaves of the module's arguments. It is made when it is first asked for.
    Where there is none, or a call has something to do with each operator, the module runs node by node, and `reasons` has why. `outputs` puts its results
    into the containers of the module's.
    """

    def __init__(self, module: Any) -> None:
        self.reasons: list[str] = []
        self._form: dict[str, Any] | None = None
        self._function: Any = None
        self._shown = module.graph
        self.outputs = module.graph._codegen.process_outputs
        try:
            self._form, targets = _write(module)
        except (SpecViolationError, TypeError) as e:
            self.tell(str(e))
            return
        self._state = _State(module, targets)

    def tell(self, why: str) -> None:
        """Notes why calls run node by node, for torch.jit.explain and the log."""
        if why not in self.reasons and len(self.reasons) < _MOST_REASONS:
            self.reasons.append(why)
            if _LOGGING:
                print(f"export: a module runs node by node: {why}", file=sys.stderr)

    def function(self) -> Any:
        """The function, None where the library has none for the graph."""
        form = self._form  # another thread may be at it, too
        if self._function is None and form is not None:
            try:
                self._function = _native.export_function(json.dumps(form))
            except ValueError as e:
                self.tell(str(e))
            self._form = None
        return self._function

    def arguments(self, module: Any, leaves: Iterable[Any]) -> list[Any] | None:
        """What the function is called with; None where this call has to run node by node."""
        if self._function is None and self.function() is None:
            return None
        if _override.has_mode():
            self.tell("a mode with __torch_function__ sees the operators")
            return None
        given = [*self._state.of(module), *leaves]
        if not _PLAIN.issuperset(map(type, given)):
            other = next(type(x) for x in given if type(x) not in _PLAIN)
            self.tell(f"an argument or a tensor of the module is a {other.__module__}.{other.__qualname__}")
            return None
        return given

    # What torch.jit.explain asks of a function.

    def _explain(self) -> str:
        function = self.function()
        told = json.loads(function._explain()) if function is not None else {"name": "forward", "graph": str(self._shown), "groups": []}
        return json.dumps({**told, "node_by_node": self.reasons})

    def _time_steps(self, on: bool) -> None:
        if self._function is not None:
            self._function._time_steps(on)


_PLAIN = frozenset((torch.Tensor, Parameter, int, float, bool, complex, str, type(None)))


def _attribute(module: Any, target: Any) -> Any:
    return functools.reduce(getattr, str(target).split("."), module)


class _State:
    """The tensors that a graph reads of a module, by their paths."""

    def __init__(self, module: Any, targets: list[str]) -> None:
        self.targets = targets
        self.owners: list[tuple[int, str]] = []  # for each module that has some but the first, the one that it is in, and its name there
        self.tables: list[tuple[int, str]] = []  # the attributes of these modules that have them
        self.tensors: list[tuple[int, str]] = []  # their tables, and their names there
        owners, tables = {"": 0}, dict[tuple[int, str], int]()
        for target in targets:
            path, _, name = target.rpartition(".")
            owner = self._number(path, owners)
            has = _attribute(module, path) if path else module
            table = next((t for t in ("_parameters", "_buffers") if name in getattr(has, t)), "__dict__")
            if (owner, table) not in tables:
                tables[owner, table] = len(tables)
                self.tables.append((owner, table))
            self.tensors.append((tables[owner, table], name))

    def _number(self, path: str, numbers: dict[str, int]) -> int:
        if path not in numbers:
            above, _, name = path.rpartition(".")
            self.owners.append((self._number(above, numbers), name))
            numbers[path] = len(numbers)
        return numbers[path]

    def of(self, module: Any) -> list[Any]:
        """What a module has there now."""
        try:
            owners = [module]
            for above, name in self.owners:
                owners.append(owners[above]._modules[name])
            tables = [getattr(owners[i], table) for i, table in self.tables]
            return [tables[i][name] for i, name in self.tensors]
        except (KeyError, AttributeError):  # something was replaced by what is of another kind: a property, a buffer in the place of a parameter
            return [_attribute(module, target) for target in self.targets]


def _write(module: Any) -> tuple[dict[str, Any], list[str]]:
    """The graph of a module as a program whose inputs are the tensors that it reads and its placeholders, and the paths of these tensors.

    Raises SpecViolationError and TypeError for what no program of Export IR has.
    """
    from torchjit.export._module import CallCodeGen

    if type(module.graph._codegen) is not CallCodeGen:
        raise SpecViolationError("the graph has a code generator of its own")
    targets: list[str] = []
    state, inputs, rest = [], [], []
    for n in module.graph.nodes:
        if n.op == "get_attr" and not isinstance(_attribute(module, n.target), GraphModule):
            targets.append(n.target)
            state.append({"op": "placeholder", "name": n.name, "target": n.name, "meta": {"val": _kind(n)}})
        elif n.op == "placeholder":
            inputs.append(_write_node(n))
        else:
            rest.append(_write_node(n))
    graph = {"nodes": [*state, *inputs, *rest], "graphs": _inner_graphs(module)}
    given = rest[-1]["args"][0]
    ((kind, outputs),) = given.items()
    outputs = outputs if kind in ("tuple", "list") else [given]
    constants = module._inputs.forms()
    signature = {
        "inputs": [{"kind": "USER_INPUT", "name": n["name"], "constant": constants.get(n["name"])} for n in (*state, *inputs)],
        "outputs": [{"kind": "USER_OUTPUT", "name": x.get("node", "")} for x in outputs],
    }
    return {"graph": graph, "signature": signature}, targets


def _inner_graphs(module: Any) -> list[dict[str, Any]]:
    inner = {n.target: _attribute(module, n.target) for n in module.graph.nodes if n.op == "get_attr"}
    return [{"name": name, "graph": _write_inner(m)} for name, m in inner.items() if isinstance(m, GraphModule)]


def _write_inner(module: Any) -> dict[str, Any]:
    return {"nodes": [_write_node(n) for n in module.graph.nodes], "graphs": _inner_graphs(module)}


def _write_node(n: Node) -> dict[str, Any]:
    form: dict[str, Any] = {"op": n.op, "name": n.name, "target": _program.name_of(n.target) if n.op == "call_function" else str(n.target)}
    if n.op != "placeholder":  # a default of which belongs to the containers
        form["args"] = [_program.write_argument(a) for a in n.args]
        form["kwargs"] = [{"name": k, "value": _program.write_argument(a)} for k, a in n.kwargs.items()]
    form["meta"] = {"val": _kind(n)}
    return form


def _kind(n: Node) -> dict[str, Any]:
    """What a node gives, without sizes: what may have become another one since it was noted does not matter."""
    return _kind_of(n.meta.get("val"))


def _kind_of(val: Any) -> dict[str, Any]:
    if isinstance(val, (SymInt, int)) and not isinstance(val, bool):
        return {"kind": "int"}
    if isinstance(val, (list, tuple)):
        return {"kind": "list", "items": [_kind_of(item) for item in val]}
    if isinstance(val, torch.Tensor):
        return {"kind": "tensor", "dtype": str(val.dtype).removeprefix("torch.")}
    return {"kind": "none"}
