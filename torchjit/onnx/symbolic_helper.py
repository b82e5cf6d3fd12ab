"""torch.onnx.symbolic_helper: what functions that export operators are written with.

The names and arguments are those of PyTorch's module, which exporters of other libraries use. A value is `torch._C.Value`, a tensor's
size is None where it is not known.
"""

from __future__ import annotations

from typing import Any, NoReturn

import torchjit as torch
from torchjit.onnx import errors
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._quantized import (
    dequantize_helper as dequantize_helper,
)
from torchjit.onnx._quantized import (
    quantize_helper as quantize_helper,
)
from torchjit.onnx._quantized import (
    quantized_args as quantized_args,
)
from torchjit.onnx._quantized import (
    requantize_bias_helper as requantize_bias_helper,
)
from torchjit.onnx._type_utils import JitScalarType
from torchjit.onnx._values import (
    _constant as _constant,
)
from torchjit.onnx._values import (
    _dtype as _dtype,
)
from torchjit.onnx._values import (
    _get_const as _get_const,
)
from torchjit.onnx._values import (
    _get_tensor_dim_size as _get_tensor_dim_size,
)
from torchjit.onnx._values import (
    _get_tensor_rank as _get_tensor_rank,
)
from torchjit.onnx._values import (
    _get_tensor_sizes as _get_tensor_sizes,
)
from torchjit.onnx._values import (
    _if_scalar_type_as as _if_scalar_type_as,
)
from torchjit.onnx._values import (
    _is_bool as _is_bool,
)
from torchjit.onnx._values import (
    _is_complex as _is_complex,
)
from torchjit.onnx._values import (
    _is_constant as _is_constant,
)
from torchjit.onnx._values import (
    _is_fp as _is_fp,
)
from torchjit.onnx._values import (
    _is_list as _is_list,
)
from torchjit.onnx._values import (
    _is_none as _is_none,
)
from torchjit.onnx._values import (
    _is_onnx_constant as _is_onnx_constant,
)
from torchjit.onnx._values import (
    _is_packed_list as _is_packed_list,
)
from torchjit.onnx._values import (
    _is_scalar_list as _is_scalar_list,
)
from torchjit.onnx._values import (
    _is_tensor as _is_tensor,
)
from torchjit.onnx._values import (
    _is_tensor_list as _is_tensor_list,
)
from torchjit.onnx._values import (
    _is_tuple_construct as _is_tuple_construct,
)
from torchjit.onnx._values import (
    _is_value as _is_value,
)
from torchjit.onnx._values import (
    _maybe_get_const as _maybe_get_const,
)
from torchjit.onnx._values import (
    _maybe_get_scalar as _maybe_get_scalar,
)
from torchjit.onnx._values import (
    _node_get as _node_get,
)
from torchjit.onnx._values import (
    _number as _number,
)
from torchjit.onnx._values import (
    _parse_arg as _parse_arg,
)
from torchjit.onnx._values import (
    _rank as _rank,
)
from torchjit.onnx._values import (
    _scalar as _scalar,
)
from torchjit.onnx._values import (
    _try_get_scalar_type as _try_get_scalar_type,
)
from torchjit.onnx._values import (
    _unpack_list as _unpack_list,
)
from torchjit.onnx._values import (
    _unpack_tuple as _unpack_tuple,
)
from torchjit.onnx._values import (
    is_complex_value as is_complex_value,
)
from torchjit.onnx._values import (
    parse_args as parse_args,
)

# ---- refusals ----


def _unimplemented(op: str, msg: str, value: Any = None) -> NoReturn:
    """Raises UnsupportedOperatorError, or SymbolicValueError with a value, of an operator with arguments that have no form in ONNX."""
    _onnx_unsupported(f"{op}, {msg}", value)


def _onnx_unsupported(op_name: str, value: Any = None) -> NoReturn:
    """Raises an error of an operator that has no form in ONNX."""
    message = f"Unsupported: ONNX export of operator {op_name}."
    if _is_value(value):
        raise errors.SymbolicValueError(message, value)
    raise errors.OnnxExporterError(message)


def _onnx_opset_unsupported(op_name: str, current_opset: int, supported_opset: int, value: Any = None) -> NoReturn:
    """Raises an error of an operator that has a form at a later opset version."""
    _onnx_unsupported(
        f"{op_name} at opset version {current_opset}: it is supported from opset version {supported_opset} on", value
    )


def _onnx_opset_unsupported_detailed(
    op_name: str, current_opset: int, supported_opset: int, reason: str, value: Any = None
) -> NoReturn:
    """Raises an error of an operator that has a form at a later opset version, with the reason."""
    _onnx_unsupported(
        f"{op_name} at opset version {current_opset}: {reason}. It is supported from opset version {supported_opset} on",
        value,
    )


# ---- forms that differ between opset versions ----


def _list_as_tensor(g: Any, value: Any) -> Any:
    """A list of numbers as a tensor with one dimension; of tensors as a sequence."""
    items = _unpack_list(value)
    if value.type().kind() == "ListType" and value.type().getElementType().kind() in ("TensorType", "OptionalType"):
        return g.op("SequenceConstruct", *items) if items else g.op("SequenceEmpty")
    if not items:
        return g.constant(torch.zeros([0], dtype=torch.int64))
    parts = [i if _get_tensor_rank(i) == 1 else _unsqueeze_helper(g, i, [0]) for i in items]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0)


def _sizes_argument(g: Any, value: Any) -> Any:
    """A list of ints, constants or not, as a tensor of int64."""
    if not _is_value(value):
        return g.constant(list(value) if not isinstance(value, int) else [value], torch.int64)
    found = _constant(value)
    if found is not NotImplemented and not isinstance(found, torch.Tensor):
        return g.constant(
            [int(_number(v)) for v in (found if isinstance(found, (list, tuple)) else [found])], torch.int64
        )
    if _is_packed_list(value):
        return _list_as_tensor(g, value)
    return _unsqueeze_helper(g, value, [0]) if _get_tensor_rank(value) == 0 else value


def _unsqueeze_helper(g: Any, input: Any, axes_i: list[int]) -> Any:
    """Unsqueeze with axes as an attribute or, from opset version 13 on, as an input."""
    if g.opset >= 13 or not all(isinstance(a, int) for a in axes_i):
        axes = g.constant(list(axes_i)) if all(isinstance(a, int) for a in axes_i) else axes_i[0]
        return g.op("Unsqueeze", input, axes)
    rank = _get_tensor_rank(input)
    if min(axes_i) < 0 and g.opset < 11:
        if rank is None:
            _onnx_opset_unsupported_detailed(
                "Unsqueeze", g.opset, 11, "negative axes need the number of dimensions", input
            )
        axes_i = [a % (rank + len(axes_i)) for a in axes_i]
    return g.op("Unsqueeze", input, axes_i=list(axes_i))


def _squeeze_helper(g: Any, input: Any, axes_i: list[int]) -> Any:
    """Squeeze with axes as an attribute or, from opset version 13 on, as an input."""
    if not axes_i:
        return g.op("Squeeze", input)
    if g.opset >= 13:
        return g.op("Squeeze", input, g.constant(list(axes_i)))
    rank = _get_tensor_rank(input)
    if min(axes_i) < 0 and rank is not None:
        axes_i = [a % rank for a in axes_i]
    return g.op("Squeeze", input, axes_i=list(axes_i))


def _reducesum_helper(
    g: Any, input: Any, axes_i: Any = None, keepdims_i: int = 1, noop_with_empty_axes_i: int = 0
) -> Any:
    """ReduceSum with axes as an attribute or, from opset version 13 on, as an input."""
    if g.opset >= 13 and axes_i:
        axes = axes_i if _is_value(axes_i) else g.constant(list(axes_i))
        return g.op("ReduceSum", input, axes, keepdims_i=keepdims_i)
    return g.op("ReduceSum", input, axes_i=axes_i or None, keepdims_i=keepdims_i)


def _reshape_helper(g: Any, input: Any, shape: Any, allowzero: int = 0) -> Any:
    """Reshape to a list of sizes or a tensor of them."""
    shape = _sizes_argument(g, shape)
    if g.opset >= 14:
        return g.op("Reshape", input, shape, allowzero_i=allowzero)
    if allowzero:
        _onnx_opset_unsupported("Reshape with allowzero=1", g.opset, 14, input)
    return g.op("Reshape", input, shape)


def _slice_helper(
    g: Any, input: Any, axes: Any, starts: Any, ends: Any, steps: Any = None, dynamic_slice: bool = False
) -> Any:
    """Slice with bounds as attributes or, from opset version 10 on, as inputs."""
    if g.opset < 10:
        bounds = [_maybe_get_const(v, "is") if _is_value(v) else v for v in (starts, ends)]
        if any(_is_value(b) for b in bounds):
            _onnx_opset_unsupported_detailed("Slice", g.opset, 10, "the bounds are not constants", input)
        if steps is not None and any(s != 1 for s in _maybe_get_const(steps, "is")):
            _onnx_opset_unsupported_detailed("Slice", g.opset, 10, "the step is not 1", input)
        return g.op("Slice", input, axes_i=_maybe_get_const(axes, "is"), starts_i=bounds[0], ends_i=bounds[1])
    given = [_sizes_argument(g, v) for v in (starts, ends, axes)]
    if steps is not None:
        given.append(_sizes_argument(g, steps))
    return g.op("Slice", input, *given)


def _select_helper(g: Any, self: Any, dim: int, index: Any, apply_reshape: bool = True) -> Any:
    """Gather at one index or at a tensor of them."""
    index = g.constant(index) if not _is_value(index) else index
    return g.op("Gather", self, index, axis_i=dim)


def _size_helper(g: Any, self: Any, dim: Any) -> Any:
    """A size of a tensor, as a tensor without dimensions."""
    dim = _maybe_get_const(dim, "i")
    known = _get_tensor_dim_size(self, dim) if isinstance(dim, int) else None
    if known is not None:
        return g.constant(known)
    return g.op("Gather", g.op("Shape", self), dim if _is_value(dim) else g.constant(dim), axis_i=0)


def _sort_helper(g: Any, input: Any, dim: int, decending: bool = True, out: Any = None) -> Any:
    """The values and places of a sort along a dimension, by TopK."""
    if g.opset < 11 and not decending:
        _onnx_opset_unsupported("Sort in ascending order", g.opset, 11, input)
    size = g.op("Gather", g.op("Shape", input), g.constant([dim if dim >= 0 else dim + _rank(input, "sort")]), axis_i=0)
    if g.opset < 10:
        return g.op("TopK", input, k_i=int(_get_const(size, "i", "size")), axis_i=dim, outputs=2)
    return g.op("TopK", input, size, axis_i=dim, largest_i=int(decending) if g.opset >= 11 else None, outputs=2)


def _topk_helper(
    g: Any, input: Any, k: Any, dim: int, largest: bool = True, sorted: bool = False, out: Any = None
) -> Any:
    """TopK with the number as an attribute or, from opset version 10 on, as an input."""
    if g.opset < 11 and not largest:
        _onnx_opset_unsupported("TopK of the smallest", g.opset, 11, input)
    if g.opset < 10:
        return g.op("TopK", input, k_i=_get_const(k, "i", "k"), axis_i=dim, outputs=2)
    return g.op(
        "TopK",
        input,
        _sizes_argument(g, k),
        axis_i=dim,
        largest_i=int(largest) if g.opset >= 11 else None,
        sorted_i=int(sorted) if g.opset >= 11 else None,
        outputs=2,
    )


def _flatten_helper(g: Any, input: Any, start_dim: int, end_dim: int, dim: int) -> Any:
    """Reshape that joins dimensions."""
    shape = g.op("Shape", input)
    parts = [_slice_helper(g, shape, [0], [0], [start_dim])] if start_dim > 0 else []
    parts.append(g.constant([-1]))
    if end_dim < dim - 1:
        parts.append(_slice_helper(g, shape, [0], [end_dim + 1], [dim]))
    return _reshape_helper(g, input, parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0))


def _lt_helper(g: Any, input: Any, other: Any) -> Any:
    """Less."""
    return g.op("Less", input, other)


def _get_dim_for_cross(x: Any, dim: int | None) -> int | None:
    """The dimension of a cross product: the first of three elements where none is given."""
    if dim is not None and dim < 0:
        return dim + _rank(x, "cross")
    if dim is None:
        return next((i for i, n in enumerate(_get_tensor_sizes(x) or ()) if n == 3), None)
    return dim


def check_training_mode(op_train_mode: int, op_name: str) -> None:
    """Warns where an operator is in another mode than the export."""
    import warnings

    if bool(op_train_mode) != bool(GLOBALS.training_mode):
        mode = "train" if op_train_mode else "eval"
        wanted = "TrainingMode.TRAINING" if GLOBALS.training_mode else "TrainingMode.EVAL"
        warnings.warn(
            f"ONNX export mode is set to {wanted}, but operator '{op_name}' is set to {mode}=True. Exporting with {mode}=True."
        )


def is_caffe2_aten_fallback() -> bool:
    """Whether operators of Caffe2 are exported: they are not."""
    return False


def args_have_same_dtype(args: Any) -> bool:
    """Whether values have one element type."""
    return len({_dtype(a) for a in args}) == 1


def _set_opset_version(opset_version: int) -> None:
    GLOBALS.export_onnx_opset_version = opset_version


def _set_operator_export_type(operator_export_type: Any) -> None:
    GLOBALS.operator_export_type = operator_export_type


# Element types by their numbers in graphs, and by names.
scalar_type_to_pytorch_type: list[torch.dtype] = [kind.dtype() for kind in JitScalarType if kind is not JitScalarType.UNDEFINED]
scalar_type_to_onnx = [
    kind.onnx_type() if kind.onnx_compatible() else None
    for kind in JitScalarType
    if kind is not JitScalarType.UNDEFINED
]
cast_pytorch_to_onnx = {
    kind.scalar_name(): kind.onnx_type()
    for kind in JitScalarType
    if kind.onnx_compatible() and kind < JitScalarType.QINT8 or kind is JitScalarType.BFLOAT16
}
scalar_name_to_pytorch: dict[str, str] = {kind.torch_name(): kind.scalar_name() for kind in JitScalarType}
pytorch_name_to_type: dict[str, torch.dtype] = {kind.scalar_name(): kind.dtype() for kind in JitScalarType}
