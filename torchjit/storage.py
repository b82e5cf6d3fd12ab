"""torch.storage: the memory that tensors show, and the classes of tensors and storages by element type."""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import mmap
import os
import sys
from collections.abc import Sequence
from typing import Any

from torchjit import _native
from torchjit._advice import advised
from torchjit._tensor import Tensor
from torchjit._types import dtype, dtypes, strided
from torchjit._types import dtype as _dtype

# The names of element types in the names of classes.
_NAMES = {
    "float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "quint8": "QUInt8", "qint8": "QInt8", "qint32": "QInt32",
}  # fmt: skip


class _StorageBase:
    """The memory of a tensor as a list of numbers: what typed storages and those of bytes have in common."""

    dtype: _dtype
    _bytes: Any

    @classmethod
    def _over(cls, kind: _dtype, memory: Any) -> Any:
        """The storage of a class over memory, a tensor of bytes."""
        made = object.__new__(cls)
        made.dtype, made._bytes = kind, memory
        return made

    def _tensor(self) -> Tensor:
        return self._bytes.view(self.dtype)

    def __len__(self) -> builtins.int:
        return self._bytes.numel() // self.dtype.itemsize

    size = __len__

    def nbytes(self) -> builtins.int:
        return self._bytes.numel()

    def element_size(self) -> builtins.int:
        return self.dtype.itemsize

    def data_ptr(self) -> builtins.int:
        return self._bytes.data_ptr()

    @property
    def _cdata(self) -> builtins.int:
        """A number that storages have in common that are the same memory."""
        return self._bytes.data_ptr() or id(self._bytes)

    def _maybe_wrap_index(self, idx: builtins.int | None) -> builtins.int:
        """An index counted from the start. Raises IndexError where it is outside of the storage."""
        if idx is None:
            return 0
        if not isinstance(idx, builtins.int):
            raise TypeError(f"can't index a {type(self)} with {type(idx)}")
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} out of range for storage of size {len(self)}")
        return idx % len(self)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(at, builtins.int):
            raise RuntimeError(f"can't index a {type(self)} with {type(at)}")
        return self._tensor()[self._maybe_wrap_index(at)].item()

    def __setitem__(self, at: Any, value: Any) -> None:
        if not isinstance(at, (builtins.int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(at)}")
        self._tensor()[at] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return self._tensor().tolist()

    def fill_(self, value: Any) -> Any:
        self._tensor().fill_(value)
        return self

    def copy_(self, source: _StorageBase, non_blocking: Any = None) -> Any:
        """Takes the bytes of another storage. Raises RuntimeError where that has more or fewer."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError("size does not match")
        self._bytes.copy_(source._bytes)
        return self

    def clone(self) -> Any:
        return self._over(self.dtype, self._bytes.clone())

    __copy__ = clone

    def __deepcopy__(self, memo: Any) -> Any:
        """A copy; storages of the same memory stay ones of the same memory."""
        copies = memo.setdefault("torch", {})
        if self.data_ptr() not in copies:
            copies[self.data_ptr()] = self._bytes.clone()
        return self._over(self.dtype, copies[self.data_ptr()])

    def __sizeof__(self) -> builtins.int:
        return object.__sizeof__(self) + self.nbytes()

    def share_memory_(self) -> Any:
        """Raises RuntimeError: memory is not shared between processes in this version."""
        raise RuntimeError("torchjit does not share memory between processes: send tensors by pickle")

    def pin_memory(self) -> Any:
        """Raises AssertionError: there is no device to which pinned memory would be copied."""
        raise advised(AssertionError("Torch not compiled with CUDA enabled"))

    @property
    def device(self) -> Any:
        return self._bytes.device

    @property
    def is_cuda(self) -> builtins.bool:
        return False

    def is_shared(self) -> builtins.bool:
        return False

    def pickle_storage_type(self) -> str:
        return _NAMES[self.dtype.name] + "Storage"

    def untyped(self) -> UntypedStorage:
        return UntypedStorage._over(dtypes["uint8"], self._bytes)

    _untyped = untyped

    def __reduce__(self) -> Any:
        import io

        from torchjit.serialization import save

        written = io.BytesIO()
        save(self, written, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (written.getvalue(),)

    def __repr__(self) -> str:
        what = f"dtype={self.dtype}, device={self.device}" if isinstance(self, TypedStorage) else f"device={self.device}"
        lines = "...\n" if self.device.type == "meta" else "".join(f" {x}\n" for x in self.tolist()) or "\n"
        return f"{lines}[torch.storage.{type(self).__name__}({what}) of size {len(self)}]"

    def _to(self, name: str) -> Any:
        return TypedStorage._over(dtypes[name], _native.tensor_storage(self._tensor().to(dtypes[name]).clone()))

    def double(self) -> Any:
        """The numbers as float64; the methods after it are named after their types too."""
        return self._to("float64")

    def float(self) -> Any:
        return self._to("float32")

    def half(self) -> Any:
        return self._to("float16")

    def bfloat16(self) -> Any:
        return self._to("bfloat16")

    def long(self) -> Any:
        return self._to("int64")

    def int(self) -> Any:
        return self._to("int32")

    def short(self) -> Any:
        return self._to("int16")

    def char(self) -> Any:
        return self._to("int8")

    def byte(self) -> Any:
        return self._to("uint8")

    def bool(self) -> Any:
        return self._to("bool")

    def complex_double(self) -> Any:
        return self._to("complex128")

    def complex_float(self) -> Any:
        return self._to("complex64")

    def cpu(self) -> Any:
        return self

    def cuda(self, device: Any = None, non_blocking: Any = False) -> Any:
        """Raises AssertionError: this version runs on the CPU alone."""
        raise advised(AssertionError("Torch not compiled with CUDA enabled"))

    def get_device(self) -> builtins.int:
        return -1

    def is_pinned(self) -> builtins.bool:
        return False

    is_sparse = False

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """The name of the class by element type, or the numbers as another."""
        if dtype is None:
            return "torch." + self.pickle_storage_type()
        named = dtype if isinstance(dtype, str) else dtype.__name__
        return self._to(DTYPE_OF_STORAGE[named.rpartition(".")[2]].name)

    def resize_(self, size: builtins.int) -> Any:
        """Gives the storage room for another number of elements. Those that it had stay."""
        grown = _native.operator("aten::zeros")([size * self.dtype.itemsize], dtype=dtypes["uint8"])
        n = min(grown.numel(), self._bytes.numel())
        grown[:n] = self._bytes[:n]
        self._bytes = grown
        return self

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str | None = None, count: builtins.int = -1, offset: builtins.int = 0, dtype: Any = None) -> Any:
        """A storage with a copy of a buffer's numbers: count of them, or all, from the byte offset on.

        byte_order, "native", "little" or "big", must be given for numbers of several bytes.
        """
        kind = dtype or (None if cls is UntypedStorage else _dtype_of_class(cls) or _native.default_dtype())
        if kind is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        order = {"native": sys.byteorder, None: sys.byteorder}.get(byte_order, byte_order)
        if byte_order is None and kind.itemsize > 1:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if order not in ("little", "big"):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        content = bytearray(memoryview(buffer).cast("B"))
        if not 0 <= offset <= len(content):
            raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(content)}), but got {offset}")
        content = content[offset:]
        if count < 0 and len(content) % kind.itemsize:
            raise ValueError(f"buffer size ({len(content)}) must be a multiple of element size ({kind.itemsize})")
        if count >= 0 and len(content) < count * kind.itemsize:
            raise ValueError(f"buffer has only {len(content)} elements after offset {offset}, but specified a size of {count}")
        content = content if count < 0 else content[: count * kind.itemsize]
        memory = _native.tensor_from_buffer(content)
        if order != sys.byteorder and kind.itemsize > 1:
            width = kind.itemsize // (2 if kind.is_complex else 1)
            memory = memory.view(-1, width).flip(1).reshape(-1)
        return (UntypedStorage if issubclass(cls, UntypedStorage) else TypedStorage)._over(kind, memory)

    @classmethod
    def from_file(cls, filename: Any, shared: builtins.bool, size: builtins.int = 0, nbytes: builtins.int | None = None) -> TypedStorage:
        """A storage whose memory is a file's, mapped: its first size elements, or nbytes bytes.

        What is written to a shared one is written to the file, which is made as long as needed; other writes stay in
        memory. Raises OSError where the file can't be opened, RuntimeError where one that isn't shared is too short.
        """
        kind = _dtype_of_class(cls) or _native.default_dtype()
        length = size * kind.itemsize if nbytes is None else nbytes
        memory = _native.tensor_from_buffer(_mapped(filename, shared, length)) if length else _native.operator("aten::empty")([0], dtype=dtypes["uint8"])
        return (UntypedStorage if issubclass(cls, UntypedStorage) else TypedStorage)._over(kind, memory)


def _dtype_of_class(cls: Any) -> Any:
    """The type of the elements of the storages of a class, None where they have any."""
    return dtypes["uint8"] if issubclass(cls, UntypedStorage) else getattr(cls, "dtype", None)


def _mapped(filename: Any, shared: builtins.bool, length: builtins.int) -> mmap.mmap:
    with open(filename, "r+b" if shared else "rb") as file:
        if (have := os.fstat(file.fileno()).st_size) < length:
            if not shared:
                raise RuntimeError(f"file <{filename}> size <{have}> is smaller than the required mapping size <{length}>")
            os.ftruncate(file.fileno(), length)
        return mmap.mmap(file.fileno(), length, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)


# The ways in which storages can be made.
_OF_TYPED = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""
_OF_LEGACY = """{cls}.__new__ received an invalid combination of arguments. Expected one of:
 * no arguments
 * (int size)
 * (Sequence data)
 * (*, UntypedStorage wrap_storage)
"""
_OF_UNTYPED = """ * (*, int allocator, torch.device device)
 * (int size, *, int allocator, torch.device device)
 * (object sequence, *, int allocator, torch.device device)
"""


def _memory(ways: str, args: tuple[Any, ...], kind: Any, device: Any) -> Any:
    """The bytes of so many elements, or of those of a sequence. Raises RuntimeError or TypeError, which begins with ways, for other arguments."""
    torch: Any = importlib.import_module("torchjit")

    if len(args) > 1:
        raise RuntimeError(ways + "Too many positional arguments")
    if not args or isinstance(args[0], builtins.int) and not isinstance(args[0], builtins.bool):
        made = torch.empty(args[0] if args else 0, dtype=kind, device=device) if kind.name in ("quint8", "qint8", "qint32") else torch.zeros(*args or (0,), dtype=kind, device=device)
    elif isinstance(args[0], Sequence):
        made = torch.tensor(args[0], dtype=kind, device=device)
    else:
        raise TypeError(f"{ways}Argument type not recognized: {type(args[0])}")
    return _native.tensor_storage(made)


class TypedStorage(_StorageBase):
    """The memory of a tensor as a list of numbers. Writing it writes the tensors that show it.

    It is made of a number of elements, of a sequence, or with wrap_storage over the bytes of an UntypedStorage.
    """

    def __init__(self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None) -> None:
        if wrap_storage is None:
            if dtype is not None and not isinstance(dtype, _dtype):
                raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
            self.dtype: _dtype = dtype or _native.default_dtype()
            self._bytes = _memory(_OF_TYPED, args, self.dtype, device)
            return
        if args:
            raise RuntimeError(_OF_TYPED + "No positional arguments should be given when using 'wrap_storage'")
        if dtype is None:
            raise RuntimeError(_OF_TYPED + "Argument 'dtype' must be specified")
        if not isinstance(dtype, _dtype):
            raise TypeError(f"{_OF_TYPED}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        if device is not None:
            raise RuntimeError(_OF_TYPED + "Argument 'device' should not be specified when 'wrap_storage' is given")
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"{_OF_TYPED}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        self.dtype, self._bytes = dtype, wrap_storage._bytes

    def _get_legacy_storage_class(self) -> Any:
        """The class torch.FloatStorage, or its like, of these elements."""
        return globals().get(self.pickle_storage_type())

    def _new_wrapped_storage(self, untyped_storage: UntypedStorage) -> TypedStorage:
        """A storage of the same type over other bytes."""
        return TypedStorage(wrap_storage=untyped_storage, dtype=self.dtype)


class StorageBase(_StorageBase):
    """The base of storages of bytes."""


class UntypedStorage(StorageBase):
    """The memory of a tensor as bytes."""

    def __init__(self, *args: Any, device: Any = None, **others: Any) -> None:
        if len(args) > 1 or others:
            shown = ", ".join([*(type(a).__name__ for a in args), *(f"{name}={type(value).__name__}" for name, value in others.items())])
            raise TypeError(f"torch.UntypedStorage() received an invalid combination of arguments - got ({shown}{', ' if others and not args else ''}), but expected one of:\n{_OF_UNTYPED}")
        self.dtype: _dtype = dtypes["uint8"]
        if args and not (isinstance(args[0], builtins.int) and not isinstance(args[0], builtins.bool)):
            if not isinstance(args[0], Sequence):
                raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {type(args[0]).__name__}")
            wrong = next((x for x in args[0] if not isinstance(x, builtins.int)), None)
            if wrong is not None:
                raise RuntimeError(
                    f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(args[0]).__name__}), but one of the items was of type "
                    f"{type(wrong).__name__} instead of int"
                )
        self._bytes = _memory("", args, self.dtype, device)

    is_sparse_csr = False

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(0)

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """The name of the class, or the bytes as numbers of a type."""
        return "torch.storage.UntypedStorage" if dtype is None else super().type(dtype, non_blocking)

    def __getitem__(self, at: Any) -> Any:
        return self._over(self.dtype, self._bytes[at]) if isinstance(at, slice) else super().__getitem__(at)


def part_of(storage: _StorageBase, kind: _dtype, offset: builtins.int, size: Any, stride: Any) -> Tensor:
    """The tensor of a type that shows elements of a storage, which grows where it is too short. Raises RuntimeError for a storage of another type."""
    if isinstance(storage, TypedStorage) and storage.dtype is not kind:
        names = (_NAMES[found.name].removesuffix("Storage") for found in (kind, storage.dtype))
        expected, got = next(names), next(names)
        expected = {"Long": "long int", "Short": "short int", "Char": "signed char", "Byte": "unsigned char", "Half": "c10::Half"}.get(expected, expected)
        raise RuntimeError(f"Expected a Storage of type {expected.lower()} or an UntypedStorage, but got type {got} for argument 1 'storage'")
    shown = tuple(size) if size is not None else (storage.nbytes() // kind.itemsize - offset,)
    steps = tuple(stride) if stride else tuple(math.prod(shown[i + 1 :]) for i in range(len(shown)))
    end = 0 if 0 in shown else offset + sum((n - 1) * s for n, s in zip(shown, steps, strict=True)) + 1
    if end * kind.itemsize > storage.nbytes():
        storage.resize_(-(-end * kind.itemsize // storage.element_size()))
    return storage._bytes.view(kind).as_strided(shown, steps, offset)


class _LegacyStorageMeta(type):
    """The type of torch.FloatStorage and its like: typed storages of one element type are their instances."""

    dtype: _dtype

    def __instancecheck__(cls, instance: Any) -> builtins.bool:
        where = "cuda" if cls.__module__ == "torch.cuda" else "cpu"
        return type(instance) is TypedStorage and instance.dtype is cls.dtype and instance.device.type == where


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """A class of typed storages of one element type: calling it makes a TypedStorage."""

    def __new__(cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None) -> Any:
        ways = _OF_LEGACY.format(cls=cls)
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise RuntimeError(f"{ways}Keyword argument '{name}' cannot be specified")
        where = "cuda" if cls.__module__ == "torch.cuda" else "cpu"
        if wrap_storage is None:
            if where == "cuda":
                _native.cuda_check()
            return TypedStorage._over(cls.dtype, _memory(ways, args, cls.dtype, where))
        if args:
            raise RuntimeError(ways + "No positional arguments should be given when using 'wrap_storage'")
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"{ways}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        if wrap_storage.device.type != where:
            raise RuntimeError(f"{ways}Device of 'wrap_storage' must be {where}, but got {wrap_storage.device.type}")
        return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)


def _load_from_bytes(b: bytes) -> Any:
    """What torch.save wrote into bytes."""
    import io

    from torchjit.serialization import load

    return load(io.BytesIO(b))


def _isint(x: Any) -> builtins.bool:
    """Whether something is an int."""
    return isinstance(x, builtins.int)


def _get_storage_from_sequence(sequence: Any, dtype: Any, device: Any) -> UntypedStorage:
    """The bytes of the elements of a sequence."""
    return UntypedStorage._over(dtypes["uint8"], _memory("", (sequence,), dtype, device))


def _dtype_to_storage_type_map() -> dict[_dtype, str]:
    """The names of the classes torch.FloatStorage and its like by element types."""
    return {dtypes[name]: prefix + "Storage" for name, prefix in _NAMES.items()}


def _storage_type_to_dtype_map() -> dict[str, _dtype]:
    """Element types by the names of the classes torch.FloatStorage and its like."""
    return dict(DTYPE_OF_STORAGE)


def _get_dtype_from_pickle_storage_type(pickle_storage_type: str) -> _dtype:
    """The type of the elements of a class torch.FloatStorage or its like. Raises KeyError for another name."""
    if pickle_storage_type not in DTYPE_OF_STORAGE:
        raise KeyError(f'pickle storage type "{pickle_storage_type}" is not recognized')
    return DTYPE_OF_STORAGE[pickle_storage_type]


def storage_of(t: Tensor) -> TypedStorage:
    """The memory that t shows. Raises NotImplementedError for sparse tensors, which show none."""
    if t.layout is not strided:
        raise NotImplementedError(f"Cannot access storage of {'SparseTensorImpl' if t.is_sparse else 'OpaqueTensorImpl' if t.is_mkldnn else 'SparseCsrTensorImpl'}")
    return TypedStorage._over(t.dtype, _native.tensor_storage(t))


class _TensorType(type):
    """The type of torch.FloatTensor and its like: tensors of one element type are their instances."""

    _dtype: dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls._dtype and x.layout is strided and not x.is_cuda

    layout = strided
    is_cuda = is_sparse = False

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        torch: Any = importlib.import_module("torchjit")

        if device is not None and torch.device(device).type != ("cuda" if cls.is_cuda else "cpu"):
            kinds = ("cuda" if cls.is_cuda else "cpu", torch.device(device).type)
            raise RuntimeError("legacy constructor expects device type: {} but device type: {} was passed".format(*kinds))
        if len(args) == 1 and isinstance(args[0], (builtins.float, builtins.complex)):
            raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(cls._dtype)
        if len(args) == 1 and isinstance(args[0], _StorageBase):
            return part_of(args[0], cls._dtype, 0, None, None)
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return torch.tensor(args[0], dtype=cls._dtype)
        shape = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
        return torch.empty(tuple(shape), dtype=cls._dtype) if args else torch.empty(0, dtype=cls._dtype)

    @property
    def dtype(cls) -> dtype:
        return cls._dtype


class _DeviceTensorType(_TensorType):
    """The type of torch.cuda.FloatTensor and its like: tensors of one element type on CUDA devices."""

    is_cuda = True

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls._dtype and x.layout is strided and x.is_cuda

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        _native.cuda_check()
        return super().__call__(*args).cuda(device)


@functools.cache
def device_tensor_type(name: str) -> Any:
    """The class torch.cuda.NAME of a class torch.NAME."""
    return _DeviceTensorType(name, (), {"_dtype": globals()[name]._dtype, "__module__": "torch.cuda"})


@functools.cache
def device_storage_type(name: str) -> Any:
    """The class torch.cuda.NAME of a class torch.NAME."""
    return _LegacyStorageMeta(name, (_LegacyStorage,), {"dtype": DTYPE_OF_STORAGE[name], "__module__": "torch.cuda"})


for _name, _prefix in _NAMES.items():
    globals()[_prefix + "Storage"] = _LegacyStorageMeta(_prefix + "Storage", (_LegacyStorage,), {"dtype": dtypes[_name], "__module__": "torch"})
    if not _prefix.startswith(("Q", "Complex")):
        globals()[_prefix + "Tensor"] = _TensorType(_prefix + "Tensor", (), {"_dtype": dtypes[_name], "__module__": "torch"})

Storage = TypedStorage
CLASSES = [prefix + kind for prefix in _NAMES.values() for kind in ("Storage", "Tensor") if prefix + kind in globals()]
DTYPE_OF_STORAGE = {prefix + "Storage": dtypes[name] for name, prefix in _NAMES.items()}

# All classes of storages and of tensors of one type, as programs that check what they are given look for them.
_string_classes = (str, bytes)
_storage_classes = {TypedStorage, UntypedStorage, *(globals()[name] for name in CLASSES if name.endswith("Storage"))}
_storage_classes |= {device_storage_type(name) for name in CLASSES if name.endswith("Storage") and not name.startswith("Q")}
_tensor_classes = {made(name) for name in CLASSES if name.endswith("Tensor") for made in (globals().__getitem__, device_tensor_type)}
