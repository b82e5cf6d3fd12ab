"""The reductions that masked tensors have, by their names and as functions, methods and operators."""

import torchjit as torch
from torchjit import ops
from torchjit.masked.maskedtensor import REDUCE_NAMES as REDUCE_NAMES

NATIVE_REDUCE_FNS = [getattr(ops.aten, name) for name in REDUCE_NAMES]
TORCH_REDUCE_FNS = [getattr(torch, name) for name in REDUCE_NAMES]
TENSOR_REDUCE_FNS = [getattr(torch.Tensor, name) for name in REDUCE_NAMES]
