"""torch.masked: reductions, cumulations and normalizations over the elements that a mask chooses.

A mask is a tensor of bools that broadcasts to the input; where it is false, the input's elements do not count. Without a mask all
count. A reduction over no element gives its identity (0, 1, an infinity), or NaN where it has none.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit import Tensor
from torchjit.masked._ops import _combine_input_and_mask as _combine_input_and_mask
from torchjit.masked._ops import _input_mask
from torchjit.masked._ops import _output_mask as _output_mask
from torchjit.masked._ops import _reduction_identity as _reduction_identity

Dims = int | Sequence[int] | None

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip


def _canonical_dim(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions in order, from 0; all of them for None. Raises RuntimeError for one that comes twice, IndexError for one that is not there."""
    if dim == ():
        dim = None
    if dim is None:
        return tuple(range(ndim))
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else tuple(dim):
        low = max(ndim, 1)
        if not -low <= d < low:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-low}, {low - 1}], but got {d})")
        d %= low
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(d)
    return tuple(sorted(found))


def _filled(input: Tensor, mask: Tensor | None, identity: Any) -> Tensor:
    """The input with a number, or a tensor that broadcasts to it, in the place of what does not count."""
    if mask is None:
        return input
    return torch.where(_input_mask(input, mask=mask), input, torch.as_tensor(identity, dtype=input.dtype, device=input.device))


def _lowest(dtype: torch.dtype) -> float:
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float:
    return float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max


def _integers(input: Tensor) -> bool:
    return not input.is_floating_point() and not input.is_complex()


def sum(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The sum over dimensions. Integers and bools are added up as int64 where dtype is None."""
    if dtype is None:
        dtype = torch.int64 if _integers(input) else input.dtype
    dims = _canonical_dim(dim, input.ndim)
    return torch.sum(_filled(input, mask, 0), dims, bool(keepdim), dtype=dtype)


def prod(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The product over dimensions. Integers and bools are multiplied as int64 where dtype is None."""
    if dtype is None:
        dtype = torch.int64 if _integers(input) else input.dtype
    result = _filled(input, mask, 1).to(dtype)
    for d in reversed(_canonical_dim(dim, input.ndim)):
        result = result.prod(dim=d, keepdim=bool(keepdim))
    return result


def cumsum(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The sums of the elements up to each place of a dimension."""
    return torch.cumsum(_filled(input, mask, 0), _canonical_dim(dim, input.ndim)[0], dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The products of the elements up to each place of a dimension."""
    return torch.cumprod(_filled(input, mask, 1), _canonical_dim(dim, input.ndim)[0], dtype=dtype or input.dtype)


def amax(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The largest element over dimensions."""
    taken = input if dtype is None else input.to(dtype)
    return torch.amax(_filled(taken, mask, _lowest(taken.dtype)), _canonical_dim(dim, input.ndim), bool(keepdim))


def amin(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The smallest element over dimensions."""
    taken = input if dtype is None else input.to(dtype)
    return torch.amin(_filled(taken, mask, _highest(taken.dtype)), _canonical_dim(dim, input.ndim), bool(keepdim))


def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The place of the largest element over a dimension, or over all, as a number of the type that is compared."""
    taken = input if dtype is None else input.to(dtype)
    return torch.argmax(_filled(taken, mask, _lowest(taken.dtype)), dim, bool(keepdim)).to(taken.dtype)


def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The place of the smallest element over a dimension, or over all, as a number of the type that is compared."""
    taken = input if dtype is None else input.to(dtype)
    return torch.argmin(_filled(taken, mask, _highest(taken.dtype)), dim, bool(keepdim)).to(taken.dtype)


def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The mean over dimensions, NaN of no element; of integers a number of the default type where dtype is None."""
    if dtype is None:
        dtype = torch.get_default_dtype() if _integers(input) else input.dtype
    dims = _canonical_dim(dim, input.ndim)
    if mask is None:
        return torch.mean(input, dims, bool(keepdim), dtype=dtype)
    count = torch.sum(_input_mask(input, mask=mask), dims, bool(keepdim))
    return sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask) / count


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The median over a dimension: of an even number of elements the smaller of the middle ones, NaN of none."""
    taken = input if dtype is None else input.to(dtype)
    d = _canonical_dim(dim, input.ndim)[0]
    if not taken.is_floating_point():
        raise ValueError("input must be a tensor of floating-point numbers")
    if mask is None:
        return torch.median(taken, d, bool(keepdim)).values
    if bool((taken.isnan() & _input_mask(taken, mask=mask)).any()):
        raise ValueError("masked.median expects no NaNs among the elements that count")
    return torch.nanmedian(_filled(taken, mask, float("nan")), d, bool(keepdim)).values


def logsumexp(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of the exponentials over dimensions."""
    taken = input if dtype is None else input.to(dtype)
    return torch.logsumexp(_filled(taken, mask, _lowest(taken.dtype)), _canonical_dim(dim, input.ndim), bool(keepdim)).to(taken.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: torch.dtype | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None
) -> Tensor:
    """The logarithm of exp(input) + exp(other), each with a mask of its own."""
    if dtype is not None:
        input, other = input.to(dtype), other.to(dtype)
    return torch.logaddexp(_filled(input, input_mask, float("-inf")), _filled(other, other_mask, float("-inf")))


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The vector norm of an order over dimensions."""
    order = 2.0 if ord is None else float(ord)
    identity = float("inf") if order < 0 else 0.0
    taken = _filled(input if dtype is None else input.to(dtype), mask, identity)
    return torch.linalg.vector_norm(taken, order, _canonical_dim(dim, input.ndim), bool(keepdim), dtype=dtype)


def _spread(
    input: Tensor, dim: Dims, unbiased: bool | None, keepdim: bool | None, dtype: torch.dtype | None, mask: Tensor | None, root: bool
) -> Tensor:
    if dtype is None:
        dtype = input.dtype if not _integers(input) else torch.float32
    taken = input.to(dtype) if _integers(input) else input
    dims = _canonical_dim(dim, input.ndim)
    if mask is None:
        return (torch.std if root else torch.var)(taken.to(dtype), dims, unbiased=bool(unbiased), keepdim=bool(keepdim)).to(dtype)
    chosen = _input_mask(input, mask=mask)
    count = torch.sum(chosen, dims, True)
    center = torch.divide(sum(taken, dims, keepdim=True, mask=mask), count)
    gaps = taken - center
    total = sum((gaps * gaps.conj()).real if gaps.is_complex() else gaps * gaps, dims, keepdim=bool(keepdim), mask=mask)
    count = count.reshape(total.shape)
    if unbiased:
        count = torch.clamp(count - 1, min=0)
    result = torch.divide(total, count)
    return (torch.sqrt(result) if root else result).to(dtype)


def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = False, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The variance over dimensions: the squares' mean, or with unbiased their sum over one less than their number."""
    return _spread(input, dim, unbiased, keepdim, dtype, mask, False)


def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = False, *, keepdim: bool = False, dtype: torch.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The root of the variance over dimensions."""
    return _spread(input, dim, unbiased, keepdim, dtype, mask, True)


def softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The exponentials over their sum along a dimension; zero, or NaN beside no others, where an element does not count."""
    d = _canonical_dim(dim, input.ndim)[0]
    return torch.nn.functional.softmax(_filled(input, mask, _lowest(input.dtype)), d, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of softmax."""
    d = _canonical_dim(dim, input.ndim)[0]
    return torch.nn.functional.log_softmax(_filled(input, mask, _lowest(input.dtype)), d, dtype=dtype)


def softmin(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """softmax of the negated input."""
    d = _canonical_dim(dim, input.ndim)[0]
    return torch.nn.functional.softmin(_filled(input, mask, _highest(input.dtype)), d, dtype=dtype)


def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The elements over their norm along a dimension, which is taken to be at least eps; zero where an element does not count."""
    d = _canonical_dim(dim, input.ndim)[0]
    taken = _filled(input if dtype is None else input.to(dtype), mask, 0)
    length = norm(input, ord, d, keepdim=True, dtype=dtype, mask=mask)
    return torch.divide(taken, torch.maximum(length, torch.full([], eps, dtype=length.dtype, device=length.device)))


def _of_masked(f: Any) -> Any:
    """A function of tensors that takes masked tensors too, with their masks."""

    @functools.wraps(f)
    def taking(input: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(input, MaskedTensor) and kwargs.get("mask") is None:
            kwargs["mask"], input = input.get_mask(), input.get_data()
        return f(input, *args, **kwargs)

    return taking


from torchjit.masked.maskedtensor import (  # noqa: E402
    MaskedTensor,
    as_masked_tensor,
    is_masked_tensor,
    masked_tensor,
)

for _name in __all__:
    if _name != "logaddexp":
        globals()[_name] = _of_masked(globals()[_name])
__all__ += ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
