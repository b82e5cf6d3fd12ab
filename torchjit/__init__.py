"""torchjit: a TorchScript-compatible just-in-time compiler with PyTorch's Python interface.

`import torchjit as torch` runs TorchScript programs unchanged. Every operator of the library is a
function here: `torchjit.relu(x)` calls aten::relu. Submodules are loaded when first used.
"""

from __future__ import annotations

from typing import Any

from torchjit import _host as _host
from torchjit import _native
from torchjit._creation import as_tensor, asarray, from_dlpack, from_numpy, tensor
from torchjit._functions import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    chain_matmul,
    einsum,
    meshgrid,
    norm,
    tensordot,
)
from torchjit._settings import *  # noqa: F403
from torchjit._tensor import Tensor
from torchjit._types import (
    Generator,
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    dtype,
    dtypes,
    finfo,
    iinfo,
    layout,
    memory_format,
    preserve_format,
    strided,
)

__version__ = "1.13.1+torchjit0.1.0"

globals().update(dtypes)

# Names that live in submodules, which are loaded when the name is first used.
_ELSEWHERE = {
    name: "torchjit.autograd.grad_mode"
    for name in ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_grad_enabled")
}
_ELSEWHERE["save"] = _ELSEWHERE["load"] = "torchjit.serialization"
_STORAGE_NAMES = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
_ELSEWHERE.update({name + kind: "torchjit.storage" for name in _STORAGE_NAMES for kind in ("Tensor", "Storage")})
_ELSEWHERE.update({name: "torchjit.storage" for name in ("TypedStorage", "UntypedStorage")})
_ELSEWHERE["unique"] = _ELSEWHERE["unique_consecutive"] = "torchjit.functional"
_SUBMODULES = ("autograd", "backends", "cuda", "fft", "functional", "jit", "library", "linalg", "nn", "ops", "optim", "random", "serialization", "special", "storage", "testing", "utils", "_jit_internal", "_C")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        import importlib

        return importlib.import_module("torchjit." + name)
    if name in _ELSEWHERE:
        import importlib

        value = globals()[name] = getattr(importlib.import_module(_ELSEWHERE[name]), name)
        return value
    f = None if name.startswith("__") else _native.operator("aten::" + name)
    if f is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    globals()[name] = f
    return f


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_native.operator_names("aten")})
