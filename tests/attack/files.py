"""Damaged and hostile files of every format that is read: bytes, records, opcodes and numbers of good files are changed.

What comes out of a file is used: printed, computed with, saved. A file that runs code, changes a class, or touches a file is a finding, as is an
error of a class that the format does not promise. `python -m tests.attack.files SEED CASE PATH` writes the file of a case;
`python -m tests.attack.files race SAVES` has 4 threads save to one path, in every format, while 4 others load it.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copyreg
import functools
import io
import json
import operator
import os
import pathlib
import pickle
import pickletools
import random
import re
import struct
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import nn

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SLOW = 10.0  # seconds that a small file may take
GROWTH = 600 << 20  # bytes that the process may grow by in a case
RACE = 3000  # cases of which one is a race of threads, which takes as long as 500 others


# ---- good files ----


class Program(nn.Module):
    """A program with attributes of many types."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)
        self.names: dict[str, int] = {"a": 1, "b": 2}
        self.numbers = [1.5, -2.0]
        self.pair = (1, "text")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.linear(x))
        if "a" in self.names:
            y = y * self.numbers[0]
        return torch.relu(y)


def values() -> Any:
    base = torch.arange(12.0)
    return {
        "a": base[2:5], "b": base.view(3, 4).t(), "p": nn.Parameter(torch.ones(2, 2)), "h": torch.ones(3, dtype=torch.bfloat16), "e": torch.empty(0, 3),
        "q": torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 3, torch.quint8), "c": torch.ones(2, dtype=torch.complex64),
        "qc": torch.quantize_per_channel(torch.ones(2, 2), torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8),
        "s": torch.eye(3).to_sparse(), "r": torch.eye(3).to_sparse_csr(), "d": collections.defaultdict(list, {1: [2]}), "set": {1, (2, "x")}, "size": torch.Size([1, 2]),
        "o": collections.OrderedDict(k=(None, True, 1 << 70, -5, 2.5, "t", b"b", slice(1, 2), 1j)), "dtype": torch.int64, "device": torch.device("cpu"),
    }  # fmt: skip


def written(save: Callable[[Any], Any]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def good_files() -> dict[str, list[bytes]]:
    torch.manual_seed(0)
    program = torch.jit.script(Program().eval())
    quantized = torch.save(values(), saved := io.BytesIO()) or saved.getvalue()
    dim = torch.export.Dim("n", min=2, max=64)
    exported = torch.export.export(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), (torch.ones(2, 4),), dynamic_shapes=({0: dim},))

    def package(file: Any) -> None:
        with torch.package.PackageExporter(file) as e:
            e.save_pickle("p", "x.pkl", {"w": torch.arange(6.0).view(2, 3), "l": [1, "t"]})

    return {
        "save": [
            quantized, written(lambda f: torch.save(nn.Sequential(nn.Linear(2, 3), nn.LSTM(3, 2), nn.Softmax(1)), f)),
            written(lambda f: torch.save(values(), f, pickle_protocol=4)), (DATA / "saved_state.pt").read_bytes(),
        ],
        "legacy": [(DATA / "saved_legacy.pt").read_bytes()],
        "jit": [written(lambda f: torch.jit.save(program, f)), written(lambda f: torch.jit.save(torch.jit.trace(nn.Conv2d(1, 2, 3), torch.ones(1, 1, 4, 4)), f))],
        "lite": [program._save_to_buffer_for_lite_interpreter(), program._save_to_buffer_for_lite_interpreter(_save_mobile_debug_info=True)],
        "flat": [written(functools.partial(torch.jit.save_jit_module_to_flatbuffer, m, _extra_files={"notes": "text"})) for m in (program, torch.jit.script(nn.LSTM(2, 3)))],
        "pt2": [written(lambda f: torch.export.save(exported, f, extra_files={"notes": "text"})), (DATA / "torch2.pt2").read_bytes()],
        "safetensors": [torch.safetensors.save({"a": torch.ones(2, 3), "b": torch.zeros(3, dtype=torch.int64), "c": torch.empty(0, 2)}, {"k": "v"})],
        "package": [written(package)],
    }  # fmt: skip


# ---- changes ----

EDGES = [0, 1, -1, 2, 5, 127, 128, 255, 256, 1 << 15, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 40, 1 << 60, 1 << 61, 1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 64]
NAMES = [
    ("posix", "system"), ("os", "system"), ("builtins", "print"), ("builtins", "eval"), ("builtins", "getattr"), ("builtins", "range"), ("builtins", "bytearray"), ("builtins", "list"),
    ("builtins", "set"), ("builtins", "complex"), ("builtins", "object"), ("collections", "OrderedDict"), ("collections", "defaultdict"), ("collections", "Counter"),
    ("torch", "Tensor"), ("torch", "FloatStorage"), ("torch", "ComplexDoubleStorage"), ("torch", "QInt8Storage"), ("torch", "Size"), ("torch", "device"), ("torch", "float32"),
    ("torch", "per_channel_affine"), ("torch", "load"), ("torch", "ops"), ("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_parameter"),
    ("torch._utils", "_rebuild_qtensor"), ("torch._utils", "_rebuild_sparse_tensor"), ("torch._tensor", "_rebuild_from_type_v2"), ("torch.nn.parameter", "Parameter"),
    ("torch.serialization", "_get_layout"), ("torch.nn.modules.linear", "Linear"), ("torch.nn.modules.container", "Sequential"), ("torch.nn.modules.module", "Module"),
    ("torch.nn.modules.linear", "Linear.forward"), ("torch.nn.functional", "torch.hub"), ("torch.fx.graph_module", "reduce_graph_module"), ("torch.fx.graph_module", "GraphModule"),
    ("torch.jit", "CompilationUnit"), ("torch.package.package_importer", "PackageImporter"), ("torch.optim.adam", "Adam"), ("torch.utils.data.datapipes.datapipe", "_IterDataPipeSerializationWrapper"),
    ("torch.jit._pickle", "build_intlist"), ("torch.jit._pickle", "restore_type_tag"), ("__torch__", "Program"), ("_codecs", "encode"), ("torch.optim.lr_scheduler", "OneCycleLR._annealing_cos"),
]  # fmt: skip
TEXTS = ["", "0", "1", "storage", "cpu", "cuda:0", "meta", "x=print('RAN')", "touch ran", "__class__", "__len__", "__dict__", "../x", "weight", "torch.sparse_coo", "aten::mul.Tensor", "é\ud800",
         "lambda", "a" * 300, "List[int]", "Dict[str, Tensor]", "__torch__.Program", "forward", "float32", "\0", "\n"]  # fmt: skip


def text_op(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def int_op(n: int) -> bytes:
    return b"K" + bytes([n]) if 0 <= n < 256 else b"\x8a" + bytes([(n.bit_length() + 8) // 8]) + n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)


def name_op(module: str, name: str) -> bytes:
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


LENGTHS = [1] * 6 + [1 << 20] * 6 + [40 << 20]  # zeros behind a record: many take long to compress
PLAIN_OPS = [bytes([c]) for c in b"N\x88\x89}])(0122tlaesuQRb\x85\x86\x87\x81\x92\x94\x8f\x90\x91."]
STORAGE = b"(" + text_op("storage") + name_op("torch", "FloatStorage") + text_op("0") + text_op("cpu") + b"K\x04tQ"
PIECES = [
    STORAGE, name_op("torch._utils", "_rebuild_tensor_v2") + b"(" + STORAGE + b"K\x00K\x04\x85K\x01\x85\x89NtR", b"q\x00", b"h\x00", b"G" + struct.pack(">d", 1.5), b"C\x02ab",
    b"}" + text_op("training") + b"\x88s", name_op("torch.nn.modules.linear", "Linear") + b")\x81", name_op("collections", "OrderedDict") + b")R", b"\x86R", b"}b", b"N}\x86b", b")\x81",
]  # fmt: skip


def random_op(rng: random.Random) -> bytes:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(PLAIN_OPS)
    if kind == 1:
        return int_op(rng.choice(EDGES))
    if kind == 2:
        return text_op(rng.choice(TEXTS))
    if kind == 3:
        return name_op(*rng.choice(NAMES))
    if kind == 4:
        return rng.choice(PIECES)
    return bytes([rng.choice(b"qhKC\x8c")]) + bytes([rng.randrange(4)])


@functools.lru_cache(maxsize=100)
def operations(data: bytes) -> tuple[bytes, ...]:
    """The opcodes of a pickle with their arguments, and what follows it."""
    found, last = [], 0
    places = [at for _, _, at in pickletools.genops(data)][1:]
    for at in places:
        found.append(data[last:at])
        last = at
    return *found, data[last : last + 1], data[last + 1 :]


def change_pickle(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """One of the opcodes is changed."""
    try:
        ops = list(operations(data))
    except Exception:
        return change_bytes(data, rng)
    at = rng.randrange(len(ops))
    kind = rng.choice(["number", "name", "text", "random", "insert", "delete", "double", "swap", "cut"])
    op = ops[at][:1]
    if kind in ("number", "name", "text"):  # of one like it
        like = {"number": b"KMJ\x8aG\x88\x89", "name": b"c", "text": b"X\x8c"}[kind]
        places = [i for i, x in enumerate(ops) if x[:1] and x[:1] in like]
        if not places:
            return change_bytes(data, rng)
        at = rng.choice(places)
        op = ops[at][:1]
        ops[at] = int_op(rng.choice(EDGES)) if kind == "number" else name_op(*rng.choice(NAMES)) if kind == "name" else text_op(rng.choice(TEXTS))
    elif kind == "random":
        ops[at] = random_op(rng)
    elif kind == "insert":
        ops.insert(at, random_op(rng))
    elif kind == "delete":
        del ops[at]
    elif kind == "double":
        ops[at] *= rng.choice([2, 3, 100]) if len(ops[at]) < 1 << 20 else 2  # zeros behind the end are many already
    elif kind == "swap":
        other = rng.randrange(len(ops))
        ops[at], ops[other] = ops[other], ops[at]
    else:
        del ops[at:]
    return b"".join(ops), f"{kind} of opcode {at} ({op!r})"


def change_bytes(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    if not data:
        return bytes([rng.randrange(256)]), "a byte added"
    out, at = bytearray(data), rng.randrange(len(data))
    kind = rng.choice(["bit", "byte", "bytes", "cut", "delete", "insert", "double", "number"])
    if kind == "bit":
        out[at] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        out[at] = rng.randrange(256)
    elif kind == "bytes":
        for _ in range(rng.randrange(2, 20)):
            out[rng.randrange(len(out))] = rng.randrange(256)
    elif kind == "cut":
        del out[at:]
    elif kind == "delete":
        del out[at : at + rng.randrange(1, 50)]
    elif kind == "insert":
        out[at:at] = rng.randbytes(rng.randrange(1, 50))
    elif kind == "double":
        out[at:at] = out[at : at + rng.randrange(1, 200)]
    else:
        form = rng.choice(["<H", "<I", "<Q"])
        number = rng.choice(EDGES) & ((1 << (8 * struct.calcsize(form))) - 1)
        out[at : at + struct.calcsize(form)] = struct.pack(form, number)
    return bytes(out), f"{kind} at {at}"


def change_words(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Some of the numbers of a FlatBuffer, which are aligned, are others: edges, those of another place, or near ones; or texts are."""
    out, said = bytearray(data), []
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        size = rng.choice([2, 4, 4, 4, 8])
        at, mask = rng.randrange(len(out) // size) * size, (1 << 8 * size) - 1
        old = int.from_bytes(out[at : at + size], "little")
        other = rng.randrange(len(out) // size) * size
        new = rng.choice([rng.choice(EDGES), int.from_bytes(out[other : other + size], "little"), old + rng.randrange(-9, 10), old + 4 * rng.randrange(-9, 10), len(out) - at]) & mask
        out[at : at + size] = new.to_bytes(size, "little")
        said.append(f"{size} bytes at {at} are {new}, not {old}")
    return bytes(out), "; ".join(said)


def change_json(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    text = data.decode("utf-8", "replace")
    pattern = rng.choice([r"-?\d+", r'"[^"\\]*"', r"\[[^\[\]]*\]"])
    places = list(re.finditer(pattern, text))
    if not places:
        return change_bytes(data, rng)
    place = rng.choice(places)
    new = rng.choice([str(rng.choice(EDGES)), json.dumps(rng.choice(TEXTS)), rng.choice(places)[0], "null", "[]", "{}", "true", "1.5", '["x"]', "[" * rng.choice([3, 5000])])
    return (text[: place.start()] + new + text[place.end() :]).encode("utf-8", "replace"), f"{place[0][:30]} at {place.start()} is {new[:30]}"


def change_code(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """A word of source text is another."""
    words = list(re.finditer(rb"[\w.]+", data))
    if not words:
        return change_bytes(data, rng)
    place, new = rng.choice(words), rng.choice([rng.choice(words)[0], str(rng.choice(EDGES)).encode(), b"print", b"self", b"Tensor", b"List[int]", b"None"])
    return data[: place.start()] + new + data[place.end() :], f"{place[0]!r} at {place.start()} is {new!r}"


def change_record(name: str, data: bytes, rng: random.Random) -> tuple[bytes, str]:
    if rng.random() < 0.15:
        return change_bytes(data, rng)
    if name.endswith(".pkl"):
        return change_pickle(data, rng)
    if name.endswith(".json"):
        return change_json(data, rng)
    if name.endswith(".py"):
        return change_code(data, rng)
    return change_bytes(data, rng)


@functools.lru_cache(maxsize=100)
def records_of(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return [(n, z.read(n)) for n in z.namelist()]


def change_archive(data: bytes, rng: random.Random, allowed: Callable[[str], bool]) -> tuple[bytes, str]:
    """Records of an archive are changed, and written with right checksums, or the archive's own bytes are."""
    if rng.random() < 0.15:
        return change_bytes(data, rng)
    records = list(records_of(data))
    said, method = [], zipfile.ZIP_STORED
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.choice([i for i, (n, _) in enumerate(records) if allowed(n)])
        name, content = records[at]
        kind = rng.choice(["content"] * 12 + ["drop", "name", "twice", "other", "packed", "long", "byteorder"])
        text = ""
        if kind == "content":
            content, text = change_record(name, content, rng)
            records[at] = name, content
        elif kind == "drop" and len(records) > 1:
            del records[at]
        elif kind == "name":
            records[at] = rng.choice(["../x", "/etc/x", "a\\b", "archive/../../x", name + "/", name.upper(), "x/" + name, rng.choice(records)[0]]), content
        elif kind == "twice":
            records.append((name, content))
        elif kind == "other":
            records[at] = name, rng.choice(records)[1]
        elif kind == "packed":
            method = zipfile.ZIP_DEFLATED
        elif kind == "long":
            records[at], method = (name, content + bytes(rng.choice(LENGTHS))), zipfile.ZIP_DEFLATED
        elif kind == "byteorder":
            records.append((name.partition("/")[0] + "/byteorder", rng.choice([b"big", b"little", b"x", b""])))
        said.append(f"{kind} of {name} {text}".strip())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as z, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in records:
            z.writestr(zipfile.ZipInfo(name), content, method, 1)
    out = bytearray(file.getvalue())
    if rng.random() < 0.1:  # sizes of the directory
        place = bytes(out).rfind(b"PK\x01\x02")
        struct.pack_into("<I", out, place + rng.choice([16, 20, 24, 42]), rng.choice(EDGES) & 0xFFFFFFFF)
        said.append("a size in the directory")
    return bytes(out), "; ".join(said)


def change(format: str, data: bytes, rng: random.Random) -> tuple[bytes, str]:
    if format == "safetensors":
        length = struct.unpack_from("<Q", data)[0]
        if rng.random() < 0.2:
            return change_bytes(data, rng)
        header, text = change_json(data[8 : 8 + length], rng)
        length = len(header) if rng.random() < 0.9 else rng.choice(EDGES) & ((1 << 64) - 1)
        return struct.pack("<Q", length) + header + data[8 + struct.unpack_from("<Q", data)[0] :], text
    if format == "legacy":
        return change_pickles(data, rng) if rng.random() < 0.7 else change_bytes(data, rng)
    if format == "flat":
        how = rng.random()
        return change_words(data, rng) if how < 0.7 else change_code(data, rng) if how < 0.85 else change_bytes(data, rng)
    if format == "package":  # its pickles and sources are trusted
        return change_archive(data, rng, lambda name: "/.data/" in name)
    return change_archive(data, rng, lambda name: True)


def change_pickles(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """One of the pickles that a file of the old format begins with."""
    *parts, rest = legacy_parts(data)
    at = rng.randrange(5) if rng.random() < 0.3 else 3
    parts[at], text = change_pickle(parts[at], rng)
    return b"".join(parts) + rest, f"pickle {at}: {text}"


@functools.lru_cache
def legacy_parts(data: bytes) -> tuple[bytes, ...]:
    """The five pickles of a file of the old format, and what follows them."""
    file, parts = io.BytesIO(data), []
    for _ in range(5):
        start = file.tell()
        for _ in pickletools.genops(file):
            pass
        parts.append(data[start : file.tell()])
    return *parts, data[file.tell() :]


def random_pickle(rng: random.Random) -> bytes:
    stream = b"\x80" + bytes([rng.choice([2, 2, 2, 4])]) + b"".join(random_op(rng) for _ in range(rng.randrange(1, 14)))
    return stream + rng.choice([b".", b".", b".", b"0.", b"t.", b"R.", b"b.", b""])


def random_save(rng: random.Random) -> bytes:
    """A file of torch.save with a pickle that was made opcode by opcode."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name, content in {"data.pkl": random_pickle(rng), "data/0": struct.pack("<4f", 1, 2, 3, 4), "version": b"3\n"}.items():
            z.writestr("a/" + name, content)
    return file.getvalue()


# ---- loading, and using what comes out ----

LITE = torch.jit.mobile


def load_lite(data: bytes) -> Any:
    found = [LITE._load_for_lite_interpreter(io.BytesIO(data))]
    for question in (LITE._get_model_bytecode_version, LITE._get_model_ops_and_info, LITE._get_mobile_model_contained_types, LITE._get_model_extra_files):
        with contextlib.suppress(RuntimeError, TypeError, ValueError):
            question(io.BytesIO(data))
    return found


def load_flat(data: bytes) -> Any:
    with contextlib.suppress(RuntimeError, TypeError, ValueError):
        torch.jit._serialization.get_flatbuffer_module_info(io.BytesIO(data))
    return torch.jit.jit_module_from_flatbuffer(io.BytesIO(data))


LOAD: dict[str, Callable[[bytes], Any]] = {
    "save": lambda data: torch.load(io.BytesIO(data)), "legacy": lambda data: torch.load(io.BytesIO(data)), "pickle": lambda data: torch.load(io.BytesIO(data)),
    "jit": lambda data: torch.jit.load(io.BytesIO(data)), "lite": load_lite, "flat": load_flat, "pt2": lambda data: torch.export.load(io.BytesIO(data)), "safetensors": torch.safetensors.load,
    "package": lambda data: torch.package.PackageImporter(io.BytesIO(data)).load_pickle("p", "x.pkl"),
}  # fmt: skip
REFUSES: dict[str, tuple[type[BaseException], ...]] = {
    "save": (RuntimeError, pickle.UnpicklingError, EOFError), "pt2": (RuntimeError, ValueError), "safetensors": (RuntimeError,), "package": (RuntimeError, ImportError, pickle.UnpicklingError, EOFError),
    "jit": (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError),
}  # fmt: skip
REFUSES["legacy"] = REFUSES["pickle"] = REFUSES["save"]
REFUSES["lite"] = REFUSES["flat"] = REFUSES["jit"]


def use(x: Any, left: list[int], depth: int = 0, saved: bool = False) -> None:
    """Prints, computes and saves what a file gave; `saved` tells that it was saved as a part of something."""
    left[0] -= 1
    if left[0] < 0 or depth > 20:
        return
    if isinstance(x, torch.Tensor):
        repr(x)
        if x.numel() < 1 << 22:
            for f in (lambda: x + 1, lambda: x.clone(), lambda: x.sum(), lambda: x.dequantize() if x.is_quantized else x.to_dense()):
                check_text(f)
            if not saved:
                is_saved(x)
        return
    if isinstance(x, torch.jit.ScriptModule):
        check_text(lambda: [x.code, str(x.graph), x.save_to_buffer(), x(torch.ones(2, 4))])
        x = dict(x.state_dict())
    elif isinstance(x, torch.export.ExportedProgram):
        check_text(lambda: [str(x), x.module()(torch.ones(2, 4)), torch.export.save(x, io.BytesIO())])
        x = dict(x.state_dict)
    elif isinstance(x, nn.Module):
        check_text(lambda: repr(x))
        if not is_large(x):  # a module computes with the sizes that it has
            check_text(lambda: x(torch.ones(2, 2)))
        saved = saved or is_saved(x)
        x = list(vars(x).values())
    elif depth == 0:
        check_text(lambda: repr(x))
        saved = is_saved(x)
    if isinstance(x, dict):
        x = [*x.keys(), *x.values()]
    if isinstance(x, (list, tuple, set, frozenset)):
        for item in list(x)[:100]:
            use(item, left, depth + 1, saved)


def is_large(x: nn.Module) -> bool:
    """Whether a module, which may be a damaged one, says that it has a part of a large size."""
    with contextlib.suppress(Exception):
        return any(abs(n) > LARGEST for m in x.modules() for n in vars(m).values() if isinstance(n, int))
    return False


class InternalError(Exception):
    pass


def check_text(call: Callable[[], Any]) -> bool:
    """Calls, and lets errors pass that are no faults of the library. It reports whether there was none."""
    try:
        call()
    except Exception as e:
        if "internal error" in str(e):
            raise InternalError(str(e)) from e
        return False
    return True


def is_saved(x: Any) -> bool:
    """Saves x, and reports whether that went well."""
    return check_text(lambda: torch.save(x, io.BytesIO()))


LARGEST = 1 << 16  # size of a module that is called

WATCHED = (torch.Tensor, torch.nn.Parameter, nn.Module, nn.Linear, nn.Sequential, nn.LSTM, torch.dtype, torch.device, torch.Size, torch.jit.ScriptModule, torch.fx.GraphModule)
EVENTS = ("os.", "subprocess.", "shutil.", "socket.", "ctypes.", "urllib.", "pty.", "signal.", "sys.set", "sys._", "import", "exec", "compile", "open", "code.__new__", "function.__new__")
HARMLESS = ("os.listdir", "os.scandir", "sys._getframe")


class Canary:
    """Notes what the process does while files are loaded: programs that it starts, files, imports, code, prints, classes that change."""

    def __init__(self) -> None:
        self.on, self.code, self.seen = False, False, []
        self.print = builtins.print
        sys.addaudithook(self._hook)
        for c in WATCHED:
            copyreg._slotnames(c)  # which pickle adds to a class

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on or not event.startswith(EVENTS) or event in HARMLESS:
            return
        if event in ("exec", "compile", "code.__new__", "function.__new__") and self.code:
            return
        if event == "import" and str(args[0]).startswith(("torchjit", "encodings")) or event == "open" and isinstance(args[1], str) and args[1] in ("r", "rb"):
            return
        if event in ("exec", "compile", "open") and any(str(a).startswith(os.path.dirname(torch.__file__)) or "torchjit" in str(a) for a in args[:2]):
            return  # modules of the library that are imported late
        self.seen.append(f"{event} {str(args)[:100]}")

    def know_classes(self) -> None:
        """Notes the attributes that the classes have."""
        self.known = [(c, [*vars(c)], [*vars(c).values()]) for c in WATCHED]

    def are_classes_changed(self) -> bool:
        """Whether a class has other names, or other objects by them, even equal ones."""
        return any([*vars(c)] != names or not all(map(operator.is_, vars(c).values(), objects)) for c, names, objects in self.known)

    @contextlib.contextmanager
    def watch(self, code: bool) -> Any:
        self.seen, self.code, self.on = [], code, True
        builtins.print = lambda *args, **kwargs: self.seen.append(f"print {str(args)[:100]}")
        try:
            yield
        finally:
            self.on = False
            builtins.print = self.print


def resident() -> int:
    return int(os.pread(statm(os.getpid()), 100, 0).split()[1]) * os.sysconf("SC_PAGESIZE")


@functools.lru_cache
def statm(process: int) -> int:
    """The open file that tells how much memory a process has."""
    return os.open(f"/proc/{process}/statm", os.O_RDONLY)


class Part:
    def __init__(self, seed: int, folder: str) -> None:
        self.seed, self.folder = seed, folder
        os.chdir(folder)
        warnings.simplefilter("ignore")
        self.files = good_files()
        self.canary = Canary()
        for format, files in self.files.items():  # the good ones load, and import what is imported late
            for data in files:
                use(LOAD[format](data), [1000])
        self.canary.know_classes()

    def make(self, i: int) -> tuple[str, bytes, str]:
        """The format, the file, and how it was made."""
        rng = random.Random(f"{self.seed}:{i}")
        format = rng.choice(["save"] * 4 + ["legacy", "jit", "jit", "jit", "lite", "flat", "pt2", "pt2", "safetensors", "package", "pickle", "pickle", "pickle"])
        if format == "pickle":
            data = random_save(rng)
            return format, data, "made opcode by opcode"
        number = rng.randrange(len(self.files[format]))
        data, text = change(format, self.files[format][number], rng)
        return format, data, f"file {number}: {text}"

    def describe(self, i: int) -> str:
        if i % RACE == RACE - 1:
            return f"race({self.folder!r}, 10)"
        format, data, text = self.make(i)
        return f"{format}, {len(data)} bytes, {text}; python -m tests.attack.files {self.seed} {i} PATH writes it"

    def run(self, i: int) -> str | None:
        if i % RACE == RACE - 1:
            return race(self.folder, 10)
        format, data, _ = self.make(i)
        start, memory, found = time.monotonic(), resident(), None
        with self.canary.watch(code=format == "pt2"):
            try:
                found = LOAD[format](data)
            except RecursionError as e:
                return f"wrong error: {format}: RecursionError: {e}"
            except REFUSES[format] as e:
                if "internal error" in str(e):
                    return f"internal error: {format}: {e}"
            except Exception as e:
                return f"wrong error: {format}: {type(e).__name__}: {e}"
        if self.canary.seen:
            return f"{format}: the file did: {self.canary.seen[0]}"
        if self.canary.are_classes_changed():
            return f"{format}: the file changed a class"
        if time.monotonic() - start > SLOW:
            return f"{format}: loading took {time.monotonic() - start:.1f} s"
        if resident() - memory > GROWTH:
            return f"{format}: loading took {resident() - memory >> 20} MB"
        with contextlib.suppress(RecursionError):
            try:
                use(found, [200])
            except InternalError as e:
                return f"internal error: {format}, when used: {e}"
        if os.listdir(self.folder):
            return f"{format}: the file made {os.listdir(self.folder)}"
        return None


# ---- threads that save and load one path ----


def savers() -> dict[str, tuple[Callable[[str], Any], Callable[[str], Any]]]:
    weights, program = {"w": torch.arange(5000.0)}, torch.jit.script(nn.Linear(40, 40))
    exported = torch.export.export(nn.Linear(4, 4), (torch.ones(1, 4),))
    return {
        "save": (lambda p: torch.save(weights, p), torch.load), "jit": (program.save, torch.jit.load), "pt2": (lambda p: torch.export.save(exported, p), torch.export.load),
        "safetensors": (lambda p: torch.safetensors.save_file(weights, p), torch.safetensors.load_file),
        "lite": (program._save_for_lite_interpreter, LITE._load_for_lite_interpreter),
        "flat": (lambda p: torch.jit.save_jit_module_to_flatbuffer(program, p), torch.jit.jit_module_from_flatbuffer),
    }  # fmt: skip


def race(folder: str, saves: int) -> str | None:
    """4 threads save to one path, saves times each, and 4 others load it."""
    for format, (save, load) in savers().items():
        path, errors = os.path.join(folder, "raced"), []
        save(path)

        def repeat(call: Callable[[str], Any], path: str = path, errors: list[Any] = errors) -> None:
            try:
                for _ in range(saves):
                    call(path)
            except Exception as e:
                errors.append(e)

        threads = [threading.Thread(target=repeat, args=(call,)) for call in [save] * 4 + [load] * 4]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        os.unlink(path)
        if errors:
            return f"wrong result: {format} saved and loaded by threads: {type(errors[0]).__name__}: {errors[0]}"
        if os.listdir(folder):
            return f"wrong result: {format} saved by threads left {os.listdir(folder)}"
    return None


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        if sys.argv[1] == "race":
            print(race(place, int(sys.argv[2]) // 4))
        else:
            target = os.path.abspath(sys.argv[3])
            made_format, made_data, made_text = Part(int(sys.argv[1]), place).make(int(sys.argv[2]))
            pathlib.Path(target).write_bytes(made_data)
            print(made_format, made_text)
        os.chdir("/")
