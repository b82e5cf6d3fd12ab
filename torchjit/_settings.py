"""Settings of the process: gradients on or off, seeds, threads, default types."""

from __future__ import annotations

import math as _math
import sys
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit._types import Generator, dtype, dtype_of_class, dtypes

__all__ = [
    "default_generator", "e", "get_default_dtype", "inf", "initial_seed", "is_complex", "is_floating_point", "is_storage",
    "is_tensor", "get_rng_state", "set_rng_state", "manual_seed", "nan", "numel", "pi", "promote_types", "result_type", "can_cast", "seed", "set_default_dtype",
    "get_num_threads", "set_num_threads", "get_num_interop_threads", "set_num_interop_threads", "set_default_tensor_type",
    "use_deterministic_algorithms", "are_deterministic_algorithms_enabled", "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode", "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision",
    "set_flush_denormal", "is_anomaly_enabled", "is_anomaly_check_nan_enabled", "set_anomaly_enabled", "is_warn_always_enabled", "set_warn_always", "typename", "frombuffer", "from_file",
]  # fmt: skip

inf: float = _math.inf
nan: float = _math.nan
pi: float = _math.pi
e: float = _math.e
default_generator: Generator = _native.default_generator()


def manual_seed(seed: int) -> Generator:
    """Restarts the default stream of random numbers.

    >>> g = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Restarts the default stream of random numbers at a seed that differs from run to run, and returns that.

    >>> isinstance(torch.seed(), int)
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default stream of random numbers.

    >>> _ = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default stream: a tensor of 5056 bytes.

    >>> state = torch.get_rng_state()
    >>> a = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(a, torch.rand(2))
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continues the default stream from a state that get_rng_state gave.

    >>> state = torch.get_rng_state()
    >>> torch.set_rng_state(state)
    """
    default_generator.set_state(new_state)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor.

    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """Whether an object is memory of tensors, typed or not.

    >>> torch.is_storage(torch.ones(1).storage())
    True
    """
    storage = sys.modules.get("torchjit.storage")
    return storage is not None and isinstance(obj, storage._StorageBase)


def _asked(name: str, input: Any) -> Any:
    if not hasattr(input, name):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return getattr(input, name)()


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements of a tensor are floating-point numbers, complex ones not among them.

    >>> torch.is_floating_point(torch.ones(1)), torch.is_floating_point(torch.tensor([1]))
    (True, False)
    """
    return _asked("is_floating_point", input)


def is_complex(input: Tensor) -> bool:
    """Whether the elements of a tensor are complex numbers.

    >>> torch.is_complex(torch.ones(1, dtype=torch.complex64))
    True
    """
    return _asked("is_complex", input)


def numel(input: Tensor) -> int:
    """The number of elements of a tensor.

    >>> torch.numel(torch.zeros(2, 3))
    6
    """
    return _asked("numel", input)


def get_default_dtype() -> dtype:
    """The type that numbers with a point have in new tensors.

    >>> torch.get_default_dtype()
    torch.float32
    """
    return _native.default_dtype()


def _check_types(function: str, **types: Any) -> None:
    for i, (name, given) in enumerate(types.items()):
        if not isinstance(dtype_of_class.get(given, given), dtype):
            name = name.rstrip("_")
            message = f"{function}(): argument '{name}' (position {i + 1}) must be torch.dtype, not {type(given).__name__}"
            raise TypeError(message)


def set_default_dtype(d: dtype) -> None:
    """Sets the type that numbers with a point have in new tensors. Raises TypeError for types that are not floating-point.

    >>> torch.set_default_dtype(torch.float64)
    >>> torch.tensor([1.5]).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    _native.set_default_dtype(d)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest type that holds elements of both types.

    >>> torch.promote_types(torch.int64, torch.float32)
    torch.float32
    """
    _check_types("promote_types", type1=type1, type2=type2)
    return _native.promote_types(type1, type2)


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The type of the result of arithmetic with two tensors or numbers.

    >>> torch.result_type(torch.tensor([1, 2]), 1.5)
    torch.float32
    """
    found = _native.operator("aten::result_type")(tensor1, tensor2)
    return _dtype_of_code[found] if isinstance(found, int) else found  # what __torch_function__ of an argument gave


_dtype_of_code = {d.code: d for d in dtypes.values()}


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether elements of one type may become those of another: not complex numbers real, nor floating-point ones integers, nor what is no bool a bool.

    >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
    (True, False)
    """
    _check_types("can_cast", from_=from_, to=to)
    return _native.can_cast(from_, to)


def get_num_threads() -> int:
    """How many threads one operation may use.

    >>> torch.get_num_threads() >= 1
    True
    """
    return _native.num_threads()


def set_num_threads(n: int) -> None:
    """Changes how many threads one operation may use. Results do not depend on it.

    >>> torch.set_num_threads(torch.get_num_threads())
    """
    if not isinstance(n, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    _native.set_num_threads(n)


def get_num_interop_threads() -> int:
    """How many forked calls can run at once: as many as there are processors."""
    import os

    return os.cpu_count() or 1


def set_num_interop_threads(n: int) -> None:
    """Kept for old programs: forked calls are goroutines, of which there may be any number."""
    if not isinstance(n, int) or n < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def set_default_tensor_type(t: Any) -> None:
    """Sets the default type of elements by a class such as torch.DoubleTensor, or its name.

    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    if isinstance(t, str):
        from torchjit import storage

        t = getattr(storage, t.rsplit(".", 1)[-1], None)
    if not isinstance(getattr(t, "dtype", None), dtype):
        raise TypeError("invalid type object: expected a class of tensors such as torch.FloatTensor")
    set_default_dtype(t.dtype)


# Results never depend on the number of threads or on timing, but on CUDA devices: there convolutions are chosen that do not where it is asked for.
_deterministic = {"mode": False, "warn_only": False}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Has convolutions on CUDA devices be deterministic. On the processor all algorithms are.

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    if not isinstance(mode, bool):
        given = type(mode).__name__
        raise TypeError(f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {given}")
    _deterministic.update(mode=mode, warn_only=bool(warn_only))
    _native.cuda_set("deterministic_algorithms", mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms set."""
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether algorithms that are not deterministic only warn.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """Kept for old programs: "default", "warn" or "error", or their numbers."""
    names = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str) and debug_mode not in names:
        raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
    level = names[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(level != 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: whether algorithms must be deterministic, with a warning or an error where they are not.

    >>> torch.get_deterministic_debug_mode()
    0
    """
    return 0 if not _deterministic["mode"] else 1 if _deterministic["warn_only"] else 2


_precision = ["highest"]


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 on CUDA devices are: for "highest" they are computed in float32, else their factors may be rounded to TF32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    _precision[0] = precision
    _native.cuda_set("tf32_products", precision != "highest")


def get_float32_matmul_precision() -> str:
    """How products of float32 compute on CUDA devices: "highest", "high" or "medium".

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _precision[0]


def set_flush_denormal(mode: bool) -> bool:
    """Whether tiny numbers can be flushed to zero: they are not, so that this is False."""
    return False


def is_anomaly_enabled() -> bool:
    """Whether gradients are looked at for NaN."""
    return _native.detects_anomaly()


def is_anomaly_check_nan_enabled() -> bool:
    """Whether the search for anomalies looks for NaN."""
    return _native.detects_nan()


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    _native.set_detect_anomaly(bool(mode), check_nan)


_warn_always = [False]


def set_warn_always(b: bool) -> None:
    """Has warnings repeated that are otherwise given once.

    >>> torch.set_warn_always(False)
    """
    _warn_always[0] = bool(b)
    _native.set_warn_always(bool(b))


def is_warn_always_enabled() -> bool:
    """Whether warnings are repeated that are otherwise given once.

    >>> torch.is_warn_always_enabled()
    False
    """
    return _warn_always[0]


def typename(o: Any) -> str:
    """The name of an object's type, with its module unless that is builtins.

    >>> torch.typename(torch.ones(1)), torch.typename(1)
    ('torch.FloatTensor', 'int')
    """
    if isinstance(o, Tensor):
        return o.type()
    if isinstance(o, _native.Function):
        return f"torch._VariableFunctionsClass.{o.__name__}"
    cls = o if hasattr(o, "__qualname__") else type(o)
    module = getattr(cls, "__module__", "") or ""
    return cls.__qualname__ if module in ("builtins", "__builtin__", "") else f"{module}.{cls.__qualname__}"


def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of one dimension that shows the memory of a buffer, from a byte on.

    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    view = memoryview(buffer).cast("B")
    if view.nbytes == 0:
        raise ValueError("both buffer length (0) and count (-1) must not be 0")
    if not 0 <= offset < view.nbytes:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({view.nbytes} bytes) minus 1")
    rest = view.nbytes - offset
    if count < 0:
        if rest % dtype.itemsize:
            raise ValueError(f"buffer length ({view.nbytes - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({dtype.itemsize})")
        count = rest // dtype.itemsize
    if count == 0 or count * dtype.itemsize > rest:
        raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be greater than actual buffer length ({view.nbytes} bytes)")
    if view.readonly:
        from torchjit._creation import warn_of_reading

        warn_of_reading(
            "buffer", "This means you can write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer"
        )
    made = _native.tensor_from_buffer(view[offset : offset + count * dtype.itemsize]).view(dtype)
    return made.requires_grad_() if requires_grad else made


def from_file(filename: str, shared: bool | None = None, size: int = 0, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one dimension whose memory is a file's, mapped: its first size elements. See UntypedStorage.from_file."""
    from torchjit.storage import UntypedStorage

    kind = _native.default_dtype() if dtype is None else dtype
    made = UntypedStorage.from_file(filename, bool(shared), size * kind.itemsize)._bytes.view(kind)
    return made.requires_grad_() if requires_grad else made
