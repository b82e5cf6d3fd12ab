"""torch._utils: small functions on lists of tensors, and errors that come from elsewhere."""

from __future__ import annotations

import importlib
import operator
import sys
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torchjit as torch


def _import_dotted_name(name: str) -> Any:
    """What a dotted name stands for, whose first part is a module."""
    first, *rest = name.split(".")
    found = importlib.import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def _accumulate(iterable: Iterable[Any], fn: Callable[[Any, Any], Any] = operator.add) -> Iterator[Any]:
    """The sums of the first one, two and so on items, or what fn makes of sums and items."""
    items = iter(iterable)
    for total in items:
        yield total
        for item in items:
            total = fn(total, item)
            yield total


def _flatten_dense_tensors(tensors: Any) -> Any:
    """The elements of tensors of one type in a row."""
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    return torch.cat([t.contiguous().view(-1) for t in tensors], dim=0)


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """Views of a row of elements with the shapes of tensors."""
    made, at = [], 0
    for t in tensors:
        made.append(flat.narrow(0, at, t.numel()).view(t.size()) if t.numel() else torch.empty(t.size(), dtype=flat.dtype))
        at += t.numel()
    return tuple(made)


def _reorder_tensors_as(tensors: Any, ordered_tensors: Any) -> tuple[Any, ...]:
    """Tensors in the order in which others of their types stand."""
    by_type = defaultdict(list)
    for t in tensors:
        by_type[t.type()].append(t)
    each = {kind: iter(found) for kind, found in by_type.items()}
    return tuple(next(each[t.type()]) for t in ordered_tensors)


def _take_tensors(tensors: Any, size_limit: int) -> Iterator[list[Any]]:
    """Groups of tensors of one type, each of at least size_limit bytes but for the last ones."""
    groups: dict[str, tuple[list[Any], int]] = {}
    for t in tensors:
        kind, size = t.type(), t.numel() * t.element_size()
        held, total = groups.get(kind, ([], 0))
        if total + size > size_limit and total > 0:
            yield held
            held, total = [], 0
        groups[kind] = ([*held, t], total + size)
    for held, _ in groups.values():
        if held:
            yield held


def annotate(ret: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that gives a function annotations."""

    def decorate(fun: Any) -> Any:
        fun.__annotations__ = {**kwargs, "return": ret}
        return fun

    return decorate


class KeyErrorMessage(str):
    """The text of a KeyError that prints as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception with its traceback as text, which can be sent to another thread or process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, value, tb = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, value, tb))
        self.where = where

    def reraise(self) -> None:
        """Raises the exception here, its text being the traceback of where it was raised first."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except TypeError:
            raise RuntimeError(text) from None
        raise error


class classproperty:  # noqa: N801
    """A property of a class."""

    def __init__(self, func: Any) -> None:
        self.fget = func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.fget.__get__(None, owner if owner is not None else type(instance))()


def _handle_complex(tensor: Any) -> Any:
    """A complex tensor as one of pairs of numbers; another one as it is."""
    return torch.view_as_real(tensor) if not isinstance(tensor, torch.nn.UninitializedParameter) and tensor.is_complex() else tensor


def _element_size(dtype: Any) -> int:
    """The number of bytes of an element. Raises RuntimeError for what is no element type."""
    if not isinstance(dtype, torch.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


# What pickles of tensors call. Their arguments are checked as those of a file are.


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    """The tensor of a size and strides over a storage, from an element on."""
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def _rebuild_tensor_v2(storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, metadata: Any = None) -> Any:
    """The tensor of a size and strides over a storage, from an element on, which may need a gradient."""
    from torchjit import serialization

    return serialization._rebuild_tensor(storage, storage_offset, tuple(size), tuple(stride), requires_grad, backward_hooks, metadata)


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """The parameter over a tensor."""
    from torchjit import serialization

    return serialization._rebuild_parameter(data, requires_grad, backward_hooks)


def _rebuild_qtensor(storage: Any, storage_offset: int, size: Any, stride: Any, quantizer_params: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """The quantized tensor of a size and strides over a storage, from an element on."""
    from torchjit import serialization

    return serialization._rebuild_qtensor(storage, storage_offset, tuple(size), tuple(stride), quantizer_params, requires_grad, backward_hooks)


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    """The sparse tensor of a layout that is made of parts and a size."""
    from torchjit import serialization

    *parts, size = data
    return serialization._rebuild_sparse(layout, (*parts, tuple(size)))


_rebuild_sparse_csr_tensor = _rebuild_sparse_tensor


def _flatten_sparse_tensors(tensors: Any) -> tuple[Any, Any]:
    """The indices of sparse tensors in a row, and their values."""
    return _flatten_dense_tensors([t._indices() for t in tensors]), _flatten_dense_tensors([t._values() for t in tensors])


def _unflatten_sparse_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """Sparse tensors of indices and values in two rows, with the shapes of others."""
    indices = _unflatten_dense_tensors(flat[0], [t._indices() for t in tensors])
    values = _unflatten_dense_tensors(flat[1], [t._values() for t in tensors])
    return tuple(torch.sparse_coo_tensor(i, v, t.size()) for t, i, v in zip(tensors, indices, values, strict=True))


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> Any:
    """The number of a device: -1 for the CPU, which must be allowed. Raises ValueError for a device without one, unless that is optional."""
    device = torch.device(device) if isinstance(device, str) else device
    number = device if isinstance(device, int) else None
    if isinstance(device, torch.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        number = -1 if device.type == "cpu" else device.index
    if number is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    if number is None and torch.cuda.is_available():
        return torch.cuda.current_device()
    return number


def _type(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The name of the class of a tensor or a storage, or its numbers as another type."""
    if dtype is None:
        return f"{type(self).__module__}.{type(self).__name__}".replace("torchjit", "torch", 1)
    return self.type(dtype, non_blocking)


def _cuda(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """A tensor or a storage on a GPU."""
    return self.cuda(device, _get_async_or_non_blocking("cuda", non_blocking, kwargs))


def _get_async_or_non_blocking(function_name: str, non_blocking: bool, kwargs: dict[str, Any]) -> bool:
    """The value of non_blocking, which may be given as `async`, its former name. Raises TypeError for other arguments."""
    if not kwargs:
        return non_blocking
    if len(kwargs) != 1 or "async" not in kwargs:
        name = next(iter(kwargs)) if "async" not in kwargs else next(k for k in kwargs if k != "async")
        raise TypeError(f"{function_name}() got an unexpected keyword argument '{name}'")
    warnings.warn("'async' is deprecated; use 'non_blocking'", stacklevel=2)
    return bool(kwargs["async"])


def _get_available_device_type() -> str | None:
    """The kind of the devices besides the CPU, None where there are none."""
    return "cuda" if torch.cuda.is_available() else None


def _get_device_attr(get_member: Callable[[Any], Any]) -> Any:
    """What a function gives of the module of the devices besides the CPU, None where there are none."""
    return get_member(torch.cuda) if torch.cuda.is_available() else None


def _get_current_device_index() -> int | None:
    """The number of the current device, None where there is none."""
    return _get_device_attr(lambda module: module.current_device())


def _get_all_device_indices() -> list[int] | None:
    """The numbers of the devices, None where there are none."""
    return _get_device_attr(lambda module: list(range(module.device_count())))


def _get_devices_properties(device_ids: Iterable[int]) -> list[Any]:
    """The properties of devices."""

    def of(i: int) -> Any:
        return _get_device_attr(lambda module: module.get_device_properties(i))

    return [of(i) for i in device_ids]


def get_current_device_index() -> int:
    """The number of the current GPU, -1 where there is none."""
    return torch.cuda.current_device() if torch.cuda.device_count() > 0 else -1


def _rebuild_device_tensor_from_numpy(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """A tensor on a device with the numbers of an array."""
    return torch.from_numpy(data).to(dtype=dtype, device=device).requires_grad_(requires_grad)


_rebuild_xla_tensor = _rebuild_device_tensor_from_numpy


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A tensor on the device meta."""
    return torch.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)
