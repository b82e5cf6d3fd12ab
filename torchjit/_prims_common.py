"""torch._prims_common: what element types, shapes and dimensions are to operators written in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

import torchjit as torch

TensorLike = torch.Tensor
Number = (bool, int, float, complex)

_COMPLEX_OF = {torch.float16: torch.complex32, torch.bfloat16: torch.complex64, torch.float32: torch.complex64, torch.float64: torch.complex128}
_REAL_OF = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}
_COMPUTED_AS = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class ELEMENTWISE_TYPE_PROMOTION_KIND(Enum):
    """Which types an operator of elements computes with and gives: see `elementwise_dtypes`."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(Enum):
    """Which type a reduction gives."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(Enum):
    """Whether an operation gives a new tensor, a view, or writes to an argument."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)


def is_boolean_dtype(dtype: Any) -> bool:
    """Whether a type is bool."""
    return dtype is torch.bool


def is_integer_dtype(dtype: Any) -> bool:
    """Whether a type is one of integers, without bool."""
    return dtype in _INTEGERS


def is_low_precision_dtype(dtype: Any) -> bool:
    """Whether a type has 16 bits for a real number."""
    return dtype in (torch.float16, torch.bfloat16, torch.complex32)


def is_float_dtype(dtype: Any) -> bool:
    """Whether a type is one of real floats."""
    return bool(dtype.is_floating_point)


def is_complex_dtype(dtype: Any) -> bool:
    """Whether a type is one of complex numbers."""
    return bool(dtype.is_complex)


def is_grad_dtype(dtype: Any) -> bool:
    """Whether tensors of a type can require a gradient."""
    return bool(dtype.is_floating_point or dtype.is_complex)


def corresponding_real_dtype(dtype: Any) -> Any:
    """The type of the parts of a complex type; KeyError for others."""
    return _REAL_OF[dtype]


def corresponding_complex_dtype(dtype: Any) -> Any:
    """The complex type whose parts have a type; KeyError for those that are not real floats."""
    return _COMPLEX_OF[dtype]


def get_computation_dtype(dtype: Any) -> Any:
    """The type in which operators compute elements of a type: float32 for 16 bits."""
    return _COMPUTED_AS.get(dtype, dtype)


def dtype_to_type(dtype: Any) -> type:
    """Python's type of numbers of an element type."""
    if dtype is torch.bool:
        return bool
    return int if is_integer_dtype(dtype) else float if is_float_dtype(dtype) else complex


def type_to_dtype(typ: type) -> Any:
    """The element type of tensors of numbers of a Python type."""
    if typ is float:
        return torch.get_default_dtype()
    return {bool: torch.bool, int: torch.int64}.get(typ) or corresponding_complex_dtype(torch.get_default_dtype())


def get_higher_type(a: type, b: type) -> type:
    """The later one of bool, int, float and complex."""
    return max(a, b, key=Number.index)


def is_weakly_lesser_type(a: type, b: type) -> bool:
    """Whether a is b or stands before it among bool, int, float and complex."""
    return Number.index(a) <= Number.index(b)


def number_type(x: Any) -> type:
    """Python's type of a number."""
    return type(x)


def get_dtype(x: Any) -> Any:
    """The element type of a tensor or a number."""
    return x.dtype if isinstance(x, torch.Tensor) else type_to_dtype(type(x))


def get_higher_dtype(a: Any, b: Any) -> Any:
    """The type to which two types, or those of tensors or numbers, promote."""
    a, b = (t if t is None or isinstance(t, torch.dtype) else get_dtype(t) for t in (a, b))
    if a is None or b is None:
        return b if a is None else a
    return torch.promote_types(a, b)


def can_safe_cast_to(*, cast_to: Any, cast_from: Any) -> bool:
    """Whether a type is of the same kind as another or a later one, of bool, integers, floats and complex numbers."""
    return is_weakly_lesser_type(dtype_to_type(cast_from), dtype_to_type(cast_to))


def elementwise_dtypes(*args: Any, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND) -> tuple[Any, Any]:
    """The types in which an operator of these arguments (tensors, numbers, None) computes, and of its result.

    Tensors with dimensions decide, then those without, then numbers: a later group only where its kind (bool, integers, floats, complex
    numbers) is a higher one. ValueError for other arguments.
    """
    for x in args:
        if x is not None and not isinstance(x, (torch.Tensor, *Number)):
            raise ValueError(f"Unexpected type {type(x)} when computing elementwise type promotion!")
    highest: type = bool
    for x in args:
        if x is not None:
            highest = get_higher_type(highest, dtype_to_type(x.dtype) if isinstance(x, torch.Tensor) else number_type(x))
    found = None
    tensors = [x for x in args if isinstance(x, torch.Tensor)]
    for group in ([t.dtype for t in tensors if t.dim() > 0], [t.dtype for t in tensors if t.dim() == 0]):
        own = None
        for dtype in group:
            own = get_higher_dtype(own, dtype)
        if found is None:
            found = own
        elif own is not None and not is_weakly_lesser_type(dtype_to_type(own), dtype_to_type(found)):
            found = _COMPLEX_OF.get(found, own) if is_complex_dtype(own) else get_higher_dtype(found, own)
    if found is None:
        found = type_to_dtype(highest)
    elif not is_weakly_lesser_type(highest, dtype_to_type(found)):
        number = type_to_dtype(highest)
        found = _COMPLEX_OF.get(found, number) if highest is complex else get_higher_dtype(found, number)
    return _by_kind(found, type_promotion_kind)


def _by_kind(found: Any, kind: ELEMENTWISE_TYPE_PROMOTION_KIND) -> tuple[Any, Any]:
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    if kind is kinds.NO_OPMATH:
        return found, found
    if kind is kinds.INT_TO_FLOAT and (is_integer_dtype(found) or is_boolean_dtype(found)):
        found = torch.get_default_dtype()
    computed = get_computation_dtype(found)
    if kind is kinds.BOOL_TO_LONG and is_boolean_dtype(found):
        return torch.int64, torch.int64
    if kind is kinds.COMPLEX_TO_FLOAT and is_complex_dtype(found):
        return computed, corresponding_real_dtype(found)
    return computed, torch.bool if kind is kinds.ALWAYS_BOOL else found


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dimension counted from the first one. IndexError where a tensor of the rank has none such."""
    least = max(rank, 1) if wrap_scalar else rank
    if not -least <= idx < least:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-least}, {least - 1}], but got {idx})")
    return idx % least


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """The same for a sequence of dimensions, or one."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, i, wrap_scalar) for i in indices)


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of a contiguous tensor; without row_major, of matrices whose columns are contiguous."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    strides.reverse()
    if not row_major and len(strides) > 1:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def is_same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes are equal."""
    return tuple(a) == tuple(b)


def is_expandable_to(shape: Sequence[int], desired: Sequence[int]) -> bool:
    """Whether a tensor of a shape can be expanded to another."""
    if len(shape) > len(desired):
        return False
    return all(n in (1, to) for n, to in zip(reversed(shape), reversed(desired)))


def is_valid_permutation(rank: int, perm: Any) -> bool:
    """Whether perm is a sequence of all dimensions."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def is_cpu_scalar_tensor(a: Any) -> bool:
    """Whether something is a tensor without dimensions on the CPU."""
    return isinstance(a, torch.Tensor) and a.dim() == 0 and a.device.type == "cpu"


def infer_size(shape: Sequence[int], numel: int) -> tuple[int, ...]:
    """The shape with its -1, if there is one, replaced so that it has numel elements. RuntimeError where that cannot be."""
    known = math.prod(n for n in shape if n != -1)
    if list(shape).count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape and known and numel % known == 0:
        return tuple(numel // known if n == -1 else n for n in shape)
    if -1 in shape or known != numel:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(shape)


def reduction_dims(shape: Sequence[int], dims: Any) -> tuple[int, ...]:
    """The dimensions that a reduction is over, all for None. RuntimeError where one is named twice."""
    if dims is None:
        return tuple(range(len(shape)))
    found = tuple(canonicalize_dim(len(shape), d) for d in dims)
    if len(set(found)) != len(found):
        raise RuntimeError("duplicate value in the list of dims")
    return found


def compute_reduction_output_shape(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    """The shape without the dimensions."""
    return tuple(n for i, n in enumerate(shape) if i not in dimensions)


def extract_shape_from_varargs(shape: Any, validate: bool = True) -> tuple[int, ...]:
    """The shape that is given as numbers or as one sequence."""
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    return tuple(shape)


extract_dims_from_varargs = extract_shape_from_varargs


def extract_shape(*args: Any, allow_cpu_scalar_tensors: bool) -> Any:
    """The shape that the tensors among the arguments have in common, None where they differ or are none."""
    found, scalar = None, None
    for x in args:
        if isinstance(x, torch.Tensor):
            if allow_cpu_scalar_tensors and is_cpu_scalar_tensor(x):
                scalar = x.shape
            elif found is None:
                found = x.shape
            elif not is_same_shape(found, x.shape):
                return None
    return found if found is not None else scalar


def dtype_or_default(dtype: Any) -> Any:
    """The type, or the default one for None."""
    return dtype if dtype is not None else torch.get_default_dtype()


def device_or_default(device: Any) -> Any:
    """The device, or the CPU for None."""
    return device if device is not None else torch.device("cpu")
