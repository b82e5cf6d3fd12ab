"""Programs between the library, which has them as JSON, and graphs of torch.fx."""

from __future__ import annotations

import builtins
import json
import keyword
import linecache
import operator
import re
from typing import Any

import torchjit as torch
from torchjit import _checks, _native, _progress
from torchjit._types import _LAYOUTS, dtypes
from torchjit.export import graph_signature as signatures
from torchjit.export._errors import SpecViolationError
from torchjit.export._symbolic import FakeTensor, Symbol, SymInt, ValueRanges, affine, int_oo, size_of
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node


class ExportedGraph(Graph):
    """A graph whose text counts users as num_users."""

    def __str__(self) -> str:
        return super().__str__().replace("[#users=", "[num_users=")

    def create_node(self, op: str, target: Any, args: Any = None, kwargs: Any = None, name: str | None = None, type_expr: Any = None) -> Node:
        """Adds a node. Placeholders have the names of the arguments, also where these are names of Python's functions."""
        made = super().create_node(op, target, args, kwargs, name, type_expr)
        if op == "placeholder" and name is not None and hasattr(builtins, name) and all(n.name != name for n in self.nodes):
            made.name = name
        return made

    def __deepcopy__(self, memo: Any = None) -> ExportedGraph:
        made = super().__deepcopy__(memo)
        made.__class__ = ExportedGraph
        made.output_node().meta = dict(self.output_node().meta)
        return made  # type: ignore[return-value]


_OPERATORS = {
    name: getattr(operator, name)
    for name in ("getitem", "add", "sub", "mul", "floordiv", "mod", "truediv", "neg", "eq", "ne", "lt", "le", "gt", "ge", "pow")
}
_OPERATORS.update({"max": _checks.sym_max, "min": _checks.sym_min})


def target_of(name: str) -> Any:
    """What a node with that target calls. Raises AttributeError where there is no such operator."""
    from torchjit._higher_order_ops import HigherOrderOperator
    from torchjit._ops import OpOverload

    namespace, _, rest = name.partition("::")
    if namespace == "operator":
        return _OPERATORS[rest]
    base, _, overload = rest.partition(".")
    if not all(is_name(part) for part in (namespace, base, overload or "default")):
        raise AttributeError(f"{name!r} is no name of an operator")
    packet = getattr(getattr(torch.ops, namespace), base)
    found = packet if namespace == "higher_order" else getattr(packet, overload or "default")
    if not isinstance(found, (OpOverload, HigherOrderOperator)):
        raise AttributeError(f"{name!r} is no operator")
    return found


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_name(x: Any) -> bool:
    """Whether x is a text that can be the name of a variable: names of programs become text of Python, so that they are nothing else."""
    return isinstance(x, str) and _NAME.fullmatch(x) is not None and not keyword.iskeyword(x)


def check_names(form: dict[str, Any]) -> None:
    """Raises ValueError where a program that a file holds has names that are none. Export IR's own rules are for check."""
    for node in form["nodes"]:
        if not is_name(node["name"]) or node["op"] == "placeholder" and not is_name(node["target"]):
            raise ValueError(f"the node {node['name']!r} with the target {node['target']!r} does not have the name of a variable")
        for given in node.get("kwargs") or ():
            if not is_name(given["name"]):
                raise ValueError(f"the node {node['name']} has an argument with the name {given['name']!r}")
    for inner in form.get("graphs") or ():
        if not is_name(inner["name"]) or inner["name"].startswith("__"):
            raise ValueError(f"a graph of the program has the name {inner['name']!r}")
        check_names(inner["graph"])


def check_path(path: Any) -> None:
    """Raises ValueError for what is no path of a parameter or a buffer in a module."""
    parts = path.split(".") if isinstance(path, str) else [""]
    if not all(part and part.isprintable() and not part.startswith("__") for part in parts):
        raise ValueError(f"the program has a parameter or a buffer with the path {path!r}")


def name_of(target: Any) -> str:
    """The name by which the library knows what a node calls. Raises SpecViolationError for what Export IR cannot call."""
    from torchjit import _higher_order_ops
    from torchjit._ops import OpOverload

    if isinstance(target, OpOverload):
        return target.name()
    if isinstance(target, _higher_order_ops.HigherOrderOperator):
        return f"higher_order::{target.__name__}"
    for name, function in _OPERATORS.items():
        if function is target:
            return f"operator::{name}"
    raise SpecViolationError(
        f"Operator '{target}' is not an allowed operator type: Export IR calls overloads of operators, such as torch.ops.aten.add.Tensor"
    )


class Reader:
    """Makes a graph of torch.fx of a program."""

    def __init__(self, program: dict[str, Any], classes: dict[str, Any], of_file: bool = False) -> None:
        self.program, self.classes, self.of_file = program, classes, of_file
        self.hints = {s["name"]: s["hint"] for s in program["symbols"] or []}

    def module(self, form: dict[str, Any]) -> GraphModule:
        """The module of a graph, with the modules of the graphs in it."""
        root = torch.nn.Module()
        for inner in form.get("graphs") or []:
            setattr(root, inner["name"], self.module(inner["graph"]))
        graph = ExportedGraph()
        nodes: dict[str, Node] = {}
        for n in _progress.over(form["nodes"], "making the exported program"):
            nodes[n["name"]] = self.node(graph, n, nodes)
        made = GraphModule(root, graph)
        if type(made.graph) is not ExportedGraph:
            made.graph.__class__ = ExportedGraph
        made.meta = {}
        return made

    def node(self, graph: Graph, form: dict[str, Any], nodes: dict[str, Node]) -> Node:
        args = tuple(self.argument(a, nodes) for a in form.get("args") or ())
        kwargs = {k["name"]: self.argument(k["value"], nodes) for k in form.get("kwargs") or ()}
        target = target_of(form["target"]) if form["op"] == "call_function" else form["target"]
        node = graph.create_node(form["op"], target, args, kwargs, form["name"])
        meta = form.get("meta") or {}
        if form["op"] != "get_attr":
            node.meta["val"] = self.value(meta.get("val"))
        if form["op"] in ("call_function", "output"):
            node.meta["stack_trace"] = stack_trace(meta.get("stack", ""), with_lines=not self.of_file)
            node.meta["nn_module_stack"] = self.module_stack(meta.get("scope", ""))
            node.meta["source_fn_stack"] = self.sources(node, meta)
        return node

    def argument(self, form: dict[str, Any], nodes: dict[str, Node]) -> Any:
        return read_argument(form, nodes)

    def value(self, form: dict[str, Any] | None) -> Any:
        """What a node gives, as its metadata says it."""
        if form is None or form["kind"] in ("none", "bool", "float"):
            return None
        if form["kind"] == "list":
            return tuple(self.value(v) for v in form.get("items") or ())
        if form["kind"] == "int":
            return size_of(form["int"], self.hints) if "int" in form else None
        sizes = [size_of(s, self.hints) for s in form.get("sizes") or ()]
        strides = form.get("strides")
        strides = None if strides is None and sizes else [size_of(s, self.hints) for s in strides or ()]
        return FakeTensor.make(sizes, strides, _constant("dtype", form["dtype"]), torch.device(form["device"]), form.get("grad", False))

    def module_stack(self, scope: str) -> dict[str, Any]:
        """The modules whose forward was running: by a name of its own for each, its path and its class."""
        stack: dict[str, Any] = {}
        if self.program.get("modules"):
            for path in ["__module", *(p for p in scope.split("/") if p)]:
                path = path.removeprefix("__module").removeprefix(".")
                if path in self.program["modules"]:
                    key = "self" + "".join("_" + part for part in path.split(".") if part)
                    shown = "self" + ("." + path if path else "")
                    stack[key] = (shown, self.class_of(self.program["modules"][path]))
        return stack

    def class_of(self, name: str) -> Any:
        """The class of that name where it is known; else the name."""
        found = self.classes.get(name)
        if found is None and name.startswith(("torch.", "torchjit.")):
            found = getattr(torch.nn, name.rpartition(".")[2], None)
        return found if found is not None else name

    def sources(self, node: Node, meta: dict[str, Any]) -> list[Any]:
        """The innermost module of the library, or the function, that the call belongs to."""
        stack = list(node.meta["nn_module_stack"].items())
        for key, (_, cls) in reversed(stack):
            if isinstance(cls, type) and cls.__module__.startswith("torchjit.nn.modules"):
                return [(key, cls)]
        if node.op != "call_function":
            return []
        function = functional_source(meta.get("stack", ""))
        if function is None:
            base = getattr(node.target, "_overloadpacket", node.target)
            function = getattr(torch, getattr(base, "__name__", ""), node.target)
        return [(node.name, function)]


def functional_source(stack: str) -> Any:
    """The function of torch.nn.functional that a call came through; None where there is none."""
    for file, _, name in reversed(_FRAME.findall(stack)):
        if file.endswith(("nn/functional.py", "torchjit/nn/functional.py")) and not name.startswith("_"):
            return getattr(torch.nn.functional, name, None)
    return None


_FRAME = re.compile(r"^(.*)\((\d+)\): (.*)$", re.MULTILINE)


def stack_trace(frames: str, with_lines: bool = True) -> str:
    """A traceback of the captured program, outermost first: the frames below the call of export, without those of the library.

    Without with_lines the files that the frames name are not opened.
    """
    if frames.startswith("  File"):
        return frames
    lines: list[str] = []
    for file, line, name in _FRAME.findall(frames):
        if file.endswith(("torchjit/export/_trace.py", "torchjit/export/_capture.py")):
            break
        if "torchjit/" in file and not ("/nn/modules/" in file and name == "forward"):
            continue
        code = linecache.getline(file, int(line)).strip() if with_lines else ""
        lines.append(f'  File "{file}", line {line}, in {name}\n    {code}\n')
    return "".join(reversed(lines))


def read_argument(form: dict[str, Any], nodes: dict[str, Node] | None = None) -> Any:
    """What an argument of a program is in Python. Raises ValueError for one that is none."""
    ((kind, content),) = form.items()
    if kind == "node":
        assert nodes is not None
        return nodes[content]
    if kind == "none":
        return None
    if kind in ("bool", "int", "str"):
        if type(content) is not _PLAIN[kind]:
            raise ValueError(f"an argument of kind {kind} is {content!r}")
        return content
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(float(content[0]), float(content[1]))
    if kind in ("dtype", "layout", "memory_format"):
        return _constant(kind, content)
    if kind == "device":
        return torch.device(content)
    if kind == "list":
        return [read_argument(a, nodes) for a in content]
    if kind == "tuple":
        return tuple(read_argument(a, nodes) for a in content)
    raise ValueError(f"there are no arguments of kind {kind!r}")


_PLAIN = {"bool": bool, "int": int, "str": str}


def _constant(kind: str, name: Any) -> Any:
    """The element type, layout or memory format that torch has by a name. Raises ValueError for other names."""
    kinds: dict[str, dict[str, Any]] = {
        "dtype": dtypes, "layout": {str(x).removeprefix("torch."): x for x in _LAYOUTS.values()},
        "memory_format": {x: getattr(torch, x) for x in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")},
    }  # fmt: skip
    names = kinds[kind]
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"there is no {kind} of the name {name!r}")
    return names[name]


def write_argument(x: Any) -> dict[str, Any]:
    """An argument of a node as the library reads it. Raises TypeError for what a program cannot hold."""
    if isinstance(x, Node):
        return {"node": x.name}
    if x is None:
        return {"none": True}
    if isinstance(x, bool):
        return {"bool": x}
    if isinstance(x, int):
        return {"int": int(x)}
    if isinstance(x, float):
        return {"float": repr(x)}
    if isinstance(x, complex):
        return {"complex": [repr(x.real), repr(x.imag)]}
    if isinstance(x, str):
        return {"str": x}
    if isinstance(x, torch.dtype):
        return {"dtype": str(x).removeprefix("torch.")}
    if isinstance(x, torch.layout):
        return {"layout": str(x).removeprefix("torch.")}
    if isinstance(x, torch.memory_format):
        return {"memory_format": str(x).removeprefix("torch.")}
    if isinstance(x, torch.device):
        return {"device": str(x)}
    if isinstance(x, (list, tuple)):
        return {"list" if isinstance(x, list) else "tuple": [write_argument(item) for item in x]}
    raise TypeError(f"a program cannot hold a {type(x).__name__}: {x!r}")


def write_value(x: Any) -> dict[str, Any]:
    """What a node gives, as the library reads it."""
    if isinstance(x, SymInt):
        return {"kind": "int", "int": x._form}
    if isinstance(x, int) and not isinstance(x, bool):
        return {"kind": "int", "int": x}
    if isinstance(x, (list, tuple)):
        return {"kind": "list", "items": [write_value(item) for item in x]}
    if isinstance(x, torch.Tensor):
        form: dict[str, Any] = {"kind": "tensor", "dtype": str(x.dtype).removeprefix("torch."), "device": str(x.device), "sizes": [_form(n) for n in x.shape]}
        steps = x._steps if isinstance(x, FakeTensor) else x.stride()
        if steps is not None:
            form["strides"] = [_form(n) for n in steps]
        if x.requires_grad:
            form["grad"] = True
        return form
    return {"kind": "none"}


def _form(n: Any) -> Any:
    return n._form if isinstance(n, SymInt) else int(n)


def write_place(n: Node) -> dict[str, Any]:
    """Where a node comes from: the traceback, and the modules whose forward was running."""
    scope = "/".join("__module" + path.removeprefix("self") for path, _ in (n.meta.get("nn_module_stack") or {}).values())
    return {"stack": n.meta.get("stack_trace") or "", "scope": scope}


def write_graph(module: GraphModule, classes: dict[str, Any]) -> dict[str, Any]:
    """A graph as the library reads it. Raises SpecViolationError for calls that Export IR does not have."""
    nodes, graphs = [], []
    for n in module.graph.nodes:
        form: dict[str, Any] = {"op": n.op, "name": n.name, "target": name_of(n.target) if n.op == "call_function" else str(n.target)}
        form["args"] = [write_argument(a) for a in n.args]
        form["kwargs"] = [{"name": k, "value": write_argument(a)} for k, a in n.kwargs.items()]
        form["meta"] = write_place(n)
        if "val" in n.meta:
            form["meta"]["val"] = write_value(n.meta["val"])
        nodes.append(form)
        if n.op == "get_attr":
            inner = getattr(module, n.target, None)
            if isinstance(inner, GraphModule):
                graphs.append({"name": n.target, "graph": write_graph(inner, classes)})
    return {"nodes": nodes, "graphs": graphs}


def read_signature(program: dict[str, Any]) -> signatures.ExportGraphSignature:
    """The signature of a program."""
    values = {n["name"]: (n.get("meta") or {}).get("val") for n in program["graph"]["nodes"]}
    inputs = []
    for spec in program["signature"]["inputs"] or []:
        arg: Any = signatures.SymIntArgument(spec["name"]) if _is_size(values.get(spec["name"])) else signatures.TensorArgument(spec["name"])
        if spec.get("constant") is not None:
            arg = signatures.ConstantArgument(spec["name"], read_argument(spec["constant"]))
        kind = signatures.InputKind[spec["kind"]]
        persistent = spec.get("persistent", False) if kind == signatures.InputKind.BUFFER else None
        inputs.append(signatures.InputSpec(kind, arg, spec.get("target"), persistent))
    outputs = []
    given = program["graph"]["nodes"][-1]["args"][0]
    items = given.get("tuple", given.get("list", [given]))
    for spec, item in zip(program["signature"]["outputs"] or [], items, strict=True):
        if not spec["name"]:
            arg = signatures.ConstantArgument("", read_argument(item))
        elif _is_size(values.get(spec["name"])):
            arg = signatures.SymIntArgument(spec["name"])
        else:
            arg = signatures.TensorArgument(spec["name"])
        outputs.append(signatures.OutputSpec(signatures.OutputKind[spec["kind"]], arg, spec.get("target")))
    return signatures.ExportGraphSignature(inputs, outputs)


def _is_size(val: dict[str, Any] | None) -> bool:
    """Whether metadata says of a value that it is an integer of which an expression is known."""
    return val is not None and val["kind"] == "int" and "int" in val


def write_signature(signature: signatures.ExportGraphSignature) -> dict[str, Any]:
    """A signature as the library reads it."""
    inputs, outputs = [], []
    for i in signature.input_specs:
        form: dict[str, Any] = {"kind": i.kind.name, "name": i.arg.name, "target": i.target or "", "persistent": bool(i.persistent)}
        if isinstance(i.arg, signatures.ConstantArgument):
            form["constant"] = write_argument(i.arg.value)
        inputs.append(form)
    for o in signature.output_specs:
        outputs.append({"kind": o.kind.name, "name": o.arg.name, "target": o.target or ""})
    return {"inputs": inputs, "outputs": outputs}


def read_ranges(program: dict[str, Any]) -> dict[Symbol, ValueRanges]:
    """The ranges of the symbols of a program."""
    ranges = {Symbol(s["name"]): ValueRanges(s["lower"], int_oo if s["upper"] < 0 else s["upper"]) for s in program["symbols"] or []}
    for node in program["graph"]["nodes"]:
        if node["op"] != "placeholder":
            break
        for size in ((node.get("meta") or {}).get("val") or {}).get("sizes") or ():
            linear = affine(size)
            if isinstance(size, list) and linear is not None:
                name, factor, rest = linear
                whole = ranges[Symbol(name)]
                upper = int_oo if whole.upper is int_oo else factor * whole.upper + rest
                ranges[Symbol(str(size_of(size, {})))] = ValueRanges(factor * whole.lower + rest, upper)
    return ranges


def check(text: str) -> None:
    """Raises SpecViolationError where a program is not what Export IR allows."""
    try:
        _native.export_check(text)
    except ValueError as e:
        raise SpecViolationError(str(e)) from None


def parse(text: str) -> dict[str, Any]:
    """A program as dictionaries and lists."""
    return json.loads(text)
