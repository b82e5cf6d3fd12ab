"""torch.functional: functions on tensors that are more than one operator.

They are compiled together with the programs that call them, so they keep to the language.
"""

from typing import List, Optional, Tuple

import torchjit as torch
from torchjit import Tensor, _functions, _lazy, _native
from torchjit._jit_internal import _overload, boolean_dispatch, is_scripting
from torchjit._lowrank import pca_lowrank as pca_lowrank
from torchjit._lowrank import svd_lowrank as svd_lowrank
from torchjit._native import has_torch_function_unary, has_torch_function_variadic
from torchjit._override import handle_torch_function

# ruff: noqa: UP006, UP035, UP045, A002

_cdist = _native.operator("aten::cdist")
_norm = _native.operator("aten::norm")
_frobenius_norm = _native.operator("aten::frobenius_norm")
_nuclear_norm = _native.operator("aten::nuclear_norm")
_tensordot = _native.operator("aten::tensordot")
_consecutive = _native.operator("aten::unique_consecutive")


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance of each row of x1, [..., n, m], from each row of x2, [..., k, m]: [..., n, k].

    compute_mode says whether distances with p=2 come from a product of matrices: "use_mm_for_euclid_dist", which is fast and loses
    digits, "donot_use_mm_for_euclid_dist", or, for more than 25 rows, "use_mm_for_euclid_dist_if_necessary". ValueError for others.

    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
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
    """The elements, or the parts along dim, each once, sorted; with the places and counts that are asked for.

    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
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
    """The elements, or the parts along dim, without repetitions of the one before; with the places and counts that are asked for.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]), return_counts=True)
    (tensor([1, 2, 1]), tensor([2, 2, 1]))
    """
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


def _lu_size(made: int, given: int):
    if given != made:
        raise TypeError(f"expected tuple of {made} elements but got {given}")


def _lu_with_infos(A, pivot=True, get_infos=False, out=None):
    # type: (Tensor, bool, bool, Optional[Tuple[Tensor, Tensor, Tensor]]) -> Tuple[Tensor, Tensor, Tensor]
    if has_torch_function_unary(A):
        return handle_torch_function(lu, (A,), A, pivot=pivot, get_infos=get_infos, out=out)
    result = torch._lu_with_info(A, pivot=pivot, check_errors=(not get_infos))
    if out is not None:
        _lu_size(3, len(out))
        for i in range(len(out)):
            out[i].resize_as_(result[i]).copy_(result[i])
        return out
    else:
        return result


def _lu_no_infos(A, pivot=True, get_infos=False, out=None):
    # type: (Tensor, bool, bool, Optional[Tuple[Tensor, Tensor]]) -> Tuple[Tensor, Tensor]
    if has_torch_function_unary(A):
        return handle_torch_function(lu, (A,), A, pivot=pivot, get_infos=get_infos, out=out)
    result = torch._lu_with_info(A, pivot=pivot, check_errors=(not get_infos))
    if out is not None:
        _lu_size(2, len(out))
        for i in range(len(out)):
            out[i].resize_as_(result[i]).copy_(result[i])
        return out
    else:
        return result[0], result[1]


lu = boolean_dispatch(
    arg_name="get_infos", arg_index=2, default=False, if_true=_lu_with_infos, if_false=_lu_no_infos, module_name=__name__, func_name="lu",
)  # fmt: skip
lu.__doc__ = """(LU, pivots) of matrices A (* x m x n), with get_infos (LU, pivots, infos).

Raises RuntimeError where there is none and get_infos is false.
"""


# The types that a program may give the same arguments.
@_overload
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    # type: (Tensor, str, Optional[List[int]], bool, Optional[Tensor], Optional[int]) -> Tensor
    pass


@_overload
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    # type: (Tensor, Optional[number], Optional[List[int]], bool, Optional[Tensor], Optional[int]) -> Tensor
    pass


@_overload
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    # type: (Tensor, Optional[number], Optional[int], bool, Optional[Tensor], Optional[int]) -> Tensor
    pass


@_overload
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    # type: (Tensor, str, Optional[int], bool, Optional[Tensor], Optional[int]) -> Tensor
    pass


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of vectors or matrices over dimensions of input, over all of them where dim is None.

    p is the order of the vector norm, "fro" for the root of the sum of squares or "nuc" for the sum of
    the singular values of matrices. Raises RuntimeError for another string and for a tensor of integers.

    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if has_torch_function_unary(input):
        return handle_torch_function(norm, (input,), input, p=p, dim=dim, keepdim=keepdim, out=out, dtype=dtype)
    if not is_scripting():
        return _functions.norm(input, p, dim, keepdim, out, dtype)
    ndim = input.dim()
    if dim is None and out is None and dtype is None and p is not None:
        if isinstance(p, str):
            if p == "fro":
                return _frobenius_norm(input, [], keepdim=keepdim)
        if not isinstance(p, str):
            _dim = [i for i in range(ndim)]
            return _norm(input, p, dim=_dim, keepdim=keepdim)
    if dim is not None:
        if isinstance(dim, int):
            _dim = [dim]
        else:
            _dim = dim
    else:
        _dim = None
    if isinstance(p, str):
        if p == "fro":
            if dtype is not None:
                raise ValueError("dtype argument is not supported in frobenius norm")
            if _dim is None:
                _dim = list(range(ndim))
            if out is None:
                return _frobenius_norm(input, _dim, keepdim=keepdim)
            else:
                return _frobenius_norm(input, _dim, keepdim=keepdim, out=out)
        elif p == "nuc":
            if dtype is not None:
                raise ValueError("dtype argument is not supported in nuclear norm")
            if _dim is None:
                if out is None:
                    return _nuclear_norm(input, keepdim=keepdim)
                else:
                    return _nuclear_norm(input, keepdim=keepdim, out=out)
            else:
                if out is None:
                    return _nuclear_norm(input, _dim, keepdim=keepdim)
                else:
                    return _nuclear_norm(input, _dim, keepdim=keepdim, out=out)
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    else:
        if _dim is None:
            _dim = list(range(ndim))
        if out is None:
            if dtype is None:
                return _norm(input, p, _dim, keepdim=keepdim)
            else:
                return _norm(input, p, _dim, keepdim=keepdim, dtype=dtype)
        else:
            if dtype is None:
                return _norm(input, p, _dim, keepdim=keepdim, out=out)
            else:
                return _norm(input, p, _dim, keepdim=keepdim, dtype=dtype, out=out)


@_overload
def tensordot(a, b, dims=2, out=None):
    # type: (Tensor, Tensor, int, Optional[Tensor]) -> Tensor
    pass


@_overload
def tensordot(a, b, dims=2, out=None):
    # type: (Tensor, Tensor, Tuple[List[int], List[int]], Optional[Tensor]) -> Tensor
    pass


@_overload
def tensordot(a, b, dims=2, out=None):
    # type: (Tensor, Tensor, List[List[int]], Optional[Tensor]) -> Tensor
    pass


@_overload
def tensordot(a, b, dims=2, out=None):
    # type: (Tensor, Tensor, Tensor, Optional[Tensor]) -> Tensor
    pass


def tensordot(a, b, dims=2, out=None):
    """The sum of products over dimensions of a and b.

    dims is the number of last dimensions of a and first ones of b, or the dimensions of a and of b.

    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    if has_torch_function_variadic(a, b):
        return handle_torch_function(tensordot, (a, b), a, b, dims=dims, out=out)
    if not is_scripting():
        return _functions.tensordot(a, b, dims, out)
    dims_a: List[int] = []
    dims_b: List[int] = []
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = dims
    if isinstance(dims, torch.Tensor):
        if dims.numel() > 1:
            dims_a = torch.jit.annotate(List[int], dims[0].tolist())
            dims_b = torch.jit.annotate(List[int], dims[1].tolist())
        else:
            dims_val = int(dims.item())
            if dims_val < 0:
                raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
            dims_a = list(range(-dims_val, 0))
            dims_b = list(range(dims_val))
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims_a = list(range(-dims, 0))
        dims_b = list(range(dims))
    if out is None:
        return _tensordot(a, b, dims_a, dims_b)
    else:
        return _tensordot(a, b, dims_a, dims_b, out=out)


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
    """The Fourier transforms of windows of a signal: frequencies, then windows. With center, windows reach over both ends.

    >>> torch.stft(torch.ones(64), n_fft=16, return_complex=True).shape
    torch.Size([9, 17])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(stft, (input,), input, n_fft, hop_length=hop_length, win_length=win_length, window=window, center=center, pad_mode=pad_mode, normalized=normalized, onesided=onesided, return_complex=return_complex)
    if center:
        rows = input.reshape([1, -1, input.size(-1)])
        rows = torch.nn.functional.pad(rows, [n_fft // 2, n_fft // 2], pad_mode)
        input = rows.reshape(input.shape[:-1] + rows.shape[-1:])
    return _windows(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)


def align_tensors(*tensors):
    """Raises RuntimeError: PyTorch has the name, and nothing behind it. See Tensor.align_to."""
    raise RuntimeError("`align_tensors` not yet implemented.")


# Functions that programs call by torch.name.
_TORCH_NAMES = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "chain_matmul", "einsum",
    "istft", "meshgrid", "split",
)  # fmt: skip
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": " ".join(("_VF", *_TORCH_NAMES)),
    "torchjit.overrides": "has_torch_function",
    "torchjit.backends": "opt_einsum",
    "torchjit.nn": "F=functional",
})  # fmt: skip
