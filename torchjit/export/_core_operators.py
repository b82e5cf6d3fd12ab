"""Operators in terms of those of the core of ATen whose parts hang on sizes as numbers or are other forms of their own. Each function takes what its
operator takes. The records of the library have those of all others; what composite operators are made of, as far as records do not say it, says
`torchjit._composites`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch

aten: Any = torch.ops.aten


def _shape(x: Any) -> list[Any]:
    return [x.size(d) for d in range(x.dim())]


def _full(x: Any, value: Any) -> Any:
    return aten.scalar_tensor.default(value, dtype=x.dtype, device=x.device)


def _glu(x: Any, dim: int = -1) -> Any:
    half = x.size(dim) // 2
    a, b = aten.slice.Tensor(x, dim, 0, half), aten.slice.Tensor(x, dim, half, 2 * half)
    return aten.mul.Tensor(a, aten.sigmoid.default(b))


def _contiguous(x: Any) -> Any:
    return x if x.is_contiguous() else aten.clone.default(x, memory_format=torch.contiguous_format)


def _unflatten(x: Any, dim: int, sizes: Any) -> Any:
    shape, dim = _shape(x), dim % x.dim()
    return aten.view.default(_contiguous(x), [*shape[:dim], *sizes, *shape[dim + 1 :]])


def _pieces(x: Any, size: int, dim: int) -> Any:
    n = x.size(dim)
    if not isinstance(n, int):
        return aten.split.Tensor(x, size, dim)
    return aten.split_with_sizes.default(x, [size] * (n // size) + ([n % size] if n % size or not n else []), dim)


def _split(x: Any, split_size: int, dim: int = 0) -> Any:
    return _pieces(x, split_size, dim)


def _unbind(x: Any, dim: int = 0) -> Any:
    return [aten.select.int(x, dim, i) for i in range(int(x.size(dim)))]


def _pad(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    if mode == "constant":
        return aten.constant_pad_nd.default(x, pad, value or 0.0)
    return aten.pad.default(x, pad, mode, value)


def _where_other(condition: Any, x: Any, other: Any) -> Any:
    return aten.where.self(condition, x, _full(x, other))


def _where_self(condition: Any, x: Any, other: Any) -> Any:
    return aten.where.self(condition, _full(other, x), other)


def table() -> dict[Any, Callable[..., Any]]:
    """The functions by the operators in whose places they stand."""
    return {
        aten.glu.default: _glu,
        aten.unflatten.int: _unflatten,
        aten._reshape_alias.default: lambda x, size, stride: aten.view.default(x, size),
        aten._unsafe_view.default: aten.view.default,
        aten.squeeze_.dim: aten.squeeze.dim,
        aten.add_.Tensor: aten.add.Tensor,
        aten.split.Tensor: _split,
        aten.unbind.int: _unbind,
        aten.pad.default: _pad,
        aten.where.ScalarOther: _where_other,
        aten.where.ScalarSelf: _where_self,
        aten.floor_divide.default: lambda x, y: aten.div.Tensor_mode(x, y, rounding_mode="floor"),
        aten.ones_like.default: lambda x, **options: aten.full_like.default(x, 1, **options),
        aten.zeros_like.default: lambda x, **options: aten.full_like.default(x, 0, **options),
    }
