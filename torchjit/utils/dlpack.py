"""torch.utils.dlpack: tensors as DLPack capsules."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit._creation import from_dlpack as from_dlpack
from torchjit._tensor import Tensor


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule over the tensor's memory, for one consumer.

    >>> x = torch.ones(2)
    >>> y = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    >>> y.add_(1); x
    tensor([2., 2.])
    tensor([2., 2.])
    """
    if _native.is_tracing():
        _native.trace_observe(tensor, "Converting a tensor to a DLPack capsule")
    return _native.to_dlpack(tensor)
