"""torch.save and torch.load: files of tensors, state dictionaries and plain Python data, as PyTorch writes them.

Loading calls nothing that the file names but what makes tensors, modules of torch.nn and plain containers: the names are a closed list.
Files that name anything else are refused, unless weights_only=False says that they are trusted.
"""

from __future__ import annotations

import array
import builtins
import collections
import contextlib
import functools
import importlib
import io
import math
import os
import pickle
import sys
import tempfile
import types
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _lazy, _native, _progress
from torchjit._advice import advised
from torchjit._archive import Archive, ReplacedFile, add_record
from torchjit._opened_files import _check_seekable as _check_seekable
from torchjit._opened_files import _is_compressed_file as _is_compressed_file
from torchjit._opened_files import _is_path as _is_path
from torchjit._opened_files import _is_torchscript_zip as _is_torchscript_zip
from torchjit._opened_files import _is_zipfile as _is_zipfile
from torchjit._opened_files import _open_buffer_reader as _open_buffer_reader
from torchjit._opened_files import _open_buffer_writer as _open_buffer_writer
from torchjit._opened_files import _open_file as _open_file
from torchjit._opened_files import _open_file_like as _open_file_like
from torchjit._opened_files import _open_zipfile_reader as _open_zipfile_reader
from torchjit._opened_files import _open_zipfile_writer as _open_zipfile_writer
from torchjit._opened_files import _open_zipfile_writer_buffer as _open_zipfile_writer_buffer
from torchjit._opened_files import _open_zipfile_writer_file as _open_zipfile_writer_file
from torchjit._opened_files import _opener as _opener
from torchjit._opened_files import _should_read_directly as _should_read_directly
from torchjit._sparse import of_parts, parts_of
from torchjit._tensor import Tensor
from torchjit._types import _LAYOUTS, Size, check_location, device, dtype, dtypes, layout, qscheme, qschemes, strided
from torchjit._unpickler import PLAIN, Rule, Unpickler
from torchjit.storage import _NAMES, DTYPE_OF_STORAGE, TypedStorage, _StorageBase, storage_of
from torchjit.storage import _get_dtype_from_pickle_storage_type as _get_dtype_from_pickle_storage_type

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


_PythonPickler: Any = pickle._Pickler  # of which typeshed knows little


class _Pickler(_PythonPickler):
    """Writes tensors as PyTorch does; their memory is kept in storages, by key."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[str, Tensor] = {}
        self._keys: dict[tuple[str, int], str] = {}

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
        if not isinstance(obj, _StorageBase):
            return None
        memory = obj._bytes
        where = str(memory.device)
        key = self._keys.setdefault((where, memory.data_ptr() if memory.numel() else -len(self._keys) - 1), str(len(self._keys)))
        self.storages.setdefault(key, memory)
        return ("storage", _STORAGE[obj.dtype.name], key, where, len(obj))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self._reduce_tensor(obj)
        if isinstance(obj, Size):
            return _Global("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            return _Global("torch", "device"), ((obj.type,) if obj.index is None else (obj.type, obj.index))
        return NotImplemented

    def _reduce_tensor(self, t: Tensor) -> Any:
        from torchjit._namedtensor_internals import check_serializing_named_tensor
        from torchjit.nn.parameter import Parameter

        check_serializing_named_tensor(t)
        hooks: Any = collections.OrderedDict()
        if isinstance(t, Parameter):
            return _REBUILD_PARAMETER, (t.detach(), t.requires_grad, hooks)
        if t.layout is not strided:
            return _REBUILD_SPARSE if t.is_sparse else _REBUILD_COMPRESSED, parts_of(t)
        t = t.resolve_conj().resolve_neg()
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

    Tensors that share memory still do after loading. Writing to a path replaces the file only when all is written: whoever reads it, in other
    threads too, finds the old file or the new one. Raises RuntimeError where a path cannot be written.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2)}, file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.])}
    """
    if not _use_new_zipfile_serialization:
        with _open_file_like(f, "wb") as opened:
            _legacy_save(obj, opened, pickle_module, pickle_protocol)
        return
    data = io.BytesIO()
    pickler = _Pickler(data, pickle_protocol)
    pickler.dump(obj)
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        name = os.path.splitext(os.path.basename(path))[0] or "archive"
        total = sum(memory.numel() for memory in pickler.storages.values())
        with ReplacedFile(path) as file, _progress.of_parts(f"saving {path}", total) as written:
            _write(file, name, data.getvalue(), pickler.storages, written)
    else:
        if not hasattr(f, "write"):
            raise AttributeError(f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, but found {type(f).__name__}")
        _write(f, "archive", data.getvalue(), pickler.storages, _progress.nothing)


def _save(obj: Any, zip_file: Any, pickle_module: Any, pickle_protocol: int) -> None:
    """Writes the records of an object to a PyTorchFileWriter."""
    data = io.BytesIO()
    pickler = _Pickler(data, pickle_protocol)
    pickler.dump(obj)
    for name, content in [("data.pkl", data.getvalue()), *((f"data/{key}", _content(memory)) for key, memory in pickler.storages.items())]:
        zip_file.write_record(name, content, len(content))


def _legacy_save(obj: Any, f: Any, pickle_module: Any, pickle_protocol: int) -> None:
    """Writes an object in the format from before PyTorch 1.6: pickles one after the other, then the memory of the storages."""
    sizes = {"short": SHORT_SIZE, "int": INT_SIZE, "long": LONG_SIZE}
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(part, f, protocol=pickle_protocol)
    pickler = _LegacyPickler(f, pickle_protocol)
    pickler.dump(obj)
    keys = sorted(pickler.storages)
    pickle.dump(keys, f, protocol=pickle_protocol)
    for key in keys:
        content = _content(pickler.storages[key])
        f.write((len(content) // pickler.item_sizes[key]).to_bytes(8, "little"))
        f.write(content)


class _LegacyPickler(_Pickler):
    """Writes tensors as PyTorch did before version 1.6: a storage has the type of the first tensor that shows it."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.item_sizes: dict[str, int] = {}

    def persistent_id(self, obj: Any) -> Any:
        found = super().persistent_id(obj)
        if found is None:
            return None
        key = found[2]
        if self.item_sizes.setdefault(key, obj.element_size()) != obj.element_size():
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return (*found, None)


def _content(memory: Tensor) -> bytes:
    """The bytes of a storage."""
    return bytes(memoryview(memory.cpu().contiguous())) if memory.numel() else b""


def _write(file: Any, name: str, data: bytes, storages: dict[str, Tensor], written: Callable[[int], None]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        add_record(archive, f"{name}/data.pkl", data)
        add_record(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, memory in storages.items():
            add_record(archive, f"{name}/data/{key}", _content(memory))
            written(memory.numel())
        add_record(archive, f"{name}/version", b"3\n")


# What the format of files before version 1.6 began with, and sizes that it noted.
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
STORAGE_KEY_SEPARATOR = ","
INT_SIZE, LONG_SIZE, SHORT_SIZE = 4, 4, 2


class SourceChangeWarning(Warning):
    """The source of a class is not what it was when a file was written."""


# ---- loading ----

_safe: dict[tuple[str, str], Any] = {}


def add_safe_globals(classes: list[Any]) -> None:
    """Lets torch.load call these classes and functions with what files give them, and set the states of instances."""
    for cls in classes:
        _safe[cls.__module__, cls.__qualname__] = cls


class _StorageType:
    """What the pickled name of a storage class stands for."""

    def __init__(self, dtype: dtype) -> None:
        self.dtype = dtype


class _Reference:
    """Reads what persistent references stand for: storages, by read(storage type, key, location, number of elements, ...)."""

    def __init__(self, read: Any) -> None:
        self.read = read

    def __call__(self, saved: Any) -> Any:
        if not isinstance(saved, tuple) or not saved or saved[0] not in ("storage", b"storage"):
            raise RuntimeError(
                f"Unknown typename for persistent_load, expected 'storage' but got '{saved[0] if isinstance(saved, tuple) and saved else type(saved).__name__}'"
            )
        if not 5 <= len(saved) <= 6:
            raise RuntimeError(f"the reference to a storage has {len(saved)} parts, expected 5 or 6")
        kind, key, location, count, *view = saved[1:]
        if not isinstance(kind, _StorageType):
            raise RuntimeError("expected the class of a storage, but the file has another name")
        if type(key) not in (str, int) or type(count) is not int or count < 0 or type(location) not in (str, bytes):
            raise RuntimeError("the reference to a storage is damaged: its key or its location is no text, or its number of elements no number")
        if view and view[0] is not None:
            raise NotImplementedError("a storage that is part of another is not read by this version of torchjit")
        return self.read(kind.dtype, key, count, location if isinstance(location, str) else location.decode("latin1"))


class _Unpickler(pickle._Unpickler):
    """Reads pickles that are trusted: what they name is imported and called."""

    def __init__(self, file: Any, read: Any, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding=encoding)
        self._reference = _Reference(read)

    def persistent_load(self, saved: Any) -> Any:
        return self._reference(saved)

    def find_class(self, module: str, name: str) -> Any:
        rule = _rule(module, name)
        if rule is not None and (rule.call is not None or isinstance(rule.value, _StorageType)):
            return rule.value if isinstance(rule.value, (type, _StorageType)) else rule.call
        if module.split(".")[0] == "torch":
            return _attribute("torchjit" + module[len("torch") :], name)
        return super().find_class(module, name)


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


def _unpickle(file: Any, read: Any, trusted: bool, encoding: str) -> Any:
    """The value of a pickle of a file. What is read of one that is not trusted has the names of _rule and of add_safe_globals alone."""
    if trusted:
        return _Unpickler(file, read, encoding).load()
    return Unpickler(file, _rule_of_file, _Reference(read), encoding).load()


def _rule_of_file(module: str, name: str) -> Rule:
    rule = _rule(module, name)
    if rule is None and (module, name) in _safe:
        found = _safe[module, name]
        rule = Rule(found, call=found, new=functools.partial(found.__new__, found) if isinstance(found, type) else None, build=_set_state)
    if rule is None:
        raise pickle.UnpicklingError(
            f"the file asks for {module}.{name}, which loading does not call: it could do anything. Use "
            f"torch.serialization.add_safe_globals([{name}]) if the class is harmless, or load(..., weights_only=False) if you trust the file"
        )
    return rule


def _set_state(target: Any, state: Any) -> None:
    """Sets the state of an instance of a class that add_safe_globals has named."""
    restore = getattr(target, "__setstate__", None)
    if restore is not None:
        restore(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    target.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(target, name, value)


# ---- what files may name of torch ----

# Functions that states of schedulers have.
_VALUES = {("torch.optim.lr_scheduler", f"OneCycleLR._annealing_{kind}") for kind in ("cos", "linear")}


def _rule(module: str, name: str) -> Rule | None:
    """What a file may do with a name; None for names that are on no list. Nothing is imported."""
    rule = PLAIN.get((module, name)) or _TORCH.get((module, name))
    if rule is not None:
        return rule
    if module.startswith("torch.nn.modules."):
        return _module_rule(module, name)
    if (module, name) in _VALUES:
        return Rule(_attribute("torchjit" + module[len("torch") :], name))
    return None


def _module_rule(module: str, name: str) -> Rule | None:
    """Instances of the classes of torch.nn.modules are made without being initialized, and given their attributes."""
    from torchjit.nn import Module

    found = vars(sys.modules.get("torchjit" + module[len("torch") :], builtins)).get(name)
    if not isinstance(found, type) or not issubclass(found, Module):
        return None
    if (found.__module__, found.__qualname__) != ("torchjit" + module[len("torch") :], name):
        return None
    plain = (found.__new__, found.__reduce__, found.__reduce_ex__) == (object.__new__, object.__reduce__, object.__reduce_ex__)
    if not plain or not found.__setstate__.__module__.startswith("torchjit.nn.modules."):
        return None

    def new() -> Any:
        return object.__new__(found)

    def build(target: Any, state: Any) -> None:
        if type(state) is not dict or not all(type(key) is str for key in state):
            raise pickle.UnpicklingError("the state of a module is no dictionary of names")
        target.__setstate__(state)

    return Rule(found, new=new, build=build)


def _checked_ints(what: str, x: Any) -> tuple[int, ...]:
    if not isinstance(x, (tuple, list)) or not all(type(n) is int and n >= 0 for n in x):
        raise RuntimeError(f"the {what} of a tensor is no tuple of integers that are not negative")
    return tuple(x)


def _view(storage: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    """The tensor over a storage. All numbers are checked before: RuntimeError where they do not fit each other, or reach outside of the storage."""
    if not isinstance(storage, _StorageBase):
        raise RuntimeError("a tensor of the file has no storage")
    sizes, strides = _checked_ints("size", size), _checked_ints("stride", stride)
    (start,) = _checked_ints("offset", (offset,))
    if len(sizes) != len(strides):
        raise RuntimeError(f"a tensor of the file has {len(sizes)} dimensions and {len(strides)} strides")
    if len(sizes) > _MAX_DIMENSIONS:
        raise RuntimeError(f"a tensor of the file has {len(sizes)} dimensions; at most {_MAX_DIMENSIONS} are supported")
    if math.prod(sizes) * storage.dtype.itemsize >= 1 << 63 or math.prod(max(n, 1) for n in sizes) >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    end = 0 if 0 in sizes else start + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    if end > len(storage) or start > len(storage) or any(s >= 1 << 62 for s in strides):
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {start}, and itemsize {storage.dtype.itemsize} requiring a storage size "
            f"of {end * storage.dtype.itemsize} are out of bounds for storage of size {storage.nbytes()}"
        )
    return storage._tensor().as_strided(sizes, strides, start)


_MAX_DIMENSIONS = 64


def _rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False, hooks: Any = None, metadata: Any = None) -> Tensor:
    if isinstance(storage, _StorageBase) and storage.dtype.name in _INTEGERS:
        raise RuntimeError(f"a tensor of the file has elements of {storage.dtype} and no quantization")
    made = _view(storage, offset, size, stride).detach()
    if isinstance(metadata, dict):  # PyTorch 2 writes what a view shows of the numbers in its memory
        if metadata.get("conj") is True:
            made = made.conj()
        if metadata.get("neg") is True:
            made = made._neg_view()
    return made.requires_grad_() if requires_grad is True else made


def _rebuild_parameter(data: Any, requires_grad: bool, hooks: Any) -> Any:
    from torchjit.nn.parameter import Parameter

    if not isinstance(data, Tensor):
        raise RuntimeError("a parameter of the file is made of what is no tensor")
    return Parameter(data, requires_grad is True)


def _rebuild_qtensor(storage: Any, offset: int, size: Any, stride: Any, quantizer: Any, requires_grad: bool, hooks: Any, metadata: Any = None) -> Tensor:
    import torchjit as torch

    kind = storage.dtype.name if isinstance(storage, _StorageBase) else ""
    if kind not in _INTEGERS or not isinstance(quantizer, tuple) or len(quantizer) < 3:
        raise RuntimeError("the quantization of a tensor of the file is damaged")
    raw = _view(TypedStorage._over(dtypes[_INTEGERS[kind]], storage._bytes), offset, size, stride)
    if quantizer[0] is qschemes["per_tensor_affine"]:
        scale, zero = quantizer[1:3]
        if type(scale) is not float or type(zero) is not int:
            raise RuntimeError("the quantization of a tensor of the file is damaged")
        return torch._make_per_tensor_quantized_tensor(raw, scale, zero)
    if quantizer[0] not in (qschemes["per_channel_affine"], qschemes["per_channel_affine_float_qparams"]):
        raise NotImplementedError(f"a tensor quantized by {quantizer[0]} cannot be loaded by this version of torchjit")
    scales, zeros, axis = quantizer[1:4] if len(quantizer) > 3 else (None, None, None)
    if not isinstance(scales, Tensor) or not isinstance(zeros, Tensor) or type(axis) is not int or not 0 <= axis < raw.dim():
        raise RuntimeError("the quantization of a tensor of the file is damaged")
    if scales.dim() != 1 or scales.shape != zeros.shape or len(scales) != raw.shape[axis]:
        raise RuntimeError(f"a tensor of shape {list(raw.shape)} is quantized along dimension {axis} with {list(scales.shape)} scales and {list(zeros.shape)} zero points")
    return torch._make_per_channel_quantized_tensor(raw, scales, zeros, axis)


_INTEGERS = {"quint8": "uint8", "qint8": "int8", "qint32": "int32"}


def _rebuild_sparse(kind: Any, parts: Any) -> Tensor:
    """A sparse tensor. of_parts checks what its parts have to do with each other."""
    if not isinstance(kind, layout) or not isinstance(parts, tuple) or not 3 <= len(parts) <= 5:
        raise RuntimeError("the parts of a sparse tensor of the file are damaged")
    *tensors, size = parts[:3] if kind is _LAYOUTS[1] else parts[:4]
    if not all(isinstance(t, Tensor) for t in tensors):
        raise RuntimeError("the parts of a sparse tensor of the file are no tensors")
    return of_parts(kind, (*tensors, _checked_ints("size", size)))


def _get_layout(name: str) -> layout:
    """The layout of a name such as "torch.sparse_coo"."""
    found = next((kind for kind in _LAYOUTS.values() if repr(kind) == name), None)
    if found is None:
        raise RuntimeError(f"expected the name of a layout, but the file has {name!r}")
    return found


def _rebuild_from_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    """A tensor with attributes of its own."""
    if function not in (_rebuild_tensor, _rebuild_parameter, _rebuild_qtensor, _rebuild_sparse) or not isinstance(args, tuple):
        raise RuntimeError("a tensor with attributes is made by what makes no tensors")
    made = function(*args)
    if isinstance(state, dict):
        if not all(type(name) is str for name in state):
            raise RuntimeError("the attributes of a tensor have no names")
        made.__dict__.update(state)
    return made


def _size(items: Any = ()) -> Size:
    return Size(_checked_ints("size", items))


def _device(*args: Any) -> device:
    if not args or type(args[0]) is not str or not all(type(n) is int for n in args[1:]):
        raise RuntimeError("a device of the file has no name")
    return device(*args)


def _function(f: Any) -> Rule:
    return Rule(f, call=f)


def _names_of_torch() -> dict[tuple[str, str], Rule]:
    """The names of torch that files may have, apart from the classes of modules."""
    from torchjit.nn.parameter import Parameter

    found = {
        ("torch._utils", "_rebuild_tensor"): _function(_rebuild_tensor), ("torch._utils", "_rebuild_tensor_v2"): _function(_rebuild_tensor),
        ("torch._utils", "_rebuild_parameter"): _function(_rebuild_parameter), ("torch._utils", "_rebuild_qtensor"): _function(_rebuild_qtensor),
        ("torch._utils", "_rebuild_sparse_tensor"): _function(_rebuild_sparse),
        ("torch._utils", "_rebuild_sparse_csr_tensor"): _function(_rebuild_sparse),
        ("torch._tensor", "_rebuild_from_type_v2"): _function(_rebuild_from_type), ("torch.tensor", "_rebuild_from_type_v2"): _function(_rebuild_from_type),
        ("torch.serialization", "_get_layout"): _function(_get_layout),
        ("torch", "Size"): Rule(Size, call=_size), ("torch", "device"): Rule(device, call=_device), ("torch", "Tensor"): Rule(Tensor),
        ("torch.nn.parameter", "Parameter"): Rule(Parameter),
    }  # fmt: skip
    found.update({("torch", name): Rule(kind) for name, kind in dtypes.items()})
    found.update({("torch", name): Rule(kind) for name, kind in qschemes.items()})
    storages = {**{name: _StorageType(kind) for name, kind in DTYPE_OF_STORAGE.items()}, "UntypedStorage": _StorageType(dtypes["uint8"])}
    found.update({(module, name): Rule(kind) for name, kind in storages.items() for module in ("torch", "torch.storage")})
    return found


class _LazyNames(dict[tuple[str, str], Rule]):
    """The names of torch, which are gathered when they are first asked for: torch.nn is imported then."""

    def get(self, key: Any, default: Any = None) -> Any:
        if not self:
            self.update(_names_of_torch())
        return super().get(key, default)


_TORCH = _LazyNames()


# ---- files ----


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, **pickle_load_args: Any) -> Any:
    """Reads what torch.save wrote, of PyTorch or of this library, from a path or a file.

    map_location: the device that tensors are put on (a text or a device), what devices stand for others (a dict by the names that the file has), or a
    function that gets a storage and the name of the file's device and returns the storage to use; None: where they were, the CPU where there is no such GPU. With
    weights_only, which is the default, a file gives tensors, plain Python data and modules of
    torch.nn, whatever is in it, and what else it names is refused: see docs/security.md. weights_only=False imports and calls whatever the file names:
    use it only for files that you trust. Raises UnpicklingError or RuntimeError for what is damaged or refused, EOFError for an empty file.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(nn.Linear(3, 2).state_dict(), file)
    >>> list(torch.load(io.BytesIO(file.getvalue())))
    ['weight', 'bias']
    """
    encoding = pickle_load_args.get("encoding", "utf-8")
    if isinstance(f, (str, os.PathLike)):
        with builtins.open(f, "rb") as file, _progress.of_parts(f"loading {os.fspath(f)}", os.fstat(file.fileno()).st_size) as loaded:
            return _load(file, placing(map_location), not weights_only, encoding, loaded)
    _check_seekable(f)
    return _load(f, placing(map_location), not weights_only, encoding, _progress.nothing)


_Placing = Callable[[TypedStorage, str], TypedStorage]


def placing(map_location: Any) -> _Placing:
    """What puts a storage, and the name of the device that the file has it on, to where load's map_location says."""

    def back(storage: TypedStorage, location: str) -> TypedStorage:
        return _moved(storage, location) if location.startswith("cuda") and _native.cuda_device_count() else storage

    if map_location is None:
        return back
    if isinstance(map_location, dict):
        return lambda storage, location: _moved(storage, map_location[location]) if location in map_location else back(storage, location)
    if isinstance(map_location, (str, device)):
        return lambda storage, location: _moved(storage, map_location)

    def called(storage: TypedStorage, location: str) -> TypedStorage:
        found = map_location(storage, location)
        return back(storage, location) if found is None else found

    return called


def _moved(storage: TypedStorage, location: Any) -> TypedStorage:
    """The storage on a device. Raises RuntimeError where there is no such device."""
    try:
        where = device(location)
    except RuntimeError:
        raise RuntimeError(f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})") from None
    check_location(where)
    return storage._over(storage.dtype, storage._bytes.to(where))


def _load(file: Any, put: _Placing, trusted: bool, encoding: str, told: Callable[[int], None]) -> Any:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if head == b"PK\x03\x04":
        return _load_zip(file, put, trusted, encoding, told)
    return _load_legacy(file, put, trusted, encoding, told)


def _load_zip(file: Any, put: _Placing, trusted: bool, encoding: str, told: Callable[[int], None]) -> Any:
    start = file.tell()
    with Archive(file) as archive:
        if archive.has("constants.pkl"):
            if not trusted:
                raise advised(
                    RuntimeError(
                        "Cannot use weights_only=True with TorchScript archives, which have programs: load them with torch.jit.load, or with torch.load(..., "
                        "weights_only=False)"
                    )
                )
            from torchjit.jit import load as jit_load

            warnings.warn(
                "'torch.load' received a zip file that looks like a TorchScript archive dispatching to 'torch.jit.load' "
                "(call 'torch.jit.load' directly to silence this warning)",
                stacklevel=4,
            )
            file.seek(start)
            return jit_load(file)
        swapped = _is_swapped(archive)
        loaded: dict[str, TypedStorage] = {}

        def read(kind: dtype, key: str, count: int, location: str) -> TypedStorage:
            if key not in loaded:
                record = f"data/{key}"
                loaded[key] = put(_storage(kind, archive.read(record, count * kind.itemsize) if count else b"", count, record, swapped), location)
                told(loaded[key].nbytes())
            return loaded[key]

        return _unpickle(io.BytesIO(archive.read("data.pkl")), read, trusted, encoding)


def _is_swapped(archive: Archive) -> bool:
    """Whether the bytes of the numbers of an archive stand in the other order than those of this machine. Archives without a record are little-endian."""
    order = archive.read("byteorder", 16).decode("latin1") if archive.has("byteorder") else "little"
    if order not in ("little", "big"):
        raise RuntimeError(f"Unknown endianness type: {order!r}")
    return order != sys.byteorder


# How many bytes of a number change places together where that is not the whole element, and the type codes of arrays by that.
_SWAPPED_WIDTH = {"complex32": 2, "complex64": 4, "complex128": 8}
_ARRAYS = {array.array(code).itemsize: code for code in "HIQ"}


def _storage(kind: dtype, content: bytes, count: int, where: str, swapped: bool = False) -> TypedStorage:
    if len(content) < count * kind.itemsize:
        raise RuntimeError(f"{where} has {len(content)} bytes, but {count} elements of {kind} need {count * kind.itemsize}")
    held = bytearray(content if len(content) == count * kind.itemsize else content[: count * kind.itemsize])
    width = _SWAPPED_WIDTH.get(kind.name, kind.itemsize)
    if swapped and width > 1:
        numbers = array.array(_ARRAYS[width], bytes(held))
        numbers.byteswap()
        held = bytearray(numbers.tobytes())
    return TypedStorage._over(kind, _native.tensor_from_buffer(held))


def _load_legacy(file: Any, put: _Placing, trusted: bool, encoding: str, told: Callable[[int], None]) -> Any:
    """The format from before PyTorch 1.6: pickles one after the other, then the memory, whose numbers are little-endian."""

    def nothing(*args: Any) -> Any:
        raise RuntimeError("the head of the file names a storage")

    magic = _unpickle(file, nothing, False, encoding)
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise pickle.UnpicklingError("the file is no archive of PyTorch's")
    protocol = _unpickle(file, nothing, False, encoding)
    if type(protocol) is not int or protocol != PROTOCOL_VERSION:
        raise pickle.UnpicklingError(f"expected version {PROTOCOL_VERSION} of the format, but found {repr(protocol)[:40] if type(protocol) is int else type(protocol).__name__}")
    _unpickle(file, nothing, False, encoding)  # the sizes of numbers on the machine that wrote it
    place = file.tell()
    left = file.seek(0, 2) - place  # bytes, without the memory of the storages so far
    file.seek(place)
    loaded: dict[str, TypedStorage] = {}

    def read(kind: dtype, key: str, count: int, location: str) -> TypedStorage:
        nonlocal left
        if key not in loaded:
            left -= count * kind.itemsize
            if left < 0:
                raise RuntimeError(f"the storages of the file have more bytes than the file: {count} elements of {kind} of storage {key} are not there")
            loaded[key] = put(_storage(kind, bytes(count * kind.itemsize), count, f"storage {key}"), location)
        return loaded[key]

    result = _unpickle(file, read, trusted, encoding)
    keys = _unpickle(file, nothing, False, encoding)
    if type(keys) is not list or not all(type(key) in (str, int) for key in keys) or set(keys) != set(loaded) or len(keys) != len(loaded):
        raise RuntimeError("the storages that the file has are not those that it uses")
    for key in keys:
        storage = loaded[key]
        count = int.from_bytes(file.read(8), "little", signed=True)
        if count != len(storage):
            raise RuntimeError(f"the memory of storage {key} has {count} elements, not {len(storage)}")
        content = file.read(storage.nbytes())
        storage._bytes.copy_(_storage(storage.dtype, content, count, f"storage {key}", sys.byteorder != "little")._bytes)
        told(len(content))
    return result


# Where storages are: what a file says of one, and what the reader does with that, by priority.


def _cpu_tag(obj: Any) -> str | None:
    return "cpu" if obj.device.type == "cpu" else None


def _cpu_deserialize(obj: Any, location: str) -> Any:
    return obj if location == "cpu" else None


def _cuda_tag(obj: Any) -> str | None:
    return str(obj.device) if obj.device.type == "cuda" else None


def _cuda_deserialize(obj: Any, location: str) -> Any:
    if not location.startswith("cuda"):
        return None
    validate_cuda_device(location)
    return _moved(obj, location)


def _meta_tag(obj: Any) -> str | None:
    return "meta" if obj.device.type == "meta" else None


def _meta_deserialize(obj: Any, location: str) -> Any:
    return _moved(obj, location) if location == "meta" else None


def validate_cuda_device(location: Any) -> int:
    """The number of a CUDA device. Raises RuntimeError where there is no such device."""
    where = device(location)
    check_location(where)
    return where.index or 0


_package_registry: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = [
    (10, _cpu_tag, _cpu_deserialize), (20, _cuda_tag, _cuda_deserialize), (22, _meta_tag, _meta_deserialize),
]  # fmt: skip


def register_package(priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]) -> None:
    """Has location_tag and default_restore_location ask functions of a kind of storages, those of low priority first.

    tagger gives the tag of a storage of its kind, None for others; deserializer moves a storage to where a tag of its kind says.
    """
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda row: row[0])


def location_tag(storage: Any) -> str:
    """The tag of where a storage is: "cpu"."""
    for _, tagger, _ in _package_registry:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError("don't know how to determine data location of " + torch_typename(storage))


def default_restore_location(storage: Any, location: str) -> Any:
    """A storage that was read, where a tag says that it was."""
    for _, _, restore in _package_registry:
        found = restore(storage, location)
        if found is not None:
            return found
    raise RuntimeError(f"don't know how to restore data location of {torch_typename(storage)} (tagged with {location})")


def torch_typename(obj: Any) -> str:
    """The name of the class of an object, with torch for this library."""
    return f"{type(obj).__module__}.{type(obj).__qualname__}".replace("torchjit", "torch", 1)


def normalize_storage_type(storage_type: Any) -> Any:
    """The class of storages torch.NAME of a class with its name."""
    import torchjit

    return getattr(torchjit, storage_type.__name__)


def check_module_version_greater_or_equal(module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True) -> bool:
    """Whether the version of a module is at least one; a version that cannot be read is an error, or warned of and good enough."""
    try:
        found = tuple(kind(part) for kind, part in zip((type(wanted) for wanted in req_version_tuple), module.__version__.split(".")))
        return found >= req_version_tuple
    except Exception as e:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from e
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True


def _get_restore_location(map_location: Any) -> Callable[[Any, str], Any]:
    """What puts a storage, and the tag of where it was, to where load's map_location says."""
    return default_restore_location if map_location is None else placing(map_location)


def _legacy_load(f: Any, map_location: Any, pickle_module: Any, **pickle_load_args: Any) -> Any:
    """Reads a file in the format from before PyTorch 1.6. What it names is imported and called."""
    return _load_legacy(f, placing(map_location), True, pickle_load_args.get("encoding", "utf-8"), _progress.nothing)


def _maybe_decode_ascii(bytes_str: bytes | str) -> str:
    """A text, which Python 2 may have written as bytes."""
    return bytes_str.decode("ascii") if isinstance(bytes_str, bytes) else bytes_str


class StorageType:
    """The element type of the class of storages that a pickle names."""

    def __init__(self, name: str) -> None:
        self.dtype = _get_dtype_from_pickle_storage_type(name)

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


@contextlib.contextmanager
def mkdtemp() -> Iterator[str]:
    """A folder that is there within the context."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        yield path


_string_classes = (str, bytes)
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._sources": "get_source_lines_and_file",
    "torchjit._utils": "_import_dotted_name",
    "torchjit.types": "Storage",
})  # fmt: skip
