"""Programs that torch.export of PyTorch 2 saved: archives with a program as JSON in models/ and tensors as bytes in data/.

The program is written anew in this library's form, from which it is read as any other. Nothing in an archive is run, and pickles in it are read as torch.load
reads them.
"""

from __future__ import annotations

import ast
import io
import json
import zipfile
from typing import Any

import torchjit as torch
from torchjit._types import dtypes

# How PyTorch numbers element types, layouts and memory formats in such archives.
_DTYPES = dict(enumerate(("", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128", "bool", "bfloat16")))
_LAYOUTS = {1: "sparse_coo", 2: "sparse_csr", 3: "sparse_csc", 4: "sparse_bsr", 5: "sparse_bsc", 6: "_mkldnn", 7: "strided"}
_FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}
_CONTAINERS = {"builtins.tuple": "tuple", "builtins.list": "list", "builtins.dict": "dict", "collections.OrderedDict": "OrderedDict"}
_FUNCTIONS = {"torch.sym_max": "operator::max", "torch.sym_min": "operator::min"}
# Checks of what follows from the inputs, which are checked when the program is called.
_CHECKS = ("aten::_assert_tensor_metadata", "aten::sym_constrain_range", "aten::sym_constrain_range_for_size")


def is_archive(f: Any) -> bool:
    """Whether a file, or an object with read and seek, is an archive of a program that PyTorch saved."""
    try:
        with zipfile.ZipFile(f) as archive:
            return any(_inside(name) == "archive_format" for name in archive.namelist()) and any(_is_model(name) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def _inside(name: str) -> str:
    """The name of a record without the folder that all are in."""
    return name.partition("/")[2]


def _is_model(name: str) -> bool:
    return _inside(name).startswith("models/") and name.endswith(".json")


class _Archive:
    """The records of an archive. None may be compressed, as PyTorch writes none that is: a small file cannot become large."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.records = {_inside(info.filename): info for info in archive.infolist()}
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"the record {info.filename!r} of the archive is compressed")

    def read(self, name: str) -> bytes:
        if name not in self.records:
            raise ValueError(f"the archive has no record {name!r}")
        return self.archive.read(self.records[name])

    def json(self, name: str) -> Any:
        return json.loads(self.read(name))


def read(f: Any) -> tuple[str, dict[str, Any], dict[str, bytes], Any]:
    """The program of an archive as text in this library's form, its tensors by their paths, further files, and the arguments that it was captured with.

    Raises ValueError for what an archive of PyTorch does not have, and for what there is no form of here.
    """
    with zipfile.ZipFile(f) as opened:
        archive = _Archive(opened)
        models = [name for name in archive.records if name.startswith("models/") and name.endswith(".json")]
        name = "models/model.json" if "models/model.json" in models or not models else models[0]
        program = archive.json(name)
        model = name.removeprefix("models/").removesuffix(".json")
        if archive.records.get("byteorder") is not None and archive.read("byteorder") != b"little":
            raise ValueError("the tensors of the archive are not little-endian")
        tensors: dict[str, Any] = {}
        for folder, config in (("weights", f"data/weights/{model}_weights_config.json"), ("constants", f"data/constants/{model}_constants_config.json")):
            if config in archive.records:
                tensors.update(_tensors(archive, f"data/{folder}/", archive.json(config)["config"]))
        further = {name.removeprefix("extra/"): archive.read(name) for name in archive.records if name.startswith("extra/")}
        example = None
        if f"data/sample_inputs/{model}.pt" in archive.records:
            try:
                example = torch.load(io.BytesIO(archive.read(f"data/sample_inputs/{model}.pt")))
            except Exception:  # classes that torch.load does not know: the program runs without its example
                example = None
        return json.dumps(_Program(program).form()), tensors, further, example


def _tensors(archive: _Archive, folder: str, config: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = {}  # tensors of one record share memory
    tensors = {}
    for path, entry in config.items():
        meta = entry["tensor_meta"]
        if entry.get("use_pickle"):
            tensors[path] = torch.load(io.BytesIO(archive.read(folder + entry["path_name"])))
            continue
        dtype = dtypes[_dtype(meta["dtype"])]
        sizes, strides = [n["as_int"] for n in meta["sizes"]], [n["as_int"] for n in meta["strides"]]
        if entry["path_name"] not in read:
            read[entry["path_name"]] = bytearray(archive.read(folder + entry["path_name"]))
        content = read[entry["path_name"]]
        if not content:
            tensors[path] = torch.empty(sizes, dtype=dtype)
            continue
        flat = torch.frombuffer(content, dtype=dtype)
        tensors[path] = flat.as_strided(sizes, strides, meta["storage_offset"]["as_int"])
    return tensors


def _dtype(number: Any) -> str:
    name = _DTYPES.get(number)
    if not name or name not in dtypes:
        raise ValueError(f"the program has tensors of the element type with the number {number}, which there is not here")
    return name


def _named(kinds: dict[int, str], number: Any) -> str:
    if number not in kinds:
        raise ValueError(f"the program has a layout or a memory format with the number {number}, which there is not here")
    return kinds[number]


def _device(form: dict[str, Any]) -> str:
    return form["type"] + ("" if form.get("index") is None else f":{form['index']}")


class _Program:
    """Writes a program of PyTorch in this library's form."""

    def __init__(self, program: dict[str, Any]) -> None:
        self.program = program
        self.module = program["graph_module"]
        self.hints: dict[str, int] = {}

    def form(self) -> dict[str, Any]:
        """The whole program."""
        inputs = [_input(spec) for spec in self.module["signature"]["input_specs"]]
        graph = self.graph(self.module["graph"], inputs)
        calls = self.module["module_call_graph"]
        whole = calls[0]["signature"]
        return {
            "graph": graph, "signature": {"inputs": inputs, "outputs": [_output(spec) for spec in self.module["signature"]["output_specs"]]},
            "symbols": self.symbols(), "modules": self.modules(),
            "in_spec": json.dumps({**self.container(whole["in_spec"]), "names": whole.get("forward_arg_names"), "calls": {}}),
            "out_spec": json.dumps(self.container(whole["out_spec"])),
        }  # fmt: skip

    def symbols(self) -> list[dict[str, Any]]:
        symbols = []
        for name, limits in self.program["range_constraints"].items():
            upper = limits.get("max_val")
            lower = max(limits.get("min_val") or 0, 0)
            hint = self.hints.get(name, max(lower, 2))
            symbols.append({"name": name, "lower": lower, "upper": -1 if upper is None else upper, "hint": hint, "label": name, "place": "", "must": False})
        return symbols

    def modules(self) -> dict[str, str]:
        """The classes of the modules that calls came through, by their paths."""
        found = {"": "torch.nn.Module"}
        for node in self.module["graph"]["nodes"]:
            found.update(_stack(node["metadata"]))
        return found

    def graph(self, graph: dict[str, Any], inputs: list[dict[str, Any]] | None) -> dict[str, Any]:
        nodes: list[dict[str, Any]] = []
        graphs: list[dict[str, Any]] = []
        names = [_name(given) for given in graph["inputs"]]
        if inputs is not None:  # constants among the arguments have their names in the signature alone
            names = [spec["name"] for spec in inputs]
        for name in names:
            nodes.append({"op": "placeholder", "name": name, "target": name, "meta": {"val": self.meaning(graph, name)}})
        for node in graph["nodes"]:
            nodes += self.node(graph, node, graphs)
        results = [self.argument(given, graphs, nodes) for given in graph["outputs"]]
        vals = [self.meaning(graph, r["node"]) if "node" in r else {"kind": "none"} for r in results]
        nodes.append({"op": "output", "name": "output", "target": "output", "args": [{"tuple": results}], "meta": {"val": {"kind": "list", "items": vals}}})
        return {"nodes": nodes, "graphs": graphs}

    def node(self, graph: dict[str, Any], node: dict[str, Any], graphs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The nodes of a call: one, and others for the parts of what it gives."""
        target = _target(node["target"])
        before: list[dict[str, Any]] = []
        if target in _CHECKS:
            return []
        args, kwargs = [], []
        for given in node["inputs"]:
            form = self.argument(given["arg"], graphs, before)
            if given.get("kind", 1) == 2:
                kwargs.append({"name": given["name"], "value": form})
            else:
                args.append(form)
        outputs, meta = node["outputs"], _place(node["metadata"])
        names = [_name(x) for x in outputs]
        plain = len(outputs) == 1 and names[0] is not None and node.get("is_hop_single_tensor_return") is not False
        name = names[0] if plain else node.get("name") or f"{target.rpartition('::')[2].partition('.')[0]}_whole"
        call = {"op": "call_function", "name": name, "target": target, "args": args, "kwargs": kwargs, "meta": meta}
        if plain:
            meta["val"] = self.meaning(graph, name)
            return [*before, call]
        parts = outputs[0]["as_tensors"] if len(outputs) == 1 and "as_tensors" in outputs[0] else outputs
        nodes, vals = [*before, call], []
        for i, part in enumerate(parts):
            inner = part["name"] if "name" in part else _name(part)
            if inner is None:
                vals.append({"kind": "none"})
                continue
            vals.append(self.meaning(graph, inner))
            item = {"op": "call_function", "name": inner, "target": "operator::getitem", "args": [{"node": name}, {"int": i}], "meta": {**meta, "val": vals[-1]}}
            nodes.append(item)
        meta["val"] = {"kind": "list", "items": vals} if outputs else {"kind": "none"}
        return nodes

    def argument(self, form: dict[str, Any], graphs: list[dict[str, Any]], before: list[dict[str, Any]]) -> dict[str, Any]:
        ((kind, content),) = form.items()
        if kind in ("as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"):
            name = _name(form)
            return {"node": name} if name is not None else self.argument(content, graphs, before)
        if kind in _PLAIN:
            return _PLAIN[kind](content)
        if kind == "as_graph":
            graphs.append({"name": content["name"], "graph": self.graph(content["graph"], None)})
            before.append({"op": "get_attr", "name": content["name"], "target": content["name"]})
            return {"node": content["name"]}
        if kind in _LISTS:
            inner = _LISTS[kind]
            return {"list": [self.argument({inner: x} if inner else x, graphs, before) for x in content]}
        if kind == "as_name":
            return {"node": content}
        raise ValueError(f"the program has an argument of kind {kind}, which there is not here")

    def meaning(self, graph: dict[str, Any], name: str | None) -> dict[str, Any]:
        """What a value is, as the archive says it."""
        if name in graph["tensor_values"]:
            t = graph["tensor_values"][name]
            form = {"kind": "tensor", "dtype": _dtype(t["dtype"]), "device": _device(t["device"]), "sizes": [self.size(n) for n in t["sizes"]]}
            strides = [self.size(n) for n in t["strides"]]
            if None in form["sizes"]:
                return {"kind": "none"}
            if None not in strides:
                form["strides"] = strides
            return {**form, "grad": True} if t["requires_grad"] else form
        if name in graph["sym_int_values"]:
            size = self.size(graph["sym_int_values"][name])
            return {"kind": "none"} if size is None else {"kind": "int", "int": size}
        return {"kind": "none"}

    def size(self, form: dict[str, Any]) -> Any:
        """A size as a number or an expression, None where there is no form of it here."""
        if "as_int" in form:
            return form["as_int"]
        text, hint = form["as_expr"]["expr_str"], (form["as_expr"].get("hint") or {}).get("as_int")
        try:
            found = _expression(ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError):
            return None
        if isinstance(found, str) and hint is not None:
            self.hints.setdefault(found, hint)
        return found

    def container(self, text: str) -> Any:
        """The description of a container."""
        version, form = json.loads(text)
        if version != 1:
            raise ValueError(f"the program describes containers in version {version}")
        return self.spec(form)

    def spec(self, form: dict[str, Any]) -> Any:
        if form["type"] is None:
            return None
        children = [self.spec(c) for c in form["children_spec"]]
        name = form["type"]
        context = json.loads(form["context"]) if isinstance(form["context"], str) else form["context"]
        if name == "collections.namedtuple":
            fields = self.module.get("treespec_namedtuple_fields", {}).get(str(context)) or {}
            given = fields.get("field_names") if isinstance(fields, dict) else fields
            return {"type": "namedtuple", "name": str(context).rpartition(".")[2], "fields": given or [f"field_{i}" for i in range(len(children))], "children": children}
        return {"type": _CONTAINERS.get(name, name), "context": context, "children": children}


_PLAIN = {
    "as_none": lambda _: {"none": True}, "as_int": lambda x: {"int": x}, "as_float": lambda x: {"float": str(x)}, "as_bool": lambda x: {"bool": x},
    "as_string": lambda x: {"str": x}, "as_complex": lambda x: {"complex": [str(x["real"]), str(x["imag"])]},
    "as_scalar_type": lambda x: {"dtype": _dtype(x)}, "as_layout": lambda x: {"layout": _named(_LAYOUTS, x)},
    "as_memory_format": lambda x: {"memory_format": _named(_FORMATS, x)}, "as_device": lambda x: {"device": _device(x)},
}  # fmt: skip
# Lists, with the kind of their items; None where each says its own.
_LISTS = {
    "as_ints": "as_int", "as_floats": "as_float", "as_bools": "as_bool", "as_strings": "as_string", "as_tensors": "as_tensor", "as_int_lists": "as_ints",
    "as_sym_ints": None, "as_sym_bools": None, "as_sym_floats": None, "as_optional_tensors": None,
}  # fmt: skip


def _name(form: dict[str, Any]) -> str | None:
    """The name of a value that an argument is, None where it is a constant."""
    for content in form.values():
        if isinstance(content, dict):
            return content.get("name", content.get("as_name"))
    return None


def _target(text: str) -> str:
    """What a node calls, as this library names it."""
    if text in _FUNCTIONS:
        return _FUNCTIONS[text]
    if text.startswith("_operator."):
        return "operator::" + text.removeprefix("_operator.")
    parts = text.removeprefix("torch.ops.").split(".")
    if not text.startswith("torch.ops.") or len(parts) not in (2, 3):
        raise ValueError(f"the program calls {text}, which there is not here")
    overload = "" if len(parts) == 2 or parts[2] == "default" else "." + parts[2]
    target = f"{parts[0]}::{parts[1]}{overload}"
    if target not in _CHECKS and not _is_there(target):
        raise ValueError(f"the program calls {text}, which there is not here")
    return target


def _is_there(target: str) -> bool:
    from torchjit.export._program import target_of

    try:
        target_of(target)
    except (AttributeError, RuntimeError):
        return False
    return True


def _input(spec: dict[str, Any]) -> dict[str, Any]:
    ((kind, content),) = spec.items()
    if kind == "parameter":
        return {"kind": "PARAMETER", "name": content["arg"]["name"], "target": content["parameter_name"]}
    if kind == "buffer":
        return {"kind": "BUFFER", "name": content["arg"]["name"], "target": content["buffer_name"], "persistent": content["persistent"]}
    if kind == "tensor_constant":
        return {"kind": "CONSTANT_TENSOR", "name": content["arg"]["name"], "target": content["tensor_constant_name"]}
    if kind == "user_input":
        return {"kind": "USER_INPUT", "name": _name(content["arg"])}
    if kind == "constant_input":
        ((value_kind, value),) = content["value"].items()
        return {"kind": "USER_INPUT", "name": content["name"], "constant": _PLAIN[value_kind](value)}
    raise ValueError(f"the program has an input of kind {kind}, which there is not here")


def _output(spec: dict[str, Any]) -> dict[str, Any]:
    ((kind, content),) = spec.items()
    if kind == "user_output":
        return {"kind": "USER_OUTPUT", "name": _name(content["arg"]) or ""}
    if kind == "buffer_mutation":
        return {"kind": "BUFFER_MUTATION", "name": content["arg"]["name"], "target": content["buffer_name"]}
    if kind == "user_input_mutation":
        return {"kind": "USER_INPUT_MUTATION", "name": content["arg"]["name"], "target": content["user_input_name"]}
    raise ValueError(f"the program has an output of kind {kind}, which there is not here")


def _stack(metadata: dict[str, str]) -> dict[str, str]:
    """The classes of the modules that a call came through, by their paths, outermost first."""
    found = {}
    for entry in filter(None, metadata.get("nn_module_stack", "").split(";")):
        _, _, rest = entry.partition(",")
        path, _, cls = rest.rpartition(",")
        found[path] = cls
    return found


def _place(metadata: dict[str, str]) -> dict[str, Any]:
    frames = "".join(f"  {line}\n" if line.startswith("File") else f"{line}\n" for line in metadata.get("stack_trace", "").splitlines())
    scope = "/".join("__module" + ("." + path if path else "") for path in _stack(metadata))
    return {"stack": frames, "scope": scope}


def _expression(node: ast.expr) -> Any:
    """A size that sympy wrote, as Symbol('s0', positive=True) and operations on it. Raises ValueError for other operations."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("no expression of sizes")
    kind = node.func.id
    if kind == "Symbol" and isinstance(node.args[0], ast.Constant):
        return node.args[0].value
    if kind == "Integer":
        return ast.literal_eval(node.args[0])
    if kind not in _OPERATIONS:
        raise ValueError(f"there is no {kind} of sizes")
    operation, args = _OPERATIONS[kind], [_expression(x) for x in node.args]
    if operation in ("+", "*"):
        numbers = [x for x in args if isinstance(x, int)]
        args = [x for x in args if not isinstance(x, int)]
        args = [*numbers, *args] if operation == "*" else [*args, *numbers]
    folded = args[-1] if operation == "*" else args[0]
    for x in reversed(args[:-1]) if operation == "*" else args[1:]:
        folded = [operation, x, folded] if operation == "*" else [operation, folded, x]
    return folded


_OPERATIONS = {
    "Add": "+", "Mul": "*", "FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%", "Max": "max", "Min": "min",
}  # fmt: skip
