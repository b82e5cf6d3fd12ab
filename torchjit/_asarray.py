"""torch.asarray: the memory of tensors, storages, arrays and buffers as tensors."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit._creation import _from, _require_grad, _traced, from_dlpack, warn_of_constant
from torchjit._tensor import _TENSOR_CLASSES, Tensor
from torchjit._types import dtype


def asarray(obj: Any, *, dtype: dtype | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """The object as a tensor that shows its memory where it has some: a tensor, storage, array, DLPack capsule or buffer.

    A buffer is read as elements of dtype, or of the default type. With copy the memory is a new one; where copy is False and
    no memory can be shared, ValueError is raised.

    >>> torch.asarray([1, 2], dtype=torch.float32)
    tensor([1., 2.])
    """
    if _native.is_tracing():
        warn_of_constant("torch.as_tensor")
        return _traced("torch.as_tensor", obj, dtype, requires_grad)
    shown = _shown(obj, dtype)
    if shown is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = _from(obj, dtype)
    else:
        made = shown.detach() if isinstance(obj, Tensor) and not (requires_grad or copy) else shown
        if dtype is not None and dtype is not shown.dtype:
            if copy is False:
                names = [_TENSOR_CLASSES[d.name].removesuffix("Tensor") for d in (shown.dtype, dtype)]
                raise ValueError(f"can't alias tensor with dtype '{names[0]}' into dtype '{names[1]}'.")
            made = made.to(dtype)
        elif copy:
            made = made.clone()
        if isinstance(obj, Tensor) and not requires_grad:
            made = made.detach()
    if device is not None:
        made = made.to(device)
    if requires_grad and not made.requires_grad:
        _require_grad(made)
    return made


def _shown(obj: Any, dtype: dtype | None) -> Tensor | None:
    """A tensor over the memory of the object, None where it is a sequence or a number."""
    from torchjit._settings import frombuffer
    from torchjit.storage import UntypedStorage, _StorageBase

    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, _StorageBase):
        return None if isinstance(obj, UntypedStorage) and dtype is None else obj._tensor()
    if type(obj).__name__ == "ndarray":
        return _native.tensor_from_buffer(obj)
    if hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=_native.default_dtype() if dtype is None else dtype)
