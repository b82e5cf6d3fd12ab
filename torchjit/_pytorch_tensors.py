"""Tensors of PyTorch itself, in a process that has both: they are taken as tensors over the same memory, by DLPack."""

from __future__ import annotations

import sys
from typing import Any

from torchjit import _native


def pytorch_tensor() -> type | None:
    """PyTorch's class Tensor, None where PyTorch is not imported."""
    module = sys.modules.get("torch")
    if module is None or module is sys.modules["torchjit"]:
        return None
    return getattr(module, "Tensor", None)


def of_pytorch(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch's."""
    kind = pytorch_tensor()
    return kind is not None and isinstance(value, kind)


def converted(value: Any) -> Any:
    """The value with tensors over the memory of PyTorch's in the place of these, also in lists, tuples and dictionaries."""
    if of_pytorch(value):
        return over_memory(value)
    if type(value) in (list, tuple):
        return type(value)(map(converted, value))
    if type(value) is dict:
        return {key: converted(item) for key, item in value.items()}
    return value


def over_memory(tensor: Any) -> Any:
    """A tensor over the memory of one of PyTorch's. Raises RuntimeError for one that PyTorch is to give gradients, which it could not."""
    if tensor.requires_grad and _native.grad_enabled():
        raise RuntimeError(
            "found a tensor of PyTorch that requires gradients, which do not flow through torchjit: pass tensor.detach(), or call this under torchjit.no_grad()"
        )
    return data_of(tensor)


def data_of(value: Any) -> Any:
    """The value, or a tensor over the memory of one of PyTorch's, whatever gradients that one has."""
    if not of_pytorch(value):
        return value
    plain = value.detach().resolve_conj().resolve_neg()
    if str(plain.dtype) == "torch.bool":  # DLPack had no truths when PyTorch 1.13 was made
        return _native.tensor_from_dlpack(plain.view(sys.modules["torch"].uint8).__dlpack__()).view(sys.modules["torchjit"].bool)
    return _native.tensor_from_dlpack(plain.__dlpack__())


def is_pytorchs(function: Any) -> bool:
    """Whether a function is PyTorch's, which calls __torch_function__ of what it does not know."""
    if pytorch_tensor() is None:
        return False
    for owner in (function, getattr(function, "__objclass__", None), getattr(function, "__self__", None)):
        module = getattr(owner, "__module__", None)
        if isinstance(module, str):
            return module.partition(".")[0] == "torch"
    return False
