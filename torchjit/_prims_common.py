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


# Layouts.

_LAST = {torch.channels_last: (4, (1, 3, 2, 0)), torch.channels_last_3d: (5, (1, 4, 3, 2, 0))}


def validate_memory_format(memory_format: Any) -> None:
    """Raises RuntimeError for what is no memory format."""
    known = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)
    check(memory_format in known, lambda: f"Received unknown memory format {memory_format}!")


def is_contiguous(a: Any) -> bool:
    """Whether the elements lie in order and without gaps."""
    return a.is_contiguous()


def is_contiguous_for_memory_format(a: Any, *, memory_format: Any) -> bool:
    """Whether the elements lie in the order of a memory format. Raises RuntimeError for preserve_format."""
    validate_memory_format(memory_format)
    if memory_format == torch.preserve_format:
        raise RuntimeError(f"is_contiguous received unsupported memory format {memory_format}")
    return a.is_contiguous(memory_format=memory_format)


def is_channels_last_contiguous_2d(a: Any) -> bool:
    """Whether images have their channels last."""
    return a.ndim == 4 and a.is_contiguous(memory_format=torch.channels_last)


def is_channels_last_contiguous_3d(a: Any) -> bool:
    """Whether volumes have their channels last."""
    return a.ndim == 5 and a.is_contiguous(memory_format=torch.channels_last_3d)


def is_channels_last_contiguous(a: Any) -> bool:
    """Whether images or volumes have their channels last."""
    return is_channels_last_contiguous_2d(a) or is_channels_last_contiguous_3d(a)


def is_non_overlapping_and_dense(a: Any) -> bool:
    """Whether the elements lie without gaps, in any order."""
    expected = 1
    for length, stride in sorted(((n, s) for n, s in zip(a.shape, a.stride()) if n != 1), key=lambda pair: pair[1]):
        if length == 0:
            return True
        if stride != expected:
            return False
        expected *= length
    return True


def are_strides_like_channels_last(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether strides grow as those of images or volumes with channels last do."""
    order = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}.get(len(shape))
    if order is None or strides[1] == 0:
        return False
    least = 0
    for d in order:
        if shape[d] == 0 or strides[d] < least or d == 0 and least == strides[1]:
            return False
        least = strides[d] * max(shape[d], 1)
    return True


def suggest_memory_format(x: Any) -> Any:
    """The memory format that a result of the tensor should have."""
    if x.layout == torch.strided and are_strides_like_channels_last(x.shape, x.stride()):
        return torch.channels_last if x.ndim == 4 else torch.channels_last_3d
    return torch.contiguous_format


def _last_strides(shape: Sequence[int], format: Any) -> tuple[int, ...]:
    rank, order = _LAST[format]
    check(len(shape) == rank, lambda: f"Only tensors of rank {rank} can use the {str(format).split('.')[-1]} memory format")
    strides, step = [0] * rank, 1
    for d in order:
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def make_channels_last_2d_strides_for(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of images with channels last."""
    return _last_strides(shape, torch.channels_last)


def make_channels_last_3d_strides_for(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of volumes with channels last."""
    return _last_strides(shape, torch.channels_last_3d)


def make_channels_last_strides_for(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of images or volumes with channels last."""
    ndim = len(shape)
    check(ndim in (4, 5), lambda: f"no channels last format strides exist in {ndim} dimensions")
    return make_channels_last_2d_strides_for(shape) if ndim == 4 else make_channels_last_3d_strides_for(shape)


def compute_elementwise_output_strides(*tensors: Any) -> tuple[int, ...]:
    """The strides of what an operator of elements gives for tensors of one size. Raises ValueError without tensors, RuntimeError for other sizes."""
    if not tensors:
        raise ValueError("Can't compute elementwise output strides for zero tensors!")
    check_same_shape(*tensors, allow_cpu_scalar_tensors=True)
    found = [t for t in tensors if isinstance(t, torch.Tensor) and not is_cpu_scalar_tensor(t)]
    if not found:
        return ()
    rank = found[0].ndim
    order = list(reversed(range(rank)))  # from the dimension that varies fastest

    def slower(i: int, j: int) -> int:
        for t in found:
            first, second = t.stride(i), t.stride(j)
            if first == 0 or second == 0:
                continue
            if first != second:
                return 1 if first > second else -1
            if t.shape[i] > t.shape[j]:
                return 1
        return 0

    for i in range(1, rank):
        at = i
        for j in reversed(range(i)):
            compared = slower(order[j], order[at])
            if compared > 0:
                order[j], order[at] = order[at], order[j]
                at = j
            elif compared < 0:
                break
    strides, step = [0] * rank, 1
    for d in order:
        strides[d] = step
        step *= max(found[0].shape[d], 1)
    return tuple(strides)


# Checks.


def check(b: bool, s: Any, exc_type: type[Exception] = RuntimeError) -> None:
    """Raises an exception with the text that a function gives, unless something holds."""
    if not b:
        raise exc_type(s())


def same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two sizes are equal."""
    return tuple(a) == tuple(b)


def check_same_device(*args: Any, allow_cpu_scalar_tensors: bool) -> None:
    """Raises RuntimeError where tensors are on several devices; numbers on the CPU may be allowed."""
    found = [t for t in args if isinstance(t, torch.Tensor) and not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(t))]
    for t in found[1:]:
        check(t.device == found[0].device, lambda t=t: f"Tensor on device {t.device} is not on the expected device {found[0].device}!")


def check_same_dtype(*args: Any) -> None:
    """Raises RuntimeError where tensors have several element types."""
    found = [t for t in args if isinstance(t, torch.Tensor)]
    for t in found[1:]:
        check(t.dtype == found[0].dtype, lambda t=t: f"Tensor with dtype {t.dtype} is not the expected dtype of {found[0].dtype}!")


def check_same_shape(*args: Any, allow_cpu_scalar_tensors: bool) -> None:
    """Raises RuntimeError where tensors have several sizes; numbers on the CPU may be allowed."""
    found = [t for t in args if isinstance(t, torch.Tensor) and not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(t))]
    for t in found[1:]:
        check(t.shape == found[0].shape, lambda t=t: f"Shape {t.shape} is not the expected shape {found[0].shape}!")


def compare_tensor_meta(a: Any, b: Any, check_strides: bool = False) -> None:
    """Raises AssertionError where tensors differ in size, element type or device; with check_strides RuntimeError for other strides."""
    if not same_shape(a.shape, b.shape):
        raise AssertionError(f"Shapes {a.shape} and {b.shape} are not equal!")
    if a.dtype != b.dtype:
        raise AssertionError(f"Dtypes {a.dtype} and {b.dtype} are not equal!")
    if a.device != b.device:
        raise AssertionError(f"Devices {a.device} and {b.device} are not equal!")
    if check_strides and a.stride() != b.stride():
        raise RuntimeError(f"Stride mismatch! Strides are {a.stride()} and {b.stride()}!")


def validate_dim_length(length: int) -> None:
    """Raises AssertionError for a negative length."""
    assert length >= 0


def validate_shape(shape: Sequence[int]) -> None:
    """Raises AssertionError for negative lengths."""
    for length in shape:
        validate_dim_length(length)


def validate_strides(strides: Sequence[int]) -> None:
    """Raises AssertionError for negative strides."""
    for stride in strides:
        assert stride >= 0


def validate_idx(rank: int, idx: int) -> None:
    """Raises AssertionError for what is no dimension; one without dimensions has the dimension 0."""
    assert 0 <= idx < rank or idx == 0


def validate_dimension_indices(rank: int, indices: Sequence[int]) -> None:
    """validate_idx of several."""
    for idx in indices:
        validate_idx(rank, idx)


def validate_exclusive_idx(rank: int, ex_idx: int) -> None:
    """Raises AssertionError for what is no end of a range of dimensions."""
    assert 0 < ex_idx <= rank


def validate_no_repeating_dims(dims: Sequence[int]) -> None:
    """Raises RuntimeError where a dimension is there twice."""
    check(len(dims) == len(set(dims)), lambda: "duplicate value in the list of dims")


def check_fp_or_complex(dtype: Any, fn_name: str, allow_low_precision_dtypes: bool = True) -> None:
    """Raises RuntimeError for integers and, unless they are allowed, for types of half precision."""
    check(is_float_dtype(dtype) or is_complex_dtype(dtype), lambda: f"{fn_name}: Expected a floating point or complex tensor as input. Got {dtype}")
    check(allow_low_precision_dtypes or not is_low_precision_dtype(dtype), lambda: f"{fn_name}: Half precision dtypes not supported. Got {dtype}")


def check_is_matrix(A: Any, f_name: str, arg_name: str = "A") -> None:
    """Raises RuntimeError for fewer than two dimensions."""
    check(len(A.shape) >= 2, lambda: f"{f_name}: The input tensor {arg_name} must have at least 2 dimensions.")


def check_layout(layout: Any) -> None:
    """Raises NotImplementedError for sparse layouts."""
    check(layout == torch.strided, lambda: f"PrimTorch doesn't support layout={layout}", NotImplementedError)


def check_pin_memory(pin_memory: bool) -> None:
    """Raises NotImplementedError for pinned memory."""
    check(not pin_memory, lambda: "PrimTorch does not support pinned memory", NotImplementedError)


def check_in_bounds_for_storage(a: Any, shape: Sequence[int], strides: Sequence[int], storage_offset: int) -> None:
    """Raises ValueError where a view would reach beyond a storage."""
    required = 0 if any(length == 0 for length in shape) else 1 + sum((n - 1) * step for n, step in zip(shape, strides))
    if required and a.size() - storage_offset < required:
        raise ValueError(
            f"Can't view a storage of size {a.size()} with an offset of {storage_offset}, shape of {tuple(shape)}, and strides of {tuple(strides)}, "
            f"which requires a storage of size {required}"
        )


# Values.


def canonicalize_device(device: Any) -> Any:
    """A device of its name."""
    return torch.device(device)


def layout_or_default(layout: Any) -> Any:
    """A layout, torch.strided for None."""
    return torch.strided if layout is None else layout


def dtype_to_type_ctor(dtype: Any) -> Any:
    """What makes the numbers of Python that an element type has."""
    return dtype_to_type(dtype)


def prod(xs: Sequence[Any]) -> Any:
    """The product of numbers."""
    return math.prod(xs)


def mask_tensor(mask: Any, t: Any) -> Any:
    """The elements where a mask is true, and zeros."""
    return torch.where(mask, t, torch.zeros((), dtype=t.dtype))


def set_correction(unbiased: bool | None = None, correction: int | None = None) -> int:
    """What is taken from the number of elements. Raises RuntimeError where both say it, ValueError where it is negative."""
    if correction is not None and unbiased is not None:
        raise RuntimeError("cannot specify both correction and unbiased arguments")
    found = correction if correction is not None else 0 if unbiased is False else 1
    if found < 0:
        raise ValueError("correction argument should be non-negative")
    return found


def reduction_dtypes(arg: Any, output_dtype_kind: REDUCTION_OUTPUT_TYPE_KIND, dtype: Any = None) -> tuple[Any, Any]:
    """The type that a reduction computes with, and that of its result, None where that is the same."""
    given = dtype if dtype is not None else arg.dtype
    kinds = REDUCTION_OUTPUT_TYPE_KIND
    computed = get_computation_dtype(given)
    if output_dtype_kind is kinds.KEEP_PROMOTED_TYPE:
        return computed, None
    if output_dtype_kind is kinds.ALWAYS_BOOL:
        return computed, torch.bool
    if output_dtype_kind is kinds.COMPLEX_TO_FLOAT and is_complex_dtype(given):
        return computed, corresponding_real_dtype(given)
    return computed, given
