"""Operators that make tensors, move, join, choose and write elements."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._internal.opinfo.core import SampleInput, ShapeFuncInfo
from torchjit.testing._internal.opinfo.definitions._table import ALL, FLOAT, NUMBER, NUMBER_COMPLEX, op

_VIEW: dict[str, Any] = {"supports_out": False, "supports_forward_ad": True, "inplace_variant": None}
_AD: dict[str, Any] = {"supports_forward_ad": True}
_NONE: dict[str, Any] = {"supports_autograd": False}


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


def _method(name: str) -> Any:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _property(name: str) -> Any:
    return op(name, ALL, lambda m: _s(m(5, 5)), op=lambda x: getattr(x, name), method_variant=None, **_VIEW)


def _factory(name: str, types: Any, *makers: Any, **facts: Any) -> Any:
    """A function whose first argument is no tensor."""
    return op(name, types, *makers, supports_autograd=False, is_factory_function=True, method_variant=None, inplace_variant=None, **facts)


def _typed(m: Any, *args: Any, **kwargs: Any) -> SampleInput:
    return _s(*args, dtype=m.dtype, device=m.device, **kwargs)


def _scatter_reduce(how: str) -> Any:
    def sample(m: Any) -> SampleInput:
        return _s(m(5, 5), 0, m.index(5, 3, 5), m(3, 5), how)

    return op("scatter_reduce", NUMBER, sample, variant_test_name=how, supports_forward_ad=how in ("sum", "mean"))


op_db: list[Any] = [
    op("reshape", ALL, lambda m: _s(m(5, 5, 5), (25, 5)), lambda m: _s(m(4), (2, 2)), lambda m: _s(m(), ()), **_VIEW), op("reshape_as", ALL, lambda m: _s(m(4, 3), m.plain(2, 6)), op=_method("reshape_as"), **_VIEW),
    op("view", ALL, lambda m: _s(m(5, 5, 5), (25, 5)), lambda m: _s(m(4), (-1,)), op=_method("view"), **_VIEW), op("view_as", ALL, lambda m: _s(m(4, 3), m.plain(2, 6)), op=_method("view_as"), **_VIEW),
    op("expand", ALL, lambda m: _s(m(5, 1, 5), (5, 5, 5)), lambda m: _s(m(1), (2, 3)), op=_method("expand"), **_VIEW), op("expand_as", ALL, lambda m: _s(m(1), m.plain(2, 3)), op=_method("expand_as"), **_VIEW),
    op("broadcast_to", ALL, lambda m: _s(m(5, 1), (2, 5, 5)), **_VIEW), op("permute", ALL, lambda m: _s(m(1, 2, 3), (2, 0, 1)), lambda m: _s(m(1, 2, 3), (-1, 1, 0)), assert_autodiffed=True, **_VIEW),
    op("transpose", ALL, lambda m: _s(m(1, 2, 3), 0, 2), lambda m: _s(m(), 0, 0), aliases=["swapdims", "swapaxes"], **_VIEW), op("t", ALL, lambda m: _s(m(1, 2)), lambda m: _s(m(2)), assert_autodiffed=True, **_VIEW),
    *map(_property, ("T", "mT", "H", "mH")), op("movedim", ALL, lambda m: _s(m(2, 3, 4), 0, 2), lambda m: _s(m(2, 3, 4), (0, 1), (2, 0)), aliases=["moveaxis"], **_VIEW),
    op("squeeze", ALL, lambda m: _s(m(1, 5, 1)), lambda m: _s(m(1, 5, 1), 0), assert_autodiffed=True, **_VIEW), op("unsqueeze", ALL, lambda m: _s(m(3, 4), 0), lambda m: _s(m(3, 4), -1), assert_autodiffed=True, **_VIEW),
    op("flatten", ALL, lambda m: _s(m(2, 3, 4)), lambda m: _s(m(2, 3, 4), 1), lambda m: _s(m()), **_VIEW), op("unflatten", ALL, lambda m: _s(m(2, 6), 1, (2, 3)), op=_method("unflatten"), **_VIEW),
    op("ravel", ALL, lambda m: _s(m(5, 5)), **_VIEW), op("as_strided", ALL, lambda m: _s(m(5, 5), (2, 2), (1, 2)), lambda m: _s(m(5), (2,), (2,), 1), **_VIEW),
    op("diagonal", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), 1), lambda m: _s(m(3, 4, 5), offset=1, dim1=0, dim2=2), aliases=["linalg.diagonal"], **_VIEW),
    op("diag", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(5), 1), inplace_variant=None, **_AD), op("diag_embed", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(5), offset=1), **_VIEW), op("diagflat", ALL, lambda m: _s(m(2, 3)), **_VIEW),
    op("select", ALL, lambda m: _s(m(5, 5), 0, 1), lambda m: _s(m(5, 5), -1, 3), **_VIEW), op("narrow", ALL, lambda m: _s(m(5, 5), 1, 0, 3), **_VIEW), op("narrow_copy", ALL, lambda m: _s(m(5, 5), 1, 0, 3), inplace_variant=None, **_AD),
    op("unbind", ALL, lambda m: _s(m(3, 4)), lambda m: _s(m(3, 4), 1), **_VIEW), op("unfold", ALL, lambda m: _s(m(5, 5), 1, 2, 1), op=_method("unfold"), **_VIEW),
    op("chunk", ALL, lambda m: _s(m(5, 5), 2), lambda m: _s(m(5, 6), 3, 1), **_VIEW), op("split", ALL, lambda m: _s(m(5, 5), 2), lambda m: _s(m(5, 5), 2, -1), assert_autodiffed=True, autodiff_nonfusible_nodes=[], **_VIEW),
    op("split", ALL, lambda m: _s(m(5, 5), [2, 3]), variant_test_name="list_args", **_VIEW), op("split_with_sizes", ALL, lambda m: _s(m(5, 5), [2, 3]), assert_autodiffed=True, autodiff_nonfusible_nodes=[], **_VIEW),
    op("tensor_split", ALL, lambda m: _s(m(5, 5), 3), lambda m: _s(m(5, 5), (1, 3), 1), **_VIEW), op("hsplit", ALL, lambda m: _s(m(4, 6), 3), **_VIEW), op("vsplit", ALL, lambda m: _s(m(4, 6), 2), **_VIEW),
    op("dsplit", ALL, lambda m: _s(m(2, 2, 4), 2), **_VIEW), *(op(f"atleast_{n}d", ALL, lambda m: _s(m(2)), lambda m: _s(m()), method_variant=None, **_VIEW) for n in (1, 2, 3)),
    op("flip", ALL, lambda m: _s(m(3, 4), (0, 1)), **_VIEW), op("fliplr", ALL, lambda m: _s(m(3, 4)), **_VIEW), op("flipud", ALL, lambda m: _s(m(3, 4)), **_VIEW),
    op("roll", ALL, lambda m: _s(m(3, 4), 1), lambda m: _s(m(3, 4), (1, -1), (0, 1)), **_VIEW), op("rot90", ALL, lambda m: _s(m(3, 4)), lambda m: _s(m(3, 4), 2, (1, 0)), **_VIEW),
    op("repeat", ALL, lambda m: _s(m(2, 3), (2, 1)), op=_method("repeat"), **_VIEW), op("tile", ALL, lambda m: _s(m(2, 3), (2, 1)), **_VIEW),
    op("repeat_interleave", ALL, lambda m: _s(m(2, 3), 2), lambda m: _s(m(2, 3), repeats=torch.tensor([1, 2]), dim=0), **_VIEW),
    op("tril", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(2, 5, 5), -1), **_AD), op("triu", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(2, 5, 5), 1), **_AD),
    op("trace", ALL, lambda m: _s(m(5, 5)), **_VIEW), op("sum_to_size", ALL, lambda m: _s(m(5, 5), (1, 5)), op=_method("sum_to_size"), **_VIEW),
    op("slice_scatter", ALL, lambda m: _s(m(5, 5), m(2, 5), 0, 1, 3), **_VIEW), op("select_scatter", ALL, lambda m: _s(m(5, 5), m(5), 0, 1), **_VIEW), op("diagonal_scatter", ALL, lambda m: _s(m(5, 5), m(5)), **_VIEW),
    op("cat", ALL, lambda m: _s([m(2, 3), m(4, 3)], 0), lambda m: _s([m(2, 3), m(2, 1)], -1), assert_autodiffed=True, aliases=["concat"], method_variant=None, inplace_variant=None, **_AD),
    op("stack", ALL, lambda m: _s([m(2, 3), m(2, 3)], 0), lambda m: _s([m(2, 3), m(2, 3)], -1), assert_autodiffed=True, method_variant=None, inplace_variant=None, **_AD),
    *(op(name, ALL, lambda m: _s([m(2, 3, 2), m(2, 3, 2)]), method_variant=None, inplace_variant=None, aliases=alias, **_AD)
      for name, alias in (("hstack", []), ("vstack", ["row_stack"]), ("dstack", []), ("column_stack", []))),
    op("broadcast_tensors", ALL, lambda m: _s(m(3, 1), m(1, 4)), method_variant=None, **_VIEW), op("block_diag", ALL, lambda m: _s(m(2, 3), m(3, 2)), method_variant=None, **_VIEW),
    op("cartesian_prod", ALL, lambda m: _s(m(2), m(3)), method_variant=None, **_VIEW), op("combinations", ALL, lambda m: _s(m(4)), lambda m: _s(m(4), 3, True), method_variant=None, **_VIEW),
    op("meshgrid", ALL, lambda m: _s(m(2), m(3), indexing="ij"), variant_test_name="variadic_tensors", method_variant=None, **_VIEW),
    op("meshgrid", ALL, lambda m: _s([m(2), m(3)], indexing="xy"), variant_test_name="list_of_tensors", method_variant=None, **_VIEW),
    op("gather", ALL, lambda m: _s(m(5, 5), 0, m.index(5, 3, 5)), lambda m: _s(m(), 0, torch.tensor(0)), **_AD), op("take", ALL, lambda m: _s(m(5, 5), m.index(25, 4)), **_AD),
    op("take_along_dim", ALL, lambda m: _s(m(5, 5), m.index(5, 5, 2), 1), **_AD), op("index_select", ALL, lambda m: _s(m(5, 5), 0, m.index(5, 3)), **_AD),
    op("masked_select", ALL, lambda m: _s(m(5, 5), m.mask(5, 5)), **_AD), op("masked_scatter", ALL, lambda m: _s(m(5, 5), m.mask(5, 5), m(25)), supports_out=False, **_AD),
    op("index_add", ALL, lambda m: _s(m(5, 5), 0, m.index(5, 3), m(3, 5)), lambda m: _s(m(5, 5), 1, m.index(5, 3), m(5, 3)), **_AD), op("index_copy", ALL, lambda m: _s(m(5, 5), 0, m.distinct(5, 3), m(3, 5)), **_AD),
    op("index_fill", ALL, lambda m: _s(m(5, 5), 0, m.index(5, 2), 1), lambda m: _s(m(5, 5), 0, m.index(5, 2), m()), supports_out=False, **_AD),
    op("index_put", ALL, lambda m: _s(m(5, 5), (m.distinct(5, 3),), m(3, 5)), lambda m: _s(m(5, 5), (m.index(5, 3),), m(3, 5), accumulate=True), supports_out=False, **_AD),
    op("put", ALL, lambda m: _s(m(5, 5), m.distinct(25, 3), m(3)), supports_out=False, **_AD), op("scatter", ALL, lambda m: _s(m(5, 5), 0, m.distinct(5, 5).unsqueeze(0), m(1, 5)), lambda m: _s(m(5, 5), 0, m.index(5, 2, 5), 1), **_AD),
    op("scatter_add", ALL, lambda m: _s(m(5, 5), 0, m.index(5, 3, 5), m(3, 5)), **_AD),
    *map(_scatter_reduce, ("sum", "prod", "mean", "amin", "amax")),
    op("__getitem__", ALL, lambda m: _s(m(5, 5), 2), lambda m: _s(m(5, 5), (slice(1, 3), None)), lambda m: _s(m(5, 5), (m.index(5, 3), ...)), lambda m: _s(m(5, 5), m.mask(5)), op=torch.Tensor.__getitem__, **_VIEW),
    op("nonzero", ALL, lambda m: _s(m(5, 5)), lambda m: _s(m(5, 5), as_tuple=True), supports_out=False, method_variant=None, **_NONE), op("argwhere", ALL, lambda m: _s(m(5, 5)), supports_out=False, **_NONE),
    op("triu_indices", (torch.int32, torch.int64), lambda m: _s(3, 4, dtype=m.dtype), supports_out=False, supports_autograd=False, is_factory_function=True),
    op("tril_indices", (torch.int32, torch.int64), lambda m: _s(3, 4, dtype=m.dtype), supports_out=False, supports_autograd=False, is_factory_function=True),
    _factory("arange", NUMBER, lambda m: _typed(m, 5), lambda m: _typed(m, 1, 7, 2)), _factory("linspace", NUMBER_COMPLEX, lambda m: _typed(m, 1, 7, 4)), _factory("logspace", NUMBER_COMPLEX, lambda m: _typed(m, 1, 2, 4)),
    _factory("eye", ALL, lambda m: _typed(m, 3), lambda m: _typed(m, 3, 4)), *(_factory(name, ALL, lambda m: _typed(m, (2, 3)), lambda m: _typed(m, ())) for name in ("zeros", "ones", "empty")),
    _factory("randn", FLOAT, lambda m: _typed(m, (2, 3))), *(op(name, ALL, lambda m: _s(m(2, 3)), supports_out=False, method_variant=None, **_NONE) for name in ("zeros_like", "ones_like", "empty_like")),
    op("full_like", ALL, lambda m: _s(m(2, 3), 1), supports_out=False, method_variant=None, **_NONE), *(op(name, FLOAT, lambda m: _s(m(2, 3)), supports_out=False, method_variant=None, **_NONE) for name in ("rand_like", "randn_like")),
    op("randint_like", NUMBER, lambda m: _s(m(2, 3), 5), supports_out=False, method_variant=None, **_NONE), *(op(f"new_{name}", ALL, lambda m: _s(m(), (2, 3)), op=_method(f"new_{name}"), supports_out=False, **_NONE) for name in ("zeros", "ones", "empty")),
    op("new_full", ALL, lambda m: _s(m(), (2, 3), 1), op=_method("new_full"), supports_out=False, **_NONE), op("bernoulli", FLOAT, lambda m: _s(m(2, 3, low=0, high=1)), **_NONE), op("multinomial", FLOAT, lambda m: _s(m(2, 3, low=1, high=2), 2), **_NONE),
]  # fmt: skip

shape_funcs: list[Any] = [
    ShapeFuncInfo("repeat", op=_method("repeat"), ref=None, dtypes=ALL, supports_out=False, sample_inputs_func=next(o for o in op_db if o.name == "repeat").sample_inputs_func),
    ShapeFuncInfo("tile", ref=None, dtypes=ALL, supports_out=False, sample_inputs_func=next(o for o in op_db if o.name == "tile").sample_inputs_func),
]  # fmt: skip
