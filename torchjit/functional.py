"""torch.functional: functions on tensors that are more than one operator.

They are compiled together with the programs that call them, so they keep to the language.
"""

from typing import Optional, Tuple

import torchjit as torch
from torchjit import Tensor, _native
from torchjit._jit_internal import boolean_dispatch
from torchjit.overrides import handle_torch_function, has_torch_function_unary, has_torch_function_variadic

# ruff: noqa: UP006, UP035, UP045, A002

_cdist = _native.operator("aten::cdist")
_consecutive = _native.operator("aten::unique_consecutive")


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance of each row of x1, [..., n, m], from each row of x2, [..., k, m]: [..., n, k].

    compute_mode says whether distances with p=2 come from a product of matrices: "use_mm_for_euclid_dist", which is fast and loses
    digits, "donot_use_mm_for_euclid_dist", or, for more than 25 rows, "use_mm_for_euclid_dist_if_necessary". ValueError for others.
    """
    if has_torch_function_variadic(x1, x2):
        return handle_torch_function(cdist, (x1, x2), x1, x2, p=p, compute_mode=compute_mode)
    if compute_mode == "use_mm_for_euclid_dist_if_necessary":
        return _cdist(x1, x2, p, None)
    elif compute_mode == "use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 1)
    elif compute_mode == "donot_use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 2)
    else:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")


def _unique_impl(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Optional[int] = None,
) -> Tuple[Tensor, Tensor, Tensor]:
    if has_torch_function_unary(input):
        return handle_torch_function(unique, (input,), input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    if dim is not None:
        output, inverse_indices, counts = torch.unique_dim(
            input, dim, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts
        )
    else:
        output, inverse_indices, counts = torch._unique2(
            input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts
        )
    return output, inverse_indices, counts


def _return_counts(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, bool, Optional[int]) -> Tuple[Tensor, Tensor]
    if has_torch_function_unary(input):
        return handle_torch_function(unique, (input,), input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, _, counts = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, counts


def _return_output(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, bool, Optional[int]) -> Tensor
    if has_torch_function_unary(input):
        return handle_torch_function(unique, (input,), input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, _, _ = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output


def _return_inverse(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, bool, Optional[int]) -> Tuple[Tensor, Tensor]
    if has_torch_function_unary(input):
        return handle_torch_function(unique, (input,), input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, inverse_indices, _ = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, inverse_indices


_return_inverse_false = boolean_dispatch(
    arg_name="return_counts", arg_index=3, default=False, if_true=_return_counts, if_false=_return_output,
    module_name=__name__, func_name="unique",
)  # fmt: skip
_return_inverse_true = boolean_dispatch(
    arg_name="return_counts", arg_index=3, default=False, if_true=_unique_impl, if_false=_return_inverse,
    module_name=__name__, func_name="unique",
)  # fmt: skip
unique = boolean_dispatch(
    arg_name="return_inverse", arg_index=2, default=False, if_true=_return_inverse_true, if_false=_return_inverse_false,
    module_name=__name__, func_name="unique",
)  # fmt: skip


def _unique_consecutive_impl(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Optional[int] = None,
) -> Tuple[Tensor, Tensor, Tensor]:
    if has_torch_function_unary(input):
        return handle_torch_function(unique_consecutive, (input,), input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, inverse_indices, counts = _consecutive(
        input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )
    return output, inverse_indices, counts


def _consecutive_return_counts(input, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, Optional[int]) -> Tuple[Tensor, Tensor]
    if has_torch_function_unary(input):
        return handle_torch_function(unique_consecutive, (input,), input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, _, counts = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output, counts


def _consecutive_return_output(input, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, Optional[int]) -> Tensor
    if has_torch_function_unary(input):
        return handle_torch_function(unique_consecutive, (input,), input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, _, _ = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output


def _consecutive_return_inverse(input, return_inverse=False, return_counts=False, dim=None):
    # type: (Tensor, bool, bool, Optional[int]) -> Tuple[Tensor, Tensor]
    if has_torch_function_unary(input):
        return handle_torch_function(unique_consecutive, (input,), input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    output, inverse_indices, _ = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output, inverse_indices


_consecutive_return_inverse_false = boolean_dispatch(
    arg_name="return_counts", arg_index=2, default=False, if_true=_consecutive_return_counts, if_false=_consecutive_return_output,
    module_name=__name__, func_name="unique_consecutive",
)  # fmt: skip
_consecutive_return_inverse_true = boolean_dispatch(
    arg_name="return_counts", arg_index=2, default=False, if_true=_unique_consecutive_impl, if_false=_consecutive_return_inverse,
    module_name=__name__, func_name="unique_consecutive",
)  # fmt: skip
unique_consecutive = boolean_dispatch(
    arg_name="return_inverse", arg_index=1, default=False, if_true=_consecutive_return_inverse_true, if_false=_consecutive_return_inverse_false,
    module_name=__name__, func_name="unique_consecutive",
)  # fmt: skip


def lu(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots) of matrices A (* x m x n), with get_infos (LU, pivots, infos).

    Raises RuntimeError where there is none and get_infos is false.
    """
    found = torch._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    factors, pivots, _ = found
    made = found if get_infos else (factors, pivots)
    if out is None:
        return made
    if len(out) != len(made):
        raise TypeError(f"expected tuple of {len(made)} elements but got {len(out)}")
    for into, tensor in zip(out, made):  # noqa: B905
        into.resize_as_(tensor).copy_(tensor)
    return out


_windows = _native.operator("aten::stft")


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: Optional[int] = None,
    win_length: Optional[int] = None,
    window: Optional[Tensor] = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Optional[bool] = None,
    return_complex: Optional[bool] = None,
) -> Tensor:
    """The Fourier transforms of windows of a signal: frequencies, then windows. With center, windows reach over both ends."""
    if has_torch_function_unary(input):
        return handle_torch_function(stft, (input,), input, n_fft, hop_length=hop_length, win_length=win_length, window=window, center=center, pad_mode=pad_mode, normalized=normalized, onesided=onesided, return_complex=return_complex)
    if center:
        rows = input.reshape([1, -1, input.size(-1)])
        rows = torch.nn.functional.pad(rows, [n_fft // 2, n_fft // 2], pad_mode)
        input = rows.reshape(input.shape[:-1] + rows.shape[-1:])
    return _windows(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)


# Functions that programs call by torch.name.
_TORCH_NAMES = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "chain_matmul", "einsum",
    "istft", "meshgrid", "norm", "split", "tensordot",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _TORCH_NAMES:
        return getattr(torch, name)
    raise AttributeError(f"module 'torch.functional' has no attribute '{name}'")
