"""Compiled modules in packages: archives of TorchScript whose tensors are the package's and whose code stands once.

.data/ts_code/N/ has the pickles of the N-th module, .data/ts_code/code/ the code of all, .data/K.storage the memory.
"""

from __future__ import annotations

import io
import pickletools
import re
import zipfile
from typing import Any

from torchjit import _native
from torchjit._archive import add_record
from torchjit._unpickler import Rule, Unpickler
from torchjit.serialization import _Global


def is_scripted(obj: Any) -> bool:
    """Whether an object is a compiled module."""
    from torchjit.jit import ScriptModule

    return isinstance(obj, ScriptModule)


def reduce(module: Any, exporter: Any) -> Any:
    """Writes a compiled module into a package, and returns what a pickle has for it."""
    import torchjit
    from torchjit.package import package_exporter

    if package_exporter._gate_torchscript_serialization:
        raise Exception(
            "Serializing ScriptModules directly into a package is a beta feature. To use, set global "
            "`torch.package.package_exporter._gate_torchscript_serialization` to `False`."
        )
    number = str(exporter._scripted)
    exporter._scripted += 1
    content = io.BytesIO()
    torchjit.jit.save(module, content)
    content.seek(0)
    with zipfile.ZipFile(content) as archive:
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    code = {r: data for r, data in records.items() if r.startswith("code/")}
    known = exporter.__dict__.setdefault("_code", {})
    prefix = "__torch__."
    if any(known.get(r, data) != data for r, data in code.items() if r.endswith(".py")):  # classes of the same names
        prefix = f"__torch__.___torch_mangle_{number}."
        code = dict(_renamed(r, data, prefix) for r, data in code.items() if r.endswith(".py"))
    for record, data in code.items():
        if record not in known:
            known[record] = data
            exporter._write(f".data/ts_code/{record}", data)
    keys = {str(i): f"{exporter._keep(memory)}.storage" for i, memory in enumerate(_native.module_memory(module._c))}
    exporter._write(f".data/ts_code/{number}/data.pkl", with_keys(records["data.pkl"], keys, prefix))
    keys = {r.partition("/")[2]: f"{exporter._keep_bytes(records[r])}.storage" for r in records if r.startswith("constants/")}
    exporter._write(f".data/ts_code/{number}/constants.pkl", with_keys(records["constants.pkl"], keys, prefix))
    return _Global("torch.jit._script", "unpackage_script_module"), (number,)


# The classes of a program, without those of the library.
_CLASSES = re.compile(rb"__torch__\.(?!torch\.classes\.)")


def _renamed(record: str, data: bytes, prefix: str) -> tuple[str, bytes]:
    """A file of code whose classes have another prefix, and where it stands then."""
    folder = "code/" + prefix[:-1].replace(".", "/")
    rest = record[len("code/__torch__") :]  # "/torch/nn.py", ".py"
    return folder + rest, _CLASSES.sub(prefix.encode(), data)


def with_keys(data: bytes, keys: dict[str, str], prefix: str) -> bytes:
    """A pickle whose storages have other keys, and its classes a prefix. Strings are written out wherever they are read, as one may be a key and a name."""
    memo: dict[Any, Any] = {}
    strings: list[str] = []
    last: Any = None
    out = bytearray()
    positions = [*pickletools.genops(data)]
    arg: Any
    for i, (op, arg, at) in enumerate(positions):
        end = positions[i + 1][2] if i + 1 < len(positions) else len(data)
        text = arg if "UNICODE" in op.name else memo.get(arg) if op.name in ("BINGET", "LONG_BINGET") else None
        is_key = text in keys and strings[-1:] == ["storage class"]
        if op.name in ("BINPUT", "LONG_BINPUT") and last is not None:
            memo[arg] = last
            continue  # of a string: it is written out wherever it is read
        if text is not None:
            encoded = (keys[text] if is_key else text).encode("utf-8", "surrogatepass")
            out += b"X" + len(encoded).to_bytes(4, "little") + encoded
            strings.append(text)
        else:
            out += _CLASSES.sub(prefix.encode(), data[at:end]) if op.name == "GLOBAL" else data[at:end]
            if op.name == "GLOBAL" and arg.endswith("Storage"):
                strings.append("storage class")
            elif op.name in ("BINGET", "LONG_BINGET") and memo.get(("class", arg)):
                strings.append("storage class")
            elif op.name in ("BINPUT", "LONG_BINPUT"):
                if strings[-1:] == ["storage class"] and positions[i - 1][0].name == "GLOBAL":
                    memo["class", arg] = True
            else:
                strings.append("")
        last = text if "UNICODE" in op.name else None
    return bytes(out)


def unpackage_script_module(importer: Any, number: str) -> Any:
    """The compiled module of a number in a package. Its tensors share the memory of those that are loaded with it."""
    from torchjit.jit._module import RecursiveScriptModule

    content, reader = io.BytesIO(), importer._reader
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        data = reader.get_record(f".data/ts_code/{number}/data.pkl")
        constants = reader.get_record(f".data/ts_code/{number}/constants.pkl")
        keys = _keys_of(data)
        memory = [importer._memory(key.removesuffix(".storage")) for key in keys]
        add_record(archive, "archive/data.pkl", data)
        add_record(archive, "archive/constants.pkl", constants)
        for key in _keys_of(constants):
            add_record(archive, f"archive/constants/{key}", reader.get_record(f".data/{key}"))
        for record in importer._records:
            if record.startswith(".data/ts_code/code/"):
                add_record(archive, "archive/" + record[len(".data/ts_code/") :], reader.get_record(record))
        add_record(archive, "archive/version", reader.get_record(".data/version"))
    made, _ = _native.load_module_with_memory(content.getvalue(), keys, memory)
    return RecursiveScriptModule._wrap(made)


def _keys_of(data: bytes) -> list[str]:
    """The keys of the storages that a pickle names."""

    def note(saved: Any) -> None:
        found[saved[2]] = None

    def nothing(*args: Any) -> Any:
        return {}

    found: dict[str, None] = {}
    rule = Rule(None, call=nothing, new=nothing, build=nothing)
    Unpickler(io.BytesIO(data), lambda module, name: rule, note).load()
    return list(found)
