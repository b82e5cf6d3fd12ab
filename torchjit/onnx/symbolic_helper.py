"""torch.onnx.symbolic_helper: what functions that export operators are written with.

The names and arguments are those of PyTorch's module, which exporters of other libraries use. A value is `torch._C.Value`, a tensor's size is None
where it is not known.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _fold, _infer, errors
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._type_utils import JitScalarType

# ---- constants ----


def _node_get(node: Any, key: str) -> Any:
    """An attribute of a node."""
    return node[key]


def _is_none(value: Any) -> bool:
    """Whether a value is a None of the program."""
    return value is None or isinstance(value, _C.Value) and value.node().mustBeNone()


def _is_value(x: Any) -> bool:
    """Whether an object is a value of a graph."""
    return isinstance(x, _C.Value)


def _is_constant(value: Any) -> bool:
    """Whether a value is known."""
    return not _is_value(value) or value.node().kind() in ("onnx::Constant", "prim::Constant")


def _is_onnx_constant(value: Any) -> bool:
    """Whether a Constant makes a value."""
    return value.node().kind() == "onnx::Constant"


def _is_tensor(x: Any) -> bool:
    """Whether a value is a tensor."""
    return x.type().isSubtypeOf(_C.TensorType.get())


def _is_list(x: Any) -> bool:
    """Whether a value is a list."""
    return x.type().kind() == "ListType"


def _is_tensor_list(x: Any) -> bool:
    """Whether a value is a list of tensors."""
    return _is_list(x) and x.type().getElementType().kind() == "TensorType"


def _is_scalar_list(x: Any) -> bool:
    """Whether a value is a list of numbers."""
    return _is_list(x) and x.type().getElementType().kind() in ("IntType", "FloatType", "BoolType")


def _is_packed_list(list_value: Any) -> bool:
    """Whether the elements of a list are values of the graph."""
    return _is_value(list_value) and list_value.node().kind() == "prim::ListConstruct"


def _is_tuple_construct(x: Any) -> bool:
    """Whether a value is a tuple whose elements are values of the graph."""
    return x.node().kind() == "prim::TupleConstruct"


def _is_complex(x: Any) -> bool:
    return getattr(_infer.info(x)[0], "is_complex", False)


is_complex_value = _is_complex


def _unpack_list(list_value: Any) -> list[Any]:
    """The elements of a list. Raises SymbolicValueError where they are not values of the graph."""
    if not _is_packed_list(list_value):
        raise errors.SymbolicValueError("expected a list whose elements are in the graph.", list_value)
    return list(list_value.node().inputs())


def _unpack_tuple(tuple_value: Any) -> tuple[Any, ...]:
    """The elements of a tuple. Raises SymbolicValueError where they are not values of the graph."""
    if not _is_tuple_construct(tuple_value):
        raise errors.SymbolicValueError("expected a tuple whose elements are in the graph.", tuple_value)
    return tuple(tuple_value.node().inputs())


def _constant(value: Any) -> Any:
    """What a value is, where the graph says it: a tensor, a list, a string; NotImplemented where it does not."""
    node = value.node()
    if node.kind() == "onnx::Constant" and node.hasAttribute("value"):
        return node.t("value")
    if node.kind() == "prim::Constant":
        return value.toIValue()
    if node.kind() == "prim::ListConstruct":
        items = [_constant(v) for v in node.inputs()]
        return NotImplemented if any(i is NotImplemented for i in items) else items
    return NotImplemented


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, torch.Tensor) else x


def _parse_arg(value: Any, desc: str, arg_name: str | None = None, node_name: str | None = None) -> Any:
    """What an argument is by its kind: v a value, i an int, f a float, b a bool, s a string, t a tensor, is and fs lists, none a None.

    Raises SymbolicValueError where the argument is not a constant of that kind.
    """
    if desc == "none":
        return None
    if desc == "v" or not _is_value(value):
        return value
    if _is_none(value):
        return None
    found = _constant(value)
    if found is NotImplemented:
        of = f" of node '{node_name}'" if node_name else ""
        raise errors.SymbolicValueError(
            f"ONNX symbolic expected a constant value for the argument '{arg_name}'{of}, of the kind '{desc}'", value
        )
    if desc in ("i", "f", "b"):
        return {"i": int, "f": float, "b": bool}[desc](_number(found))
    if desc == "t":
        return found if isinstance(found, torch.Tensor) else torch.tensor(found)
    if desc in ("is", "fs"):
        kind = int if desc == "is" else float
        flat = found.reshape(-1).tolist() if isinstance(found, torch.Tensor) else [_number(v) for v in found]
        return [kind(v) for v in flat]
    if desc == "s":
        return str(found)
    raise errors.SymbolicValueError(f"'{desc}' is no kind of an argument", value)


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives a function arguments of the kinds that _parse_arg knows."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        f._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        names = list(inspect.signature(f).parameters)[1:]

        @functools.wraps(f)
        def wrapper(g: Any, *args: Any, **kwargs: Any) -> Any:
            if len(args) > len(arg_descriptors):
                raise TypeError(f"{f.__name__} takes {len(arg_descriptors)} arguments but was given {len(args)}")
            given = [_parse_arg(a, d, n, f.__name__) for a, d, n in zip(args, arg_descriptors, [*names, *[""] * len(args)])]
            return f(g, *given, **kwargs)

        return wrapper

    return decorate


def quantized_args(*arg_q_descriptors: bool, scale: Any = None, zero_point: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that take quantized tensors: quantized programs are not exported, so it changes nothing."""
    return lambda f: f


def _maybe_get_const(value: Any, descriptor: str) -> Any:
    """What a value is by its kind where it is a constant, else the value."""
    if _is_value(value) and _constant(value) is not NotImplemented and not _is_none(value):
        return _parse_arg(value, descriptor)
    return value


def _maybe_get_scalar(value: Any) -> Any:
    """The tensor without dimensions that a value is where it is a constant, else the value."""
    found = _maybe_get_const(value, "t")
    return found if isinstance(found, torch.Tensor) and found.dim() == 0 else value


def _get_const(value: Any, desc: str, arg_name: str) -> Any:
    """What a value is by its kind. Raises SymbolicValueError where it is no constant."""
    return _parse_arg(value, desc, arg_name)


def _scalar(x: Any) -> Any:
    """The number that a tensor or a value of one element is, None where it is no constant."""
    if _is_value(x):
        x = _fold.constant_of(x)
    if isinstance(x, torch.Tensor):
        return x.item() if x.numel() == 1 else None
    return x if isinstance(x, (int, float, bool)) else None


# ---- types ----


def _get_tensor_sizes(x: Any, allow_nonstatic: bool = True) -> list[int | None] | None:
    """The sizes of a tensor, None where not even their number is known; without allow_nonstatic, where one is not known."""
    sizes = _infer.info(x)[1]
    return sizes if allow_nonstatic or sizes is None or None not in sizes else None


def _get_tensor_dim_size(x: Any, dim: int) -> int | None:
    """A size of a tensor where it is known."""
    sizes = _get_tensor_sizes(x)
    return sizes[dim] if sizes is not None and -len(sizes) <= dim < len(sizes) else None


def _get_tensor_rank(x: Any) -> int | None:
    """The number of dimensions where it is known."""
    sizes = _get_tensor_sizes(x)
    return None if sizes is None else len(sizes)


def _dtype(x: Any) -> Any:
    """The torch.dtype of a value, None where it is not known."""
    return _infer.info(x)[0]


def _try_get_scalar_type(*args: Any) -> str | None:
    """The name of the element type of the first value whose type is known."""
    found = next((d for d in map(_dtype, args) if d is not None), None)
    return None if found is None else JitScalarType.from_dtype(found).scalar_name()


def _is_fp(value: Any) -> bool:
    """Whether a value has floating point elements."""
    return getattr(_dtype(value), "is_floating_point", False)


def _is_bool(value: Any) -> bool:
    """Whether a value has elements of bool."""
    return _dtype(value) == torch.bool


def _if_scalar_type_as(self: Any, tensor: Any) -> Any:
    """A constant with the element type of a tensor."""
    if isinstance(self, torch.Tensor) or not _is_value(self):
        return torch.as_tensor(self, dtype=_dtype(tensor))
    return self


def _rank(x: Any, operator: str) -> int:
    """The number of dimensions. Raises SymbolicValueError where it is not known."""
    rank = _get_tensor_rank(x)
    if rank is None:
        raise errors.SymbolicValueError(f"{operator} of a tensor whose number of dimensions is not known has no form in ONNX.", x)
    return rank


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
    _onnx_unsupported(f"{op_name} at opset version {current_opset}: it is supported from opset version {supported_opset} on", value)


def _onnx_opset_unsupported_detailed(op_name: str, current_opset: int, supported_opset: int, reason: str, value: Any = None) -> NoReturn:
    """Raises an error of an operator that has a form at a later opset version, with the reason."""
    _onnx_unsupported(f"{op_name} at opset version {current_opset}: {reason}. It is supported from opset version {supported_opset} on", value)


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
        return g.constant([int(_number(v)) for v in (found if isinstance(found, (list, tuple)) else [found])], torch.int64)
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
            _onnx_opset_unsupported_detailed("Unsqueeze", g.opset, 11, "negative axes need the number of dimensions", input)
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


def _reducesum_helper(g: Any, input: Any, axes_i: Any = None, keepdims_i: int = 1, noop_with_empty_axes_i: int = 0) -> Any:
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


def _slice_helper(g: Any, input: Any, axes: Any, starts: Any, ends: Any, steps: Any = None, dynamic_slice: bool = False) -> Any:
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


def _topk_helper(g: Any, input: Any, k: Any, dim: int, largest: bool = True, sorted: bool = False, out: Any = None) -> Any:
    """TopK with the number as an attribute or, from opset version 10 on, as an input."""
    if g.opset < 11 and not largest:
        _onnx_opset_unsupported("TopK of the smallest", g.opset, 11, input)
    if g.opset < 10:
        return g.op("TopK", input, k_i=_get_const(k, "i", "k"), axis_i=dim, outputs=2)
    return g.op(
        "TopK", input, _sizes_argument(g, k), axis_i=dim, largest_i=int(largest) if g.opset >= 11 else None,
        sorted_i=int(sorted) if g.opset >= 11 else None, outputs=2,
    )  # fmt: skip


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
        warnings.warn(f"ONNX export mode is set to {wanted}, but operator '{op_name}' is set to {mode}=True. Exporting with {mode}=True.")


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
scalar_type_to_pytorch_type = [kind.dtype() for kind in JitScalarType if kind is not JitScalarType.UNDEFINED]
scalar_type_to_onnx = [kind.onnx_type() if kind.onnx_compatible() else None for kind in JitScalarType if kind is not JitScalarType.UNDEFINED]
cast_pytorch_to_onnx = {
    kind.scalar_name(): kind.onnx_type() for kind in JitScalarType if kind.onnx_compatible() and kind < JitScalarType.QINT8 or kind is JitScalarType.BFLOAT16
}  # fmt: skip
scalar_name_to_pytorch = {kind.torch_name(): kind.scalar_name() for kind in JitScalarType}
pytorch_name_to_type = {kind.scalar_name(): kind.dtype() for kind in JitScalarType}
