"""torch.types: names for annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Union

from torchjit import _lazy
from torchjit._tensor import Tensor
from torchjit._types import Size, layout, qscheme
from torchjit._types import device as _torch_device
from torchjit._types import dtype as _torch_dtype
from torchjit.storage import TypedStorage as Storage

__all__ = ["Device", "Number", "Storage"]

_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_dtype, _device, _qscheme, _layout = _torch_dtype, _torch_device, qscheme, layout

# ruff: noqa: UP007  # unions that programs look into
_size = Union[Size, list[int], tuple[int, ...]]
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
Number = Union[builtins.int, builtins.float, builtins.bool]
Device = Union[_torch_device, str, None]


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.export._symbolic": "SymInt"})
