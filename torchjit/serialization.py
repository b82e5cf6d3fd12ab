"""torch.save and torch.load: files of tensors, state dictionaries and plain Python data, as PyTorch writes them.

Loading calls nothing that the file names but what makes tensors, modules of torch.nn and plain containers;
files that name anything else are refused, unless weights_only=False says that they are trusted.
"""

from __future__ import annotations

import builtins
import collections
import importlib
import io
import os
import pickle
import struct
import sys
import types
import warnings
import zipfile
from typing import Any

from torchjit import _native
from torchjit._sparse import of_parts, parts_of
from torchjit._tensor import Tensor
from torchjit._types import _LAYOUTS, Size, device, dtype, dtypes, layout, qscheme, qschemes, strided
from torchjit.storage import _NAMES, DTYPE_OF_STORAGE, TypedStorage, storage_of

DEFAULT_PROTOCOL = 2


class _Global:
    """Something that a file names and calls: pickled as a global of that module and name."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.module}.{self.name} is only written")


_REBUILD = _Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_PARAMETER = _Global("torch._utils", "_rebuild_parameter")
_REBUILD_QUANTIZED = _Global("torch._utils", "_rebuild_qtensor")
_REBUILD_SPARSE = _Global("torch._utils", "_rebuild_sparse_tensor")
_REBUILD_COMPRESSED = _Global("torch._utils", "_rebuild_sparse_csr_tensor")
_LAYOUT = {kind.name: _Global("torch.serialization", "_get_layout") for kind in _LAYOUTS.values()}
_DTYPE = {name: _Global("torch", name) for name in dtypes}
_QSCHEME = {name: _Global("torch", name) for name in qschemes}
_STORAGE = {name: _Global("torch", prefix + "Storage") for name, prefix in _NAMES.items()}


class _Pickler(pickle._Pickler):  # type: ignore[name-defined,misc]
    """Writes tensors as PyTorch does; their memory is kept in storages, by key."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[str, Tensor] = {}
        self._keys: dict[int, str] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, _Global):
            self.write(b"c" + obj.module.encode() + b"\n" + obj.name.encode() + b"\n")
        elif isinstance(obj, dtype):
            self.save(_DTYPE[obj.name])
        elif isinstance(obj, qscheme):
            self.save(_QSCHEME[obj._name])
        elif isinstance(obj, layout):
            self.save_reduce(_LAYOUT[obj.name], (repr(obj),))
        elif isinstance(obj, (type, types.FunctionType)) and (obj.__module__ or "").split(".")[0] == "torchjit" and "<" not in obj.__qualname__:
            self.save(_Global("torch" + obj.__module__[len("torchjit") :], obj.__qualname__))
        elif isinstance(obj, _native.Function):
            self._save_function(obj)
        else:
            super().save(obj, save_persistent_id)

    def _save_function(self, f: Any) -> None:
        from torchjit import _pickled_functions

        owner, name = _pickled_functions.place_of(f)
        if not isinstance(owner, type):
            self.save(_Global(owner.__name__, name))
            return
        if owner.__name__ == "_TensorBase":
            owner = _Global("torch._C", "_TensorBase")
        self.save_reduce(_Global("__builtin__", "getattr"), (owner, name))

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, TypedStorage):
            return None
        memory = obj._bytes
        key = self._keys.setdefault(memory.data_ptr() if memory.numel() else -len(self._keys) - 1, str(len(self._keys)))
        self.storages.setdefault(key, memory)
        return ("storage", _STORAGE[obj.dtype.name], key, "cpu", len(obj))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self._reduce_tensor(obj)
        if isinstance(obj, Size):
            return _Global("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            return _Global("torch", "device"), ((obj.type,) if obj.index is None else (obj.type, obj.index))
        return NotImplemented

    def _reduce_tensor(self, t: Tensor) -> Any:
        from torchjit.nn.parameter import Parameter

        hooks: Any = collections.OrderedDict()
        if isinstance(t, Parameter):
            return _REBUILD_PARAMETER, (t.detach(), t.requires_grad, hooks)
        if t.layout is not strided:
            return _REBUILD_SPARSE if t.is_sparse else _REBUILD_COMPRESSED, parts_of(t)
        place = (storage_of(t), t.storage_offset(), tuple(t.shape), tuple(t.stride()))
        if t.is_quantized:
            return _REBUILD_QUANTIZED, (*place, _quantizer_of(t), t.requires_grad, hooks)
        return _REBUILD, (*place, t.requires_grad, hooks)


# The pure pickler of 3.11 asks reducer_override only where the class has no entry of its own.
for _kind in (Tensor, Size):
    _Pickler.dispatch.pop(_kind, None)


def _quantizer_of(t: Tensor) -> tuple[Any, ...]:
    if t.qscheme() is qschemes["per_tensor_affine"]:
        return _QSCHEME["per_tensor_affine"], t.q_scale(), t.q_zero_point()
    scheme = next(found for name, found in _QSCHEME.items() if qschemes[name] is t.qscheme())
    return scheme, t.q_per_channel_scales(), t.q_per_channel_zero_points(), t.q_per_channel_axis()


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Writes tensors and what holds them to a path or a file, so that torch.load of PyTorch reads it too.

    Tensors that share memory still do after loading. Writing to a path replaces the file only when all is written.
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("the format from before PyTorch 1.6 is read, but not written")
    data = io.BytesIO()
    pickler = _Pickler(data, pickle_protocol)
    pickler.dump(obj)
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        name = os.path.splitext(os.path.basename(path))[0] or "archive"
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            with builtins.open(temporary, "wb") as file:
                _write(file, name, data.getvalue(), pickler.storages)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    else:
        if not hasattr(f, "write"):
            raise AttributeError(f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, but found {type(f).__name__}")
        _write(f, "archive", data.getvalue(), pickler.storages)


def _write(file: Any, name: str, data: bytes, storages: dict[str, Tensor]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        add_record(archive, f"{name}/data.pkl", data)
        add_record(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, memory in storages.items():
            add_record(archive, f"{name}/data/{key}", bytes(memoryview(memory.contiguous())) if memory.numel() else b"")
        add_record(archive, f"{name}/version", b"3\n")


def add_record(archive: zipfile.ZipFile, path: str, content: bytes) -> None:
    """Writes a record of an archive. Its content begins at a multiple of 64 bytes, so that it can be used where it is mapped."""
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    start = archive.fp.tell() + 30 + len(info.filename.encode()) + 4  # type: ignore[union-attr]
    padding = -start % 64
    info.extra = struct.pack("<HH", 0x4246, padding) + b"Z" * padding
    archive.writestr(info, content)


# What the format of files before version 1.6 began with, and sizes that it noted.
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
STORAGE_KEY_SEPARATOR = ","
INT_SIZE, LONG_SIZE, SHORT_SIZE = (struct.calcsize("=" + kind) for kind in "ilh")


class SourceChangeWarning(Warning):
    """The source of a class is not what it was when a file was written."""


# ---- loading ----

_PLAIN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): collections.defaultdict,
    ("collections", "Counter"): collections.Counter,
    ("builtins", "set"): set, ("builtins", "frozenset"): frozenset, ("builtins", "slice"): slice, ("builtins", "complex"): complex,
    ("builtins", "range"): range, ("builtins", "bytearray"): bytearray, ("builtins", "list"): list, ("builtins", "dict"): dict,
    ("builtins", "tuple"): tuple, ("builtins", "int"): int, ("builtins", "float"): float, ("builtins", "bool"): bool, ("builtins", "str"): str,
    ("__builtin__", "set"): set, ("__builtin__", "complex"): complex, ("__builtin__", "slice"): slice,
}  # fmt: skip

_safe: dict[tuple[str, str], Any] = {}


def add_safe_globals(classes: list[Any]) -> None:
    """Lets torch.load make instances of these classes."""
    for cls in classes:
        _safe[cls.__module__, cls.__qualname__] = cls


class _StorageType:
    """What the pickled name of a storage class stands for."""

    def __init__(self, dtype: dtype) -> None:
        self.dtype = dtype


class _Unpickler(pickle._Unpickler):  # type: ignore[name-defined,misc]
    def __init__(self, file: Any, read: Any, trusted: bool, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding=encoding)
        self.read_storage, self.trusted = read, trusted

    def persistent_load(self, saved: Any) -> Any:
        if not isinstance(saved, tuple) or not saved or saved[0] not in ("storage", b"storage"):
            raise RuntimeError(f"Unknown typename for persistent_load, expected 'storage' but got '{saved[0] if isinstance(saved, tuple) and saved else saved}'")
        return self.read_storage(*saved[1:])

    def find_class(self, module: str, name: str) -> Any:
        found = _PLAIN.get((module, name)) or _safe.get((module, name))
        if found is None and module.split(".")[0] == "torch":
            found = _torch_global(module, name)
        if found is None:
            if not self.trusted:
                raise pickle.UnpicklingError(
                    f"the file asks for {module}.{name}, which loading does not call: it could do anything. Use "
                    f"torch.serialization.add_safe_globals([{name}]) if the class is harmless, or load(..., weights_only=False) if you trust the file"
                )
            found = _attribute("torchjit" + module[len("torch") :], name) if module.split(".")[0] == "torch" else super().find_class(module, name)
        return found


def _attribute(module: str, name: str) -> Any:
    """What a module of this library has by a name with points. A ModuleNotFoundError or an AttributeError says what is missing."""
    package, _, last = module.rpartition(".")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as e:
        if e.name != module:
            raise
        found = getattr(importlib.import_module(package), last)  # torch._C._nn is an object
    for part in name.split("."):
        found = getattr(found, part)
    return found


# Functions that states of schedulers have.
_HARMLESS = {("torch.optim.lr_scheduler", f"OneCycleLR._annealing_{kind}") for kind in ("cos", "linear")}


def _torch_global(module: str, name: str) -> Any:
    """What a file may name of torch."""
    if module == "torch._utils":
        return {
            "_rebuild_tensor": _rebuild_tensor, "_rebuild_tensor_v2": _rebuild_tensor, "_rebuild_parameter": _rebuild_parameter,
            "_rebuild_qtensor": _rebuild_qtensor, "_rebuild_sparse_tensor": of_parts, "_rebuild_sparse_csr_tensor": of_parts,
        }.get(name)  # fmt: skip
    if (module, name) == ("torch.serialization", "_get_layout"):
        return _get_layout
    if name in DTYPE_OF_STORAGE and module in ("torch", "torch.storage"):
        return _StorageType(DTYPE_OF_STORAGE[name])
    if module == "torch.storage" and name == "UntypedStorage" or module == "torch" and name == "UntypedStorage":
        return _StorageType(dtypes["uint8"])
    if module == "torch" and name in dtypes:
        return dtypes[name]
    if module == "torch":
        return {"Size": Size, "device": device, "Tensor": Tensor, **qschemes}.get(name)
    if module in ("torch._tensor", "torch.tensor") and name == "_rebuild_from_type_v2":
        return _rebuild_from_type
    if module.startswith(("torch.nn.", "torch.ao.", "torch.optim.")) or module in ("torch.nn", "torch.optim"):
        found: Any = importlib.import_module("torchjit" + module[len("torch") :])
        for part in name.split("."):
            found = getattr(found, part, None)
        harmless = isinstance(found, type) and found.__module__.startswith("torchjit.") or (module, name) in _HARMLESS
        return found if harmless else None
    return None


def _rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False, hooks: Any = None, metadata: Any = None) -> Tensor:
    made = storage._tensor().as_strided(tuple(size), tuple(stride), offset).detach()
    return made.requires_grad_() if requires_grad else made


def _rebuild_parameter(data: Any, requires_grad: bool, hooks: Any) -> Any:
    from torchjit.nn.parameter import Parameter

    return Parameter(data, requires_grad)


def _rebuild_qtensor(storage: Any, offset: int, size: Any, stride: Any, quantizer: Any, requires_grad: bool, hooks: Any) -> Tensor:
    import torchjit as torch

    integers = TypedStorage(dtype={"quint8": dtypes["uint8"], "qint8": dtypes["int8"], "qint32": dtypes["int32"]}[storage.dtype.name], _bytes=storage._bytes)
    raw = integers._tensor().as_strided(tuple(size), tuple(stride), offset)
    if quantizer[0] is qschemes["per_tensor_affine"]:
        return torch._make_per_tensor_quantized_tensor(raw, *quantizer[1:3])
    if quantizer[0] not in (qschemes["per_channel_affine"], qschemes["per_channel_affine_float_qparams"]):
        raise NotImplementedError(f"a tensor quantized by {quantizer[0]} cannot be loaded by this version of torchjit")
    return torch._make_per_channel_quantized_tensor(raw, *quantizer[1:4])


def _get_layout(name: str) -> layout:
    """The layout of a name such as "torch.sparse_coo"."""
    found = next((kind for kind in _LAYOUTS.values() if repr(kind) == name), None)
    if found is None:
        raise RuntimeError(f"expected the name of a layout, but the file has {name!r}")
    return found


def _rebuild_from_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    made = function(*args)
    if isinstance(state, dict):
        made.__dict__.update(state)
    return made


def _checked_dtype(kind: Any) -> dtype:
    if not isinstance(kind, _StorageType):
        raise RuntimeError(f"expected the class of a storage, but the file has {kind!r}")
    return kind.dtype


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, **pickle_load_args: Any) -> Any:
    """Reads what torch.save wrote, of PyTorch or of this library, from a path or a file.

    map_location: only the CPU is there. weights_only=False calls whatever the file names: use it only for files
    that you trust.
    """
    encoding = pickle_load_args.get("encoding", "utf-8")
    if isinstance(f, (str, os.PathLike)):
        with builtins.open(f, "rb") as file:
            return _load(file, not weights_only, encoding)
    if not hasattr(f, "read") or not hasattr(f, "seek"):
        raise AttributeError("You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.")
    return _load(f, not weights_only, encoding)


def _load(file: Any, trusted: bool, encoding: str) -> Any:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if head == b"PK\x03\x04":
        return _load_zip(file, trusted, encoding)
    return _load_legacy(file, trusted, encoding)


def _load_zip(file: Any, trusted: bool, encoding: str) -> Any:
    start = file.tell()
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as e:
        raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {e}") from e
    with archive:
        names = {n.split("/", 1)[-1] for n in archive.namelist()}
        if "constants.pkl" in names:
            from torchjit.jit import load as jit_load

            warnings.warn(
                "'torch.load' received a zip file that looks like a TorchScript archive dispatching to 'torch.jit.load' "
                "(call 'torch.jit.load' directly to silence this warning)",
                stacklevel=4,
            )
            file.seek(start)
            return jit_load(file)
        pickles = [n for n in archive.namelist() if n.split("/", 1)[-1] == "data.pkl"]
        if not pickles:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        prefix = pickles[0][: -len("data.pkl")]
        loaded: dict[str, TypedStorage] = {}

        def read(kind: Any, key: str, location: str, count: int) -> TypedStorage:
            if key not in loaded:
                wanted = _checked_dtype(kind)
                try:
                    content = archive.read(f"{prefix}data/{key}")
                except (KeyError, zipfile.BadZipFile, OSError) as e:
                    raise RuntimeError(f"PytorchStreamReader failed reading file data/{key}: {e}") from e
                loaded[key] = _storage(wanted, content, count, f"data/{key}")
            return loaded[key]

        return _Unpickler(io.BytesIO(archive.read(pickles[0])), read, trusted, encoding).load()


def _storage(kind: dtype, content: bytes, count: int, where: str) -> TypedStorage:
    if len(content) < count * kind.itemsize:
        raise RuntimeError(f"{where} has {len(content)} bytes, but {count} elements of {kind} need {count * kind.itemsize}")
    return TypedStorage(dtype=kind, _bytes=_native.tensor_from_buffer(bytearray(content[: count * kind.itemsize])))


def _load_legacy(file: Any, trusted: bool, encoding: str) -> Any:
    """The format from before PyTorch 1.6: pickles one after the other, then the memory."""

    def nothing(*args: Any) -> Any:
        raise RuntimeError("the head of the file names a storage")

    magic = _Unpickler(file, nothing, False).load()
    if magic != MAGIC_NUMBER:
        raise pickle.UnpicklingError("the file is no archive of PyTorch's")
    protocol = _Unpickler(file, nothing, False).load()
    if protocol != 1001:
        raise pickle.UnpicklingError(f"expected version 1001 of the format, but found {protocol}")
    _Unpickler(file, nothing, False).load()  # the sizes of numbers on the machine that wrote it
    loaded: dict[str, TypedStorage] = {}

    def read(kind: Any, key: str, location: str, count: int, view: Any = None) -> TypedStorage:
        if view is not None:
            raise NotImplementedError("a storage that is part of another is not read by this version of torchjit")
        if key not in loaded:
            wanted = _checked_dtype(kind)
            import torchjit as torch

            loaded[key] = TypedStorage(dtype=wanted, _bytes=_native.tensor_storage(torch.empty(max(count, 0), dtype=wanted)))
        return loaded[key]

    result = _Unpickler(file, read, trusted, encoding).load()
    for key in _Unpickler(file, nothing, False).load():
        if key not in loaded:
            raise RuntimeError(f"the file has the memory of a storage {key} that nothing uses")
        (count,) = struct.unpack("<q", file.read(8))
        storage = loaded[key]
        if count != len(storage):
            raise RuntimeError(f"the memory of storage {key} has {count} elements, not {len(storage)}")
        content = file.read(storage.nbytes())
        storage._bytes.copy_(_storage(storage.dtype, content, count, f"storage {key}")._bytes)
    return result
