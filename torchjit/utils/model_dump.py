"""torch.utils.model_dump: what an archive of a compiled module has, as data that JSON can hold, and as a page."""

from __future__ import annotations

import argparse
import html
import io
import json
import os
import pathlib
import pprint
import re
import sys
import zipfile
from typing import Any

from torchjit.utils.show_pickle import DumpUnpickler, FakeClass, FakeObject

__all__ = ["get_storage_info", "hierarchical_pickle", "get_model_info", "get_inline_skeleton", "burn_in_info", "get_info_and_burn_skeleton", "main"]

DEFAULT_EXTRA_FILE_SIZE_LIMIT = 16 * 1024

# Where the data of an archive goes in the page, as the text of a script that is not run.
_PLACE = "BURNED_IN_MODEL_INFO_HERE"

_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>TorchScript archive</title>
<style>
body { font-family: sans-serif; margin: 1em; }
pre { margin: 0 0 0 1em; white-space: pre-wrap; }
details { margin-left: 1em; }
</style>
</head>
<body>
<h1 id="title">TorchScript archive</h1>
<div id="parts"></div>
<script type="application/json" id="info">BURNED_IN_MODEL_INFO_HERE</script>
<script>
function element(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}
function shown(name, data) {
  if (data === null || typeof data !== "object") return element("div", name + ": " + data);
  const made = document.createElement("details");
  made.append(element("summary", name));
  for (const key of Object.keys(data)) made.append(shown(key, data[key]));
  return made;
}
function code(files) {
  const made = document.createElement("details");
  made.append(element("summary", "code_files"));
  for (const name of Object.keys(files)) {
    const file = document.createElement("details");
    file.append(element("summary", name), element("pre", files[name].map(piece => piece[0]).join("")));
    made.append(file);
  }
  return made;
}
const model = JSON.parse(document.getElementById("info").textContent).model;
document.getElementById("title").textContent = model.title;
for (const part of Object.keys(model)) {
  if (part !== "interned_strings") document.getElementById("parts").append(part === "code_files" ? code(model[part]) : shown(part, model[part]));
}
</script>
</body>
</html>
"""


def get_storage_info(storage: Any) -> list[Any]:
    """The type, the key, the device and the number of elements of a memory that a pickle names."""
    assert isinstance(storage, FakeObject) and storage.module == "pers" and storage.name == "obj", f"not a storage: {storage!r}"
    (entry,) = storage.args
    kind, cls, key, device, count = entry
    assert kind == "storage" and isinstance(cls, FakeClass) and cls.name.endswith("Storage"), f"not a storage: {entry!r}"
    return [cls.name.removesuffix("Storage"), key, device, count]


def hierarchical_pickle(data: Any) -> Any:
    """What a pickle says, as read by DumpUnpickler, as numbers, strings, lists and dictionaries. Raises Exception for what it cannot show."""
    if isinstance(data, (bool, int, float, str, type(None))):
        return data
    if isinstance(data, list):
        return [hierarchical_pickle(x) for x in data]
    if isinstance(data, tuple):
        return {"__tuple_values__": hierarchical_pickle(list(data))}
    if isinstance(data, dict):
        return {"__is_dict__": True, "keys": hierarchical_pickle(list(data)), "values": hierarchical_pickle(list(data.values()))}
    if isinstance(data, FakeObject):
        return _object(data)
    raise Exception(f"Can't prepare data of type for JS: {type(data)}")


def _object(data: FakeObject) -> Any:
    """What an object of a class in an archive is."""
    name = f"{data.module}.{data.name}"
    if name.startswith(("__torch__.", "torch.jit.LoweredWrapper.", "torch.jit.LoweredModule.")):
        assert data.args == (), f"arguments of {name}: {data.args!r}"
        return {"__module_type__": name, "state": hierarchical_pickle(data.state)}
    if name == "torch._utils._rebuild_tensor_v2":
        storage, offset, size, stride, requires_grad, *_ = data.args
        return {"__tensor_v2__": [get_storage_info(storage), offset, list(size), list(stride), requires_grad]}
    if name == "torch._utils._rebuild_qtensor":
        storage, offset, size, stride, quantizer, requires_grad, *_ = data.args
        scheme, *parameters = quantizer
        return {"__qtensor__": [get_storage_info(storage), offset, list(size), list(stride), [scheme.name, *hierarchical_pickle(parameters)], requires_grad]}
    if name == "torch.jit._pickle.restore_type_tag":
        return hierarchical_pickle(data.args[0])
    if re.fullmatch(r"torch\.jit\._pickle\.build_[a-z]+list", name):
        return hierarchical_pickle(data.args[0])
    if name == "torch.device":
        return data.args[0]
    raise Exception(f"Can't prepare fake object of type for JS: {name}")


def _lists(data: Any) -> Any:
    """Data with lists in the place of what makes them."""
    if isinstance(data, FakeObject):
        return list(data.args[0])
    return tuple(map(_lists, data)) if isinstance(data, (tuple, list)) else data


def get_model_info(path_or_file: Any, title: str | None = None, extra_file_size_limit: int = DEFAULT_EXTRA_FILE_SIZE_LIMIT) -> dict[str, Any]:
    """What an archive, a path or a file, has: its parts, the module with its tensors, the code with the places that it is from, further files.

    Raises Exception for a format that is not known.
    """
    if isinstance(path_or_file, (str, os.PathLike)):
        title = title or str(path_or_file)
        file_size = pathlib.Path(path_or_file).stat().st_size
    else:
        file_size = path_or_file.seek(0, io.SEEK_END)
        path_or_file.seek(0)
        title = title or "buffer"
    with zipfile.ZipFile(path_or_file) as archive:
        return {"model": _ModelInfo(archive, extra_file_size_limit).gathered(title, file_size)}


class _ModelInfo:
    def __init__(self, archive: zipfile.ZipFile, limit: int) -> None:
        self.archive, self.limit = archive, limit
        self.names = archive.namelist()
        self.prefix = self.names[0].partition("/")[0]
        self.strings: dict[str, int] = {}

    def gathered(self, title: str, file_size: int) -> dict[str, Any]:
        """All of it."""
        version = int(self.archive.read(self.prefix + "/version")) if self.prefix + "/version" in self.names else None
        data = self._pickle("data.pkl")
        constants = self._pickle("constants.pkl") if self.prefix + "/constants.pkl" in self.names else None
        code = {name: self._code(name) for name in self.names if name.endswith(".py")}
        return {
            "title": title, "file_size": file_size, "version": version, "zip_files": [self._file(info) for info in self.archive.infolist()],
            "interned_strings": list(self.strings), "code_files": code, "model_data": data, "constants": constants,
            "extra_files_jsons": self._extra_files(), "extra_pickles": self._texts(),
        }  # fmt: skip

    def _file(self, info: zipfile.ZipInfo) -> dict[str, Any]:
        return {"filename": info.filename, "compression": info.compress_type, "compressed_size": info.compress_size, "file_size": info.file_size}

    def _pickle(self, name: str) -> Any:
        with self.archive.open(f"{self.prefix}/{name}") as f:
            return hierarchical_pickle(DumpUnpickler(f, catch_invalid_utf8=True).load())

    def _intern(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def _code(self, name: str) -> list[Any]:
        """The text of a file in pieces, each with the place that it is from: a file, a line, a text and a range in that."""
        text = self.archive.read(name).decode()
        origins = self.archive.read(name + ".debug_pkl") if name + ".debug_pkl" in self.names else None
        if origins is None:
            return []
        entries = _lists(DumpUnpickler(io.BytesIO(origins)).load())
        table = None
        if isinstance(entries, tuple) and len(entries) == 3 and entries[0] == "FORMAT_WITH_STRING_TABLE":
            _, table, entries = entries
        starts = [entry[0] for entry in entries] + [len(text)]
        pieces = []
        for i, (start, place, *_) in enumerate(entries):
            source, first, last = place
            lines, file, line = source
            if table is not None:
                lines = "".join(table[n] for n in lines)
                file = table[file]
            file_number = self._intern(file or "")
            pieces.append([text[start : starts[i + 1]], file_number, line, self._intern(lines), first, last])
        return pieces

    def _extra_files(self) -> dict[str, Any]:
        found = {}
        for info in self.archive.infolist():
            if info.filename.startswith(self.prefix + "/extra/") and info.filename.endswith(".json") and info.file_size <= self.limit:
                try:
                    found[info.filename] = json.loads(self.archive.read(info.filename))
                except ValueError:
                    found[info.filename] = "INVALID JSON"
        return found

    def _texts(self) -> dict[str, str]:
        """The pickles as texts."""
        found = {}
        for info in self.archive.infolist():
            if not info.filename.endswith(".pkl") or "/extra/" in info.filename and info.file_size > self.limit:
                continue
            with self.archive.open(info.filename) as f:
                found[info.filename] = pprint.pformat(DumpUnpickler(f, catch_invalid_utf8=True).load()) + "\n"
        return found


def get_inline_skeleton() -> str:
    """A page without data, in which burn_in_info puts those of an archive. It needs no other file."""
    return _PAGE


def burn_in_info(skeleton: str, info: dict[str, Any]) -> str:
    """The page with the data of an archive, as get_model_info gives them."""
    text = json.dumps(info, sort_keys=True).replace("<", "\\u003c")
    return skeleton.replace(_PLACE, text, 1).replace("<title>TorchScript archive", "<title>" + html.escape(str(info["model"]["title"])), 1)


def get_info_and_burn_skeleton(path_or_bytesio: Any, **kwargs: Any) -> str:
    """The page of an archive; the other arguments are those of get_model_info."""
    return burn_in_info(get_inline_skeleton(), get_model_info(path_or_bytesio, **kwargs))


def main(argv: list[str], *, stdout: Any = None) -> None:
    """Prints what an archive has: model_dump --style=json FILE, or --style=html. Raises Exception without a style."""
    parser = argparse.ArgumentParser(prog="model_dump")
    parser.add_argument("--style", choices=["json", "html"])
    parser.add_argument("--title")
    parser.add_argument("model")
    given = parser.parse_args(argv[1:])
    out = stdout or sys.stdout
    if given.style is None:
        raise Exception("Invalid style")
    info = get_model_info(given.model, title=given.title)
    out.write(json.dumps(info, sort_keys=True) + "\n" if given.style == "json" else burn_in_info(get_inline_skeleton(), info))


if __name__ == "__main__":
    main(sys.argv)
