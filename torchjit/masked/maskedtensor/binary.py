"""The operators on elements of two tensors that masked tensors have, by their names and as torch.ops has them."""

from torchjit import _native, ops
from torchjit.masked.maskedtensor import BINARY_NAMES as BINARY_NAMES

INPLACE_BINARY_NAMES = [name + "_" for name in BINARY_NAMES if _native.operator(f"aten::{name}_") is not None]
NATIVE_BINARY_FNS = [getattr(ops.aten, name) for name in BINARY_NAMES]
NATIVE_INPLACE_BINARY_FNS = [getattr(ops.aten, name) for name in INPLACE_BINARY_NAMES]
