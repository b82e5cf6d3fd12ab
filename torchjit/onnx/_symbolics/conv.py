"""Convolutions, pooling, padding and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._constants import INT64_MAX
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.creation import named
from torchjit.onnx._symbolics.pointwise import number
from torchjit.onnx.symbolic_helper import parse_args

# ---- convolutions ----


def _convolved(
    g: Any,
    x: Any,
    weight: Any,
    bias: Any,
    stride: list[int],
    padding: Any,
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Any:
    sizes = helper._get_tensor_sizes(weight)
    if sizes is None or None in sizes[2:]:
        helper._onnx_unsupported("convolution with a weight whose sizes are not known", weight)
    kernel = sizes[2:]
    dims = len(kernel)
    stride, dilation = _each(stride, dims), _each(dilation, dims)
    alone = helper._get_tensor_rank(x) == dims + 1
    if alone:
        x = helper._unsqueeze_helper(g, x, [0])
    attributes: dict[str, Any] = {
        "kernel_shape_i": kernel,
        "strides_i": stride,
        "dilations_i": dilation,
        "group_i": groups,
    }
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, kernel)]  # type: ignore[operator]
        attributes["pads_i"] = [t // 2 for t in totals] + [t - t // 2 for t in totals]
    elif padding == "valid":
        attributes["pads_i"] = [0] * (2 * dims)
    else:
        attributes["pads_i"] = _each(padding, dims) * 2
    if transposed and any(output_padding):
        attributes["output_padding_i"] = _each(output_padding, dims)
    given = [x, weight] + ([] if helper._is_none(bias) else [bias])
    made = g.op("ConvTranspose" if transposed else "Conv", *given, **attributes)
    return helper._squeeze_helper(g, made, [0]) if alone else made


def _each(values: list[int], dims: int) -> list[int]:
    return list(values) if len(values) == dims else list(values) * dims


def _convolution(g: Any, *args: Any) -> Any:
    given = named(g, args)
    names = ("stride", "dilation", "output_padding")
    stride, dilation, output_padding = (helper._get_const(given[n], "is", n) if n in given else [0] for n in names)
    if helper._is_list(given["padding"]):
        padding: Any = helper._get_const(given["padding"], "is", "padding")
    else:
        padding = helper._parse_arg(given["padding"], "s")
    kind = g.original_node.kind()
    transposed = helper._parse_arg(given["transposed"], "b") if "transposed" in given else "transpose" in kind
    groups = helper._get_const(given["groups"], "i", "groups")
    bias = given.get("bias")
    return _convolved(g, args[0], args[1], bias, stride, padding, dilation, transposed, output_padding, groups)


for _name in (
    "_convolution",
    "convolution",
    "_convolution_mode",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
):
    symbolic(_name)(_convolution)


@symbolic("conv_tbc")
@parse_args("v", "v", "v", "i")
def conv_tbc(g: Any, x: Any, weight: Any, bias: Any, pad: int) -> Any:
    made = _convolved(
        g,
        g.op("Transpose", x, perm_i=[1, 2, 0]),
        g.op("Transpose", weight, perm_i=[2, 1, 0]),
        bias,
        [1],
        [pad],
        [1],
        False,
        [0],
        1,
    )
    return g.op("Transpose", made, perm_i=[2, 0, 1])


# ---- pooling ----


def _batched(dims: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of a function of batches of images that takes single images too."""

    def decorate(pool: Callable[..., Any]) -> Callable[..., Any]:
        def export(g: Any, x: Any, *args: Any) -> Any:
            if helper._get_tensor_rank(x) != dims + 1:
                return pool(g, x, *args)
            made = pool(g, helper._unsqueeze_helper(g, x, [0]), *args)
            if isinstance(made, tuple):
                return tuple(helper._squeeze_helper(g, v, [0]) for v in made)
            return helper._squeeze_helper(g, made, [0])

        return export

    return decorate


def _max_pool(dims: int, with_indices: bool) -> Callable[..., Any]:
    @_batched(dims)
    @parse_args("v", "is", "is", "is", "is", "i")
    def export(
        g: Any, x: Any, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: int
    ) -> Any:
        stride = stride or kernel
        if g.opset < 10 and any(d != 1 for d in dilation):
            helper._onnx_opset_unsupported("max_pool with dilation", g.opset, 10, x)
        attributes: dict[str, Any] = {
            "kernel_shape_i": _each(kernel, dims),
            "pads_i": _each(padding, dims) * 2,
            "strides_i": _each(stride, dims),
        }
        if g.opset >= 10:
            attributes["ceil_mode_i"] = ceil_mode
            if any(d != 1 for d in dilation):
                attributes["dilations_i"] = _each(dilation, dims)
        elif ceil_mode:
            helper._onnx_opset_unsupported("max_pool with ceil_mode=True", g.opset, 10, x)
        if not with_indices:
            return g.op("MaxPool", x, **attributes)
        values, places = g.op("MaxPool", x, outputs=2, **attributes)
        return values, _places_in_plane(g, x, places, dims)

    return export


def _places_in_plane(g: Any, x: Any, places: Any, dims: int) -> Any:
    """ONNX counts the elements of the whole tensor, PyTorch those of a plane."""
    shape = g.op("Shape", x)
    plane = g.op("ReduceProd", helper._slice_helper(g, shape, [0], [2], [2 + dims]), keepdims_i=0)
    if g.opset < 10:
        return g.op("Sub", places, g.op("Mul", g.op("Div", places, plane), plane))
    return g.op("Mod", places, plane, fmod_i=0)


for _dims in (1, 2, 3):
    symbolic(f"max_pool{_dims}d")(_max_pool(_dims, False))
    symbolic(f"max_pool{_dims}d_with_indices")(_max_pool(_dims, True))


def _avg_pool(dims: int) -> Callable[..., Any]:
    @_batched(dims)
    @parse_args("v", "is", "is", "is", "i", "i", "none")
    def export(
        g: Any,
        x: Any,
        kernel: list[int],
        stride: list[int],
        padding: list[int],
        ceil_mode: int,
        count_include_pad: int,
        divisor: Any = None,
    ) -> Any:
        stride, padding = _each(stride or kernel, dims), _each(padding, dims)
        if g.opset < 10 and ceil_mode:
            helper._onnx_opset_unsupported("avg_pool with ceil_mode=True", g.opset, 10, x)
        if count_include_pad and any(padding):
            x = _zero_padded(g, x, padding)
            padding = [0] * dims
        return g.op(
            "AveragePool",
            x,
            kernel_shape_i=_each(kernel, dims),
            strides_i=stride,
            pads_i=padding * 2,
            ceil_mode_i=ceil_mode if g.opset >= 10 else None,
        )

    return export


def _zero_padded(g: Any, x: Any, padding: list[int]) -> Any:
    pads = [0, 0, *padding] * 2
    if g.opset >= 11:
        return g.op("Pad", x, g.constant(pads), number(g, 0.0, x), mode_s="constant")
    return g.op("Pad", x, pads_i=pads, mode_s="constant", value_f=0.0)


for _dims in (1, 2, 3):
    symbolic(f"avg_pool{_dims}d")(_avg_pool(_dims))


def _adaptive(dims: int, kind: str) -> Callable[..., Any]:
    @_batched(dims)
    @parse_args("v", "is")
    def export(g: Any, x: Any, sizes: list[int]) -> Any:
        """Windows of one size, where the sizes are multiples; the whole plane for results of size 1."""
        wanted = _each(sizes, dims)
        with_indices = kind == "Max"
        if all(n == 1 for n in wanted) and not (with_indices and _second_used(g)):
            made = g.op("GlobalAveragePool" if kind == "Average" else "GlobalMaxPool", x)
            return (made, g.none()) if with_indices else made
        given = helper._get_tensor_sizes(x)
        planes = given[2:] if given is not None else [None] * dims
        if None in planes or any(a % b for a, b in zip(planes, wanted)):  # type: ignore[operator]
            helper._onnx_unsupported(
                f"adaptive pooling of planes of {planes} to {wanted}, of which the first are no known multiples", x
            )
        windows = [a // b for a, b in zip(planes, wanted)]  # type: ignore[operator]
        if not with_indices:
            return g.op("AveragePool", x, kernel_shape_i=windows, strides_i=windows)
        values, places = g.op("MaxPool", x, kernel_shape_i=windows, strides_i=windows, outputs=2)
        return values, _places_in_plane(g, x, places, dims)

    return export


def _second_used(g: Any) -> bool:
    outputs = list(g.original_node.outputs())
    return len(outputs) > 1 and bool(outputs[1].uses())


for _dims in (1, 2, 3):
    symbolic(f"adaptive_avg_pool{_dims}d", *(["_adaptive_avg_pool2d"] if _dims == 2 else []))(
        _adaptive(_dims, "Average")
    )
    symbolic(f"adaptive_max_pool{_dims}d")(_adaptive(_dims, "Max"))


# ---- padding ----


def pad_by(g: Any, x: Any, pads: Any, mode: str, value: Any = None) -> Any:
    """Pad by the amounts as PyTorch lists them: before and after the last dimension, then of the one before it."""
    rank = helper._rank(x, "pad")
    known = helper._maybe_get_const(pads, "is") if helper._is_value(pads) else pads
    if isinstance(known, list):
        amounts = [*known, *[0] * (2 * rank - len(known))]
        onnx_pads = amounts[-2::-2] + amounts[-1::-2]
        return _padded(g, x, onnx_pads, mode, value)
    if g.opset < 11:
        helper._onnx_opset_unsupported_detailed("pad", g.opset, 11, "the amounts are not constants", x)
    given = helper._sizes_argument(g, pads)
    count = helper._get_tensor_dim_size(given, 0)
    if count is None:
        helper._onnx_unsupported("pad with a number of amounts that is not known", x)
    places = (
        g.op("Concat", given, g.constant([0] * (2 * rank - count), torch.int64), axis_i=0)
        if count < 2 * rank
        else given
    )
    order = list(range(2 * rank))
    return g.op(
        "Pad", x, g.op("Gather", places, g.constant(order[-2::-2] + order[-1::-2]), axis_i=0), value, mode_s=mode
    )


def _padded(g: Any, x: Any, pads: list[int], mode: str, value: Any) -> Any:
    if g.opset >= 11:
        return (
            g.op("Pad", x, g.constant(pads), value, mode_s=mode)
            if value is not None
            else g.op("Pad", x, g.constant(pads), mode_s=mode)
        )
    number_ = None if value is None else float(helper._get_const(value, "f", "value"))
    return g.op("Pad", x, pads_i=pads, mode_s=mode, value_f=number_)


def _fill(g: Any, x: Any, value: Any) -> Any:
    if value is None or helper._is_none(value):
        return number(g, 0, x)
    dtype = helper._dtype(x)
    return g.cast(value, dtype) if dtype is not None and helper._dtype(value) != dtype else value


@symbolic("constant_pad_nd")
def constant_pad_nd(g: Any, x: Any, pads: Any, value: Any = None) -> Any:
    return pad_by(g, x, pads, "constant", _fill(g, x, value))


for _dims in (1, 2, 3):
    symbolic(f"reflection_pad{_dims}d")(lambda g, x, pads: pad_by(g, x, pads, "reflect"))
    symbolic(f"replication_pad{_dims}d")(lambda g, x, pads: pad_by(g, x, pads, "edge"))


@symbolic("pad")
def pad(g: Any, x: Any, pads: Any, mode: Any = None, value: Any = None) -> Any:
    kind = "constant" if mode is None else helper._parse_arg(mode, "s")
    if kind == "circular":
        return circular(g, x, helper._get_const(pads, "is", "pad"))
    onnx_mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}[kind]
    return pad_by(g, x, pads, onnx_mode, _fill(g, x, value) if kind == "constant" else None)


@symbolic("_pad_circular")
@parse_args("v", "is")
def circular(g: Any, x: Any, pads: list[int]) -> Any:
    """The end of a dimension in front of it, its beginning behind it."""
    rank = helper._rank(x, "pad")
    for i in range(len(pads) // 2):
        dim, (before, after) = rank - 1 - i, pads[2 * i : 2 * i + 2]
        size = helper._get_tensor_dim_size(x, dim)
        parts = [helper._slice_helper(g, x, [dim], [-before], [INT64_MAX])] if before > 0 else []
        cut = [max(0, -before)], [(size if size is not None else INT64_MAX) if after >= 0 else after]
        parts.append(helper._slice_helper(g, x, [dim], *cut))
        if after > 0:
            parts.append(helper._slice_helper(g, x, [dim], [0], [after]))
        x = parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=dim)
    return x


# ---- windows ----


@symbolic("im2col", since=11)
@parse_args("v", "is", "is", "is", "is")
def im2col(g: Any, x: Any, kernel: list[int], dilation: list[int], padding: list[int], stride: list[int]) -> Any:
    """The blocks of an image as columns: a gather of rows, then of columns."""
    sizes = helper._get_tensor_sizes(x)
    if sizes is None or len(sizes) != 4 or None in sizes[1:]:
        helper._onnx_unsupported("unfold of an image whose sizes are not known", x)
    if any(padding):
        x = _zero_padded(g, x, padding)
    places = []
    for d in range(2):
        whole = sizes[2 + d] + 2 * padding[d]  # type: ignore[operator]
        count = (whole - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1
        places.append([[k * dilation[d] + b * stride[d] for b in range(count)] for k in range(kernel[d])])
    rows = g.op("Gather", x, g.constant(places[0]), axis_i=2)
    blocks = g.op("Gather", rows, g.constant(places[1]), axis_i=4)
    turned = g.op("Transpose", blocks, perm_i=[0, 1, 2, 4, 3, 5])
    depth, count = sizes[1] * kernel[0] * kernel[1], len(places[0][0]) * len(places[1][0])  # type: ignore[operator]
    return helper._reshape_helper(g, turned, [-1 if sizes[0] is None else sizes[0], depth, count])


@symbolic("unfold")
@parse_args("v", "i", "i", "i")
def unfold(g: Any, x: Any, dim: int, size: int, step: int) -> Any:
    rank, whole = helper._rank(x, "unfold"), helper._get_tensor_dim_size(x, dim)
    if whole is None:
        helper._onnx_unsupported("unfold of a dimension whose size is not known", x)
    dim %= rank
    windows = [[b + k for k in range(size)] for b in range(0, whole - size + 1, step)]
    made = g.op("Gather", x, g.constant(windows), axis_i=dim)
    order = [*range(dim + 1), *range(dim + 2, rank + 1), dim + 1]
    return made if order == list(range(rank + 1)) else g.op("Transpose", made, perm_i=order)
