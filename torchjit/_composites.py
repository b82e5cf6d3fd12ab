"""What composite operators are made of, for modes that see operators below autograd.

Others have definitions in the library, which their gradients need as well; those that have neither are seen as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch

aten: Any = torch.ops.aten  # type: ignore[attr-defined]

_definitions: dict[str, Callable[..., Any]] = {}

# Those whose parts have no gradients of their own here: where one is asked for, they are seen as they are.
_WITHOUT_GRADIENTS = frozenset(
    f"aten::{name}" for name in ("batch_norm", "layer_norm", "group_norm", "nll_loss", "nll_loss_nd", "cross_entropy_loss")
)


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a composite operator in a tuple, None where this module does not know what it is made of."""
    definition = _definitions.get(name)
    if definition is None or name in _WITHOUT_GRADIENTS and _asks_for_gradients(args):
        return None
    made = definition(*args, **kwargs)
    return None if made is NotImplemented else (made,)


def _asks_for_gradients(args: tuple[Any, ...]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in args)


def _defines(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            _definitions["aten::" + name] = f
        return f

    return note


# ---- products ----


@_defines("linear")
def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    turned = aten.t.default(weight)
    if bias is not None and x.dim() == 2:
        return aten.addmm.default(bias, x, turned)
    if bias is not None and x.dim() == 3 and x.is_contiguous():
        rows = x.shape[0] * x.shape[1]
        made = aten.addmm.default(bias, aten.view.default(x, [rows, x.shape[2]]), turned)
        return aten.view.default(made, [x.shape[0], x.shape[1], made.shape[1]])
    made = _matmul(x, turned)
    return made if bias is None else aten.add_.Tensor(made, bias)


@_defines("matmul", "linalg_matmul")
def _matmul(a: Any, b: Any) -> Any:
    if a.dim() == 1 and b.dim() == 1:
        return aten.dot.default(a, b)
    if a.dim() == 2 and b.dim() == 1:
        return aten.mv.default(a, b)
    if a.dim() == 1 and b.dim() == 2:
        return aten.squeeze_.dim(aten.mm.default(aten.unsqueeze.default(a, 0), b), 0)
    if a.dim() == 2 and b.dim() == 2:
        return aten.mm.default(a, b)
    if a.dim() >= 3 and b.dim() <= 2:
        return _folded(a, b)
    return _batched(a, b)


def _folded(a: Any, b: Any) -> Any:
    """A product of many matrices by one or by a vector, as one product."""
    rows = 1
    for n in a.shape[:-1]:
        rows *= n
    flat = _reshape(a, [rows, a.shape[-1]])
    if b.dim() == 1:
        return aten._unsafe_view.default(aten.mv.default(flat, b), list(a.shape[:-1]))
    return aten._unsafe_view.default(aten.mm.default(flat, b), [*a.shape[:-1], b.shape[1]])


def _batched(a: Any, b: Any) -> Any:
    left = aten.unsqueeze.default(a, 0) if a.dim() == 1 else a
    right = aten.unsqueeze.default(b, 1) if b.dim() == 1 else b
    batch = list(torch.broadcast_shapes(left.shape[:-2], right.shape[:-2]))
    count = 1
    for n in batch:
        count *= n
    n, m, p = left.shape[-2], left.shape[-1], right.shape[-1]
    left = _reshape(aten.expand.default(left, [*batch, n, m]), [count, n, m])
    right = _reshape(aten.expand.default(right, [*batch, m, p]), [count, m, p])
    shape = batch + ([n] if a.dim() > 1 else []) + ([p] if b.dim() > 1 else [])
    return aten._unsafe_view.default(aten.bmm.default(left, right), shape)


# ---- shapes ----


@_defines("reshape")
def _reshape(x: Any, shape: Any) -> Any:
    sizes = list(shape)
    if -1 in sizes:
        known = 1
        for n in sizes:
            known *= n if n != -1 else 1
        sizes[sizes.index(-1)] = x.numel() // known if known else 0
    if _can_view(x, sizes):
        return aten._reshape_alias.default(x, sizes, _view_strides(x, sizes))
    return aten._unsafe_view.default(aten.clone.default(x, memory_format=torch.contiguous_format), sizes)


def _view_strides(x: Any, sizes: list[int]) -> list[int]:
    with torch.no_grad():
        return list(_native_below(lambda: torch.empty_strided(x.shape, x.stride(), device="meta").view(sizes).stride()))


def _native_below(f: Callable[[], Any]) -> Any:
    from torchjit import _native

    return _native.below_autograd(f)


def _can_view(x: Any, sizes: list[int]) -> bool:
    try:
        _view_strides(x, sizes)
    except RuntimeError:
        return False
    return True


@_defines("reshape_as")
def _reshape_as(x: Any, other: Any) -> Any:
    return _reshape(x, list(other.shape))


@_defines("flatten.using_ints")
def _flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = list(x.shape)
    if not shape:
        return _reshape(x, [1])
    start, end = start_dim % len(shape), end_dim % len(shape)
    if start == end:
        return x
    joined = 1
    for n in shape[start : end + 1]:
        joined *= n
    return _reshape(x, [*shape[:start], joined, *shape[end + 1 :]])


@_defines("ravel")
def _ravel(x: Any) -> Any:
    return _reshape(_contiguous(x), [-1])


@_defines("contiguous")
def _contiguous(x: Any, memory_format: Any = torch.contiguous_format) -> Any:
    return x if x.is_contiguous(memory_format=memory_format) else aten.clone.default(x, memory_format=memory_format)


@_defines("expand_as")
def _expand_as(x: Any, other: Any) -> Any:
    return aten.expand.default(x, list(other.shape))


@_defines("view_as")
def _view_as(x: Any, other: Any) -> Any:
    return aten.view.default(x, list(other.shape))


@_defines("broadcast_to")
def _broadcast_to(x: Any, size: Any) -> Any:
    return aten.expand.default(x, list(size))


@_defines("narrow")
def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return aten.slice.Tensor(x, dim, start, start + length)


@_defines("chunk")
def _chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    return aten.split.Tensor(x, max(1, -(-x.shape[dim] // chunks)), dim)


@_defines("numpy_T")
def _numpy_t(x: Any) -> Any:
    return aten.permute.default(x, list(reversed(range(x.dim()))))


@_defines("swapaxes", "swapdims")
def _swap(x: Any, a: int, b: int) -> Any:
    return aten.transpose.int(x, a, b)


@_defines("movedim.intlist", "moveaxis.intlist", "movedim.int", "moveaxis.int")
def _movedim(x: Any, source: Any, destination: Any) -> Any:
    sources = [d % x.dim() for d in ([source] if isinstance(source, int) else source)]
    targets = [d % x.dim() for d in ([destination] if isinstance(destination, int) else destination)]
    rest = iter(d for d in range(x.dim()) if d not in sources)
    order = [sources[targets.index(d)] if d in targets else next(rest) for d in range(x.dim())]
    return aten.permute.default(x, order)


# ---- layers ----


def _many(n: Any, dims: int) -> list[int]:
    given = [n] if isinstance(n, int) else list(n)
    return given * dims if len(given) == 1 else given


def _convolution(dims: int) -> Callable[..., Any]:
    def run(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
        single = x.dim() == dims + 1
        given = aten.unsqueeze.default(x, 0) if single else x
        places = _many(stride, dims), _many(padding, dims), _many(dilation, dims)
        made = aten.convolution.default(given, weight, bias, *places, False, [0] * dims, groups)
        return aten.squeeze.dim(made, 0) if single else made

    return run


def _transposed(dims: int) -> Callable[..., Any]:
    def run(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1
    ) -> Any:  # fmt: skip
        single = x.dim() == dims + 1
        given = aten.unsqueeze.default(x, 0) if single else x
        places = _many(stride, dims), _many(padding, dims), _many(dilation, dims)
        made = aten.convolution.default(given, weight, bias, *places, True, _many(output_padding, dims), groups)
        return aten.squeeze.dim(made, 0) if single else made

    return run


for _dims, _back in ((1, "conv_transpose1d"), (2, "conv_transpose2d.input"), (3, "conv_transpose3d.input")):
    _definitions[f"aten::conv{_dims}d"] = _convolution(_dims)
    _definitions["aten::" + _back] = _transposed(_dims)


@_defines("batch_norm")
def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float, cudnn_enabled: bool) -> Any:
    return aten.native_batch_norm.default(x, weight, bias, mean, var, training, momentum, eps)[0]


@_defines("layer_norm")
def _layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enable: bool = True) -> Any:
    return aten.native_layer_norm.default(x, list(shape), weight, bias, eps)[0]


@_defines("group_norm")
def _group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True) -> Any:
    n, c = x.shape[:2]
    rest = x.numel() // (n * c) if n * c else 0
    return aten.native_group_norm.default(_contiguous(x), weight, bias, n, c, rest, groups, eps)[0]


@_defines("softmax.int")
def _softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    return aten._softmax.default(x if dtype is None else _to_dtype(x, dtype), dim, False)


@_defines("log_softmax.int")
def _log_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    return aten._log_softmax.default(x if dtype is None else _to_dtype(x, dtype), dim, False)


@_defines("dropout")
def _dropout(x: Any, p: float, train: bool) -> Any:
    if p == 0 or not train or x.numel() == 0:
        return x
    if p == 1:
        return aten.mul.Tensor(x, aten.zeros.default([], dtype=x.dtype, layout=x.layout, device=x.device))
    noise = aten.bernoulli_.float(aten.empty_like.default(x, memory_format=torch.contiguous_format), 1 - p)
    return aten.mul.Tensor(x, aten.div_.Scalar(noise, 1 - p))


@_defines("max_pool2d")
def _max_pool2d(x: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> Any:
    return aten.max_pool2d_with_indices.default(x, _many(kernel_size, 2), [*stride], _many(padding, 2), _many(dilation, 2), ceil_mode)[0]


@_defines("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(x: Any, output_size: Any) -> Any:
    size = _many(output_size, 2)
    return aten.mean.dim(x, [-1, -2], True) if size == [1, 1] else aten._adaptive_avg_pool2d.default(x, size)


@_defines("nll_loss", "nll_loss_nd")
def _nll_loss(x: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    forward = aten.nll_loss_forward if x.dim() <= 2 else aten.nll_loss2d_forward
    return forward.default(x, target, weight, reduction, ignore_index)[0]


@_defines("cross_entropy_loss")
def _cross_entropy_loss(
    x: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:  # fmt: skip
    if label_smoothing or target.shape == x.shape:
        return NotImplemented
    return _nll_loss(_log_softmax(x, 1 if x.dim() > 1 else 0), target, weight, reduction, ignore_index)


# ---- numbers ----


@_defines("to.dtype")
def _to_dtype(x: Any, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Any:
    if x.dtype == dtype and not copy and memory_format is None:
        return x
    return aten._to_copy.default(x, dtype=dtype, **({} if memory_format is None else {"memory_format": memory_format}))


@_defines("to.dtype_layout")
def _to_layout(
    x: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    if dtype is None or layout is not None or device not in (None, x.device) or pin_memory is not None:
        return NotImplemented
    return _to_dtype(x, dtype, non_blocking, copy, memory_format)


@_defines("to.other", "type_as")
def _to_other(x: Any, other: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Any:
    if x.dtype == other.dtype and not copy and memory_format is None:
        return x
    layout = {} if memory_format is None else {"memory_format": memory_format}
    return aten._to_copy.default(x, dtype=other.dtype, layout=other.layout, device=other.device, **layout)


@_defines("square")
def _square(x: Any) -> Any:
    return aten.pow.Tensor_Scalar(x, 2)


@_defines("std")
def _std(x: Any, unbiased: bool = True) -> Any:
    return aten.std.correction(x, None, correction=int(unbiased))


@_defines("var")
def _var(x: Any, unbiased: bool = True) -> Any:
    return aten.var.correction(x, None, correction=int(unbiased))


@_defines("std.dim")
def _std_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return aten.std.correction(x, dim, correction=int(unbiased), keepdim=keepdim)


@_defines("var.dim")
def _var_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return aten.var.correction(x, dim, correction=int(unbiased), keepdim=keepdim)


@_defines("item")
def _item(x: Any) -> Any:
    return aten._local_scalar_dense.default(x)


# Other names of operators.
for _name, _same in {
    "multiply.Tensor": "mul.Tensor", "divide.Tensor": "div.Tensor", "true_divide.Tensor": "div.Tensor", "less.Tensor": "lt.Tensor",
    "less.Scalar": "lt.Scalar", "greater.Tensor": "gt.Tensor", "greater.Scalar": "gt.Scalar", "less_equal.Tensor": "le.Tensor",
    "less_equal.Scalar": "le.Scalar", "greater_equal.Tensor": "ge.Tensor", "greater_equal.Scalar": "ge.Scalar",
    "not_equal.Tensor": "ne.Tensor", "not_equal.Scalar": "ne.Scalar", "negative": "neg.default", "concat": "cat.default",
    "concatenate": "cat.default", "clip": "clamp.default", "clip.Tensor": "clamp.Tensor", "max.other": "maximum.default",
    "min.other": "minimum.default",
}.items():  # fmt: skip
    _base, _, _overload = _same.partition(".")
    _definitions["aten::" + _name] = getattr(getattr(aten, _base), _overload)
