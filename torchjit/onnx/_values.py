"""What is known of values of a graph: constants, elements of lists, types. torch.onnx.symbolic_helper has the names too."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _fold, _infer, errors
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
            given = [
                _parse_arg(a, d, n, f.__name__) for a, d, n in zip(args, arg_descriptors, [*names, *[""] * len(args)])
            ]
            return f(g, *given, **kwargs)

        return wrapper

    return decorate


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
        raise errors.SymbolicValueError(
            f"{operator} of a tensor whose number of dimensions is not known has no form in ONNX.", x
        )
    return rank
