"""op_db: all operators that tests go through, with element types and sample inputs, and parts of it."""

from __future__ import annotations

from typing import Any

from torchjit import _lazy
from torchjit.testing._dtypes import *  # noqa: F403
from torchjit.testing._internal._conditions import *  # noqa: F403
from torchjit.testing._internal.common_utils import GRADCHECK_NONDET_TOL as GRADCHECK_NONDET_TOL
from torchjit.testing._internal.opinfo import definitions as _definitions
from torchjit.testing._internal.opinfo.core import *  # noqa: F403
from torchjit.testing._internal.opinfo.core import XS as XS
from torchjit.testing._internal.opinfo.core import ForeachFuncInfo
from torchjit.testing._internal.opinfo.core import L as L
from torchjit.testing._internal.opinfo.core import M as M
from torchjit.testing._internal.opinfo.core import S as S
from torchjit.testing._internal.opinfo.core import SampleInput as SampleInput
from torchjit.testing._internal.opinfo.definitions.elementwise import binary_ufuncs as binary_ufuncs
from torchjit.testing._internal.opinfo.definitions.elementwise import unary_ufuncs as unary_ufuncs
from torchjit.testing._internal.opinfo.definitions.fft import spectral_funcs as spectral_funcs
from torchjit.testing._internal.opinfo.definitions.reductions import reduction_ops as reduction_ops
from torchjit.testing._internal.opinfo.definitions.shapes import shape_funcs as shape_funcs

op_db: list[Any] = [
    *_definitions.elementwise.op_db, *_definitions.reductions.op_db, *_definitions.shapes.op_db, *_definitions.nn.op_db, *_definitions.op_db,
]  # fmt: skip

python_ref_db: list[Any] = list(_definitions.python_ref_db)
ops_and_refs = op_db + python_ref_db
binary_ufuncs_and_refs = binary_ufuncs

reference_filtered_ops = [op for op in reduction_ops if op.ref is not None]
reference_masked_ops = [op for op in _definitions._masked.op_db if op.ref is not None]

foreach_unary_op_db = [ForeachFuncInfo(name) for name in (
    "exp", "acos", "asin", "atan", "cos", "cosh", "log", "log10", "log2", "tan", "tanh", "sin", "sinh", "neg", "sqrt", "ceil", "erf", "erfc", "expm1", "floor", "log1p",
    "round", "frac", "reciprocal", "sigmoid", "trunc", "abs",
)]  # fmt: skip
foreach_binary_op_db = [ForeachFuncInfo(name, supports_alpha_param=name in ("add", "sub")) for name in ("add", "sub", "mul", "div")]
foreach_pointwise_op_db = [ForeachFuncInfo(name) for name in ("addcmul", "addcdiv")]
foreach_minmax_op_db = [ForeachFuncInfo(name) for name in ("maximum", "minimum")]
foreach_reduce_op_db = [ForeachFuncInfo("norm")]


def mask_not_all_zeros(shape: Any) -> Any:
    """Random truth values, one of which is true at least."""
    import torchjit as torch

    assert len(shape) > 0
    while True:
        mask = torch.randn(shape).gt(0)
        if mask.sum() > 0:
            return mask


def _takes(op: Any, layout: str) -> bool:
    """Whether an operator of one tensor has a form for sparse tensors, found by a call."""
    import torchjit as torch

    x = torch.tensor([[0.0, 0.5], [0.25, 0.0]])
    try:
        return getattr(op.op(x.to_sparse() if layout == "coo" else x.to_sparse_csr()), "layout", torch.strided) is not torch.strided
    except (RuntimeError, NotImplementedError, TypeError):
        return False


def _mark_sparse() -> None:
    """Says of operators of one tensor which sparse layouts they take."""
    for op in unary_ufuncs:
        op.supports_sparse, op.supports_sparse_csr = _takes(op, "coo"), _takes(op, "csr")
    for op in _definitions._masked.op_db:
        if op.name in ("masked.sum", "masked.prod", "masked.amax", "masked.amin"):
            op.supports_sparse = True


_mark_sparse()
sparse_unary_ufuncs = [op for op in unary_ufuncs if op.supports_sparse]
sparse_csr_unary_ufuncs = [op for op in unary_ufuncs if op.supports_sparse_csr]
sparse_masked_reduction_ops = [op for op in _definitions._masked.op_db if op.supports_sparse]
sparse_reduction_ops = [op for op in (*reduction_ops, *_definitions._masked.op_db) if op.supports_sparse]


def wrapper_set_seed(op: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a random operator, which draws the same numbers each time."""
    from torchjit.testing._internal._contexts import freeze_rng_state
    from torchjit.testing._internal.common_utils import set_rng_seed

    with freeze_rng_state():
        set_rng_seed(42)
        return op(*args, **kwargs)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.testing._internal.common_cuda": "_get_torch_cuda_version with_tf32_off",
    "torchjit.testing._internal.common_device_type": """
        disablecuDNN onlyCUDA onlyNativeDeviceTypes precisionOverride skipCPUIfNoFFT skipCPUIfNoLapack skipCPUIfNoMklSparse skipCUDAIf
        skipCUDAIfNoCusolver skipCUDAIfNoMagma skipCUDAIfNoMagmaAndNoCusolver tol toleranceOverride
    """,
    "torchjit.testing._internal.common_utils": "freeze_rng_state make_fullrank_matrices_with_distinct_singular_values",
    "torchjit.testing._legacy": "_dispatch_dtypes",
    "torchjit.utils._pytree": "tree_flatten",
})  # fmt: skip
