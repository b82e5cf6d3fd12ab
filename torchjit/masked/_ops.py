"""Masks and identities of masked operators, which their tests and tensors with masks ask for."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import Tensor, _native

_REDUCTIONS = {"sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var", "std", "logsumexp"}
_ALONG = {"normalization", "cumulation"}  # these give an element for each of the input
_NORMALIZATIONS = {name for name, kind in _native.operators_with("masked").items() if kind in _ALONG} | {"softmin", "normalize"}
_LARGEST, _SMALLEST = {"amax", "argmax", "logsumexp"}, {"amin", "argmin"}


def _input_mask(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The argument mask of a masked operator as bools with the shape of the input.

    Raises ValueError where there is none, IndexError where it has more dimensions than the input.
    """
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return torch.broadcast_to(mask.clone(), input.shape).to(dtype=torch.bool)


def _output_mask(op: Any, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Which elements of the result of a masked operator come from an element that counts. Raises ValueError for other operators."""
    if not callable(op):
        raise ValueError(f"_output_mask expected masked operation (got {type(op).__name__} object)")
    name = op.__name__
    if name in _NORMALIZATIONS:
        return _input_mask(input, *args, **kwargs)
    if name not in _REDUCTIONS:
        raise ValueError(f"_output_mask expected masked operation (got callable {op.__module__}.{name})")
    from torchjit.masked import _canonical_dim

    if name == "norm":
        args = args[1:] or args[:0]  # the order comes first
    dim = args[0] if args else kwargs.get("dim")
    found = _input_mask(input, **kwargs)
    keepdim = bool(kwargs.get("keepdim", False))
    for d in reversed(_canonical_dim(dim, input.ndim)):
        found = torch.any(found, d, keepdim) if found.ndim else found
    return found


def _reduction_identity(op_name: str, input: Tensor, *args: Any) -> Tensor | None:
    """What a masked operator reduces no element of the input to, None where that is nothing. Raises NotImplementedError for other operators."""
    dtype, device = input.dtype, input.device
    name = op_name.rsplit(".", 1)[-1]
    if name in ("sum", "cumsum"):
        return torch.tensor(0, dtype=dtype, device=device)
    if name in ("prod", "cumprod"):
        return torch.tensor(1, dtype=dtype, device=device)
    if name in _LARGEST | _SMALLEST and dtype != torch.bool:
        if dtype.is_floating_point:
            return torch.tensor(float("-inf") if name in _LARGEST else float("inf"), dtype=dtype, device=device)
        limits = torch.iinfo(dtype)
        return torch.tensor(limits.min if name in _LARGEST else limits.max, dtype=dtype, device=device)
    if name in ("mean", "var", "std"):
        return None
    if name == "median":
        return torch.tensor(float("nan"), dtype=dtype if dtype.is_floating_point else torch.float, device=device)
    if name == "norm":
        assert dtype.is_floating_point, dtype
        order = args[0] if args else 2
        return torch.tensor(float("inf") if order == float("-inf") else 0, dtype=dtype, device=device)
    raise NotImplementedError(f"identity of {op_name} on {dtype} input")


def _combine_input_and_mask(op: Any, input: Tensor, mask: Tensor | None, *args: Any) -> Tensor:
    """The input with the identity of a masked operator in the place of what does not count."""
    if mask is None:
        return input
    identity = _reduction_identity(op.__name__, input, *args)
    return torch.where(_input_mask(input, mask=mask), input, torch.tensor(0, dtype=input.dtype) if identity is None else identity)


def __getattr__(name: str) -> Any:
    from torchjit import masked

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(masked, name)
