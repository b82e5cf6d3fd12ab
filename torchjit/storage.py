"""torch.storage: the memory that tensors show, and the classes of tensors and storages by element type."""

from __future__ import annotations

import builtins
import functools
import importlib
import mmap
import os
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


class TypedStorage:
    """The memory of a tensor as a list of numbers. Writing it writes the tensors that show it."""

    def __init__(self, data: Any = None, *, dtype: dtype | None = None, _bytes: Any = None) -> None:
        torch: Any = importlib.import_module("torchjit")

        self.dtype: _dtype = dtype or getattr(type(self), "_dtype", None) or torch.get_default_dtype()
        if _bytes is None:
            made = torch.zeros(data, dtype=self.dtype) if isinstance(data, builtins.int) else torch.tensor([] if data is None else list(data), dtype=self.dtype)
            _bytes = _native.tensor_storage(made)
        self._bytes = _bytes

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

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._tensor()[at].item()

    def __setitem__(self, at: Any, value: Any) -> None:
        self._tensor()[at] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return self._tensor().tolist()

    def fill_(self, value: Any) -> TypedStorage:
        self._tensor().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: Any = None) -> TypedStorage:
        self._tensor().copy_(source._tensor())
        return self

    def clone(self) -> TypedStorage:
        return type(self)(dtype=self.dtype, _bytes=self._bytes.clone())

    __copy__ = clone

    def __deepcopy__(self, memo: Any) -> TypedStorage:
        """A copy; storages of the same memory stay ones of the same memory."""
        copies = memo.setdefault("torch", {})
        if self.data_ptr() not in copies:
            copies[self.data_ptr()] = self._bytes.clone()
        return type(self)(dtype=self.dtype, _bytes=copies[self.data_ptr()])

    def __sizeof__(self) -> builtins.int:
        return object.__sizeof__(self) + self.nbytes()

    def share_memory_(self) -> TypedStorage:
        """Raises RuntimeError: memory is not shared between processes in this version."""
        raise RuntimeError("torchjit does not share memory between processes: send tensors by pickle")

    def pin_memory(self) -> TypedStorage:
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
        return UntypedStorage(_bytes=self._bytes)

    _untyped = untyped

    def __repr__(self) -> str:
        kind = "TypedStorage" if not isinstance(self, UntypedStorage) else "UntypedStorage"
        what = f"dtype={self.dtype}, device={self.device}" if kind == "TypedStorage" else f"device={self.device}"
        lines = "".join(f" {x}\n" for x in self.tolist())
        return f"{lines}[torch.storage.{kind}({what}) of size {len(self)}]"

    def _to(self, name: str) -> TypedStorage:
        return TypedStorage(dtype=dtypes[name], _bytes=_native.tensor_storage(self._tensor().to(dtypes[name]).clone()))

    def double(self) -> TypedStorage:
        """The numbers as float64; the methods after it are named after their types too."""
        return self._to("float64")

    def float(self) -> TypedStorage:
        return self._to("float32")

    def half(self) -> TypedStorage:
        return self._to("float16")

    def bfloat16(self) -> TypedStorage:
        return self._to("bfloat16")

    def long(self) -> TypedStorage:
        return self._to("int64")

    def int(self) -> TypedStorage:
        return self._to("int32")

    def short(self) -> TypedStorage:
        return self._to("int16")

    def char(self) -> TypedStorage:
        return self._to("int8")

    def byte(self) -> TypedStorage:
        return self._to("uint8")

    def bool(self) -> TypedStorage:
        return self._to("bool")

    def complex_double(self) -> TypedStorage:
        return self._to("complex128")

    def complex_float(self) -> TypedStorage:
        return self._to("complex64")

    def cpu(self) -> TypedStorage:
        return self

    def cuda(self, device: Any = None, non_blocking: Any = False) -> TypedStorage:
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

    def resize_(self, size: builtins.int) -> TypedStorage:
        """Gives the storage room for another number of elements. Those that it had stay."""
        grown = _native.operator("aten::zeros")([size * self.dtype.itemsize], dtype=dtypes["uint8"])
        n = min(grown.numel(), self._bytes.numel())
        grown[:n] = self._bytes[:n]
        self._bytes = grown
        return self

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str = "native", dtype: Any = None, **kwargs: Any) -> TypedStorage:
        """A storage with a copy of a buffer's bytes."""
        made = _native.tensor_from_buffer(bytearray(memoryview(buffer).cast("B")))
        return cls(dtype=dtype or getattr(cls, "_dtype", None) or dtypes["uint8"], _bytes=made)

    @classmethod
    def from_file(cls, filename: Any, shared: builtins.bool, size: builtins.int = 0, nbytes: builtins.int | None = None) -> TypedStorage:
        """A storage whose memory is a file's, mapped: its first size elements, or nbytes bytes.

        What is written to a shared one is written to the file, which is made as long as needed; other writes stay in
        memory. Raises OSError where the file can't be opened, RuntimeError where one that isn't shared is too short.
        """
        kind = getattr(cls, "_dtype", None) or (dtypes["uint8"] if issubclass(cls, UntypedStorage) else _native.default_dtype())
        length = size * kind.itemsize if nbytes is None else nbytes
        return cls(dtype=kind, _bytes=_native.tensor_from_buffer(_mapped(filename, shared, length)) if length else None)


def _mapped(filename: Any, shared: builtins.bool, length: builtins.int) -> mmap.mmap:
    with open(filename, "r+b" if shared else "rb") as file:
        if (have := os.fstat(file.fileno()).st_size) < length:
            if not shared:
                raise RuntimeError(f"file <{filename}> size <{have}> is smaller than the required mapping size <{length}>")
            os.ftruncate(file.fileno(), length)
        return mmap.mmap(file.fileno(), length, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)


class UntypedStorage(TypedStorage):
    """The memory of a tensor as bytes."""

    def __init__(self, data: Any = None, *, dtype: dtype | None = None, _bytes: Any = None) -> None:
        super().__init__(data, dtype=dtypes["uint8"], _bytes=_bytes)

    is_sparse_csr = False

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(0)

    def __getitem__(self, at: Any) -> Any:
        return UntypedStorage(_bytes=self._bytes[at]) if isinstance(at, slice) else super().__getitem__(at)


def storage_of(t: Tensor) -> TypedStorage:
    """The memory that t shows. Raises NotImplementedError for sparse tensors, which show none."""
    if t.layout is not strided:
        raise NotImplementedError(f"Cannot access storage of {'SparseTensorImpl' if t.is_sparse else 'OpaqueTensorImpl' if t.is_mkldnn else 'SparseCsrTensorImpl'}")
    return TypedStorage(dtype=t.dtype, _bytes=_native.tensor_storage(t))


class _TensorType(type):
    """The type of torch.FloatTensor and its like: tensors of one element type are their instances."""

    _dtype: dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls._dtype and x.layout is strided and not x.is_cuda

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        torch: Any = importlib.import_module("torchjit")

        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(cls._dtype)
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return torch.tensor(args[0], dtype=cls._dtype)
        shape = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
        return torch.empty(tuple(shape), dtype=cls._dtype) if args else torch.empty(0, dtype=cls._dtype)

    @property
    def dtype(cls) -> dtype:
        return cls._dtype

    def __str__(cls) -> str:
        return f"torch.{cls.__name__}"


class _DeviceTensorType(_TensorType):
    """The type of torch.cuda.FloatTensor and its like: tensors of one element type on CUDA devices."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls._dtype and x.layout is strided and x.is_cuda

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        _native.cuda_check()
        return super().__call__(*args).cuda(device)

    def __str__(cls) -> str:
        return f"torch.cuda.{cls.__name__}"


@functools.cache
def device_tensor_type(name: str) -> Any:
    """The class torch.cuda.NAME of a class torch.NAME."""
    return _DeviceTensorType(name, (), {"_dtype": globals()[name]._dtype, "__module__": "torch.cuda"})


for _name, _prefix in _NAMES.items():
    globals()[_prefix + "Storage"] = type(_prefix + "Storage", (TypedStorage,), {"_dtype": dtypes[_name], "__module__": "torch"})
    if not _prefix.startswith(("Q", "Complex")):
        globals()[_prefix + "Tensor"] = _TensorType(_prefix + "Tensor", (), {"_dtype": dtypes[_name], "__module__": "torch"})

Storage = TypedStorage
CLASSES = [prefix + kind for prefix in _NAMES.values() for kind in ("Storage", "Tensor") if prefix + kind in globals()]
DTYPE_OF_STORAGE = {prefix + "Storage": dtypes[name] for name, prefix in _NAMES.items()}
