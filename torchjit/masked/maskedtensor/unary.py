"""The operators on elements of one tensor that masked tensors have, by their names and as torch.ops has them."""

from torchjit import _native, ops
from torchjit.masked.maskedtensor import UNARY_NAMES as UNARY_NAMES

INPLACE_UNARY_NAMES = [name + "_" for name in UNARY_NAMES if _native.operator(f"aten::{name}_") is not None]
NATIVE_UNARY_FNS = [getattr(ops.aten, name) for name in UNARY_NAMES]
NATIVE_INPLACE_UNARY_FNS = [getattr(ops.aten, name) for name in INPLACE_UNARY_NAMES]
