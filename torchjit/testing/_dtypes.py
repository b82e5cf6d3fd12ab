"""Lists of element types, as torch.testing has them for tests."""

from __future__ import annotations

from typing import Any

from torchjit._types import dtypes


class _dispatch_dtypes(tuple):  # noqa: N801, SLOT001
    """Element types that can be added to others."""

    def __add__(self, other: Any) -> Any:
        assert isinstance(other, tuple)
        return _dispatch_dtypes(tuple.__add__(self, other))


_EMPTY = _dispatch_dtypes()
_INTEGRAL = _dispatch_dtypes(dtypes[n] for n in ("uint8", "int8", "int16", "int32", "int64"))
_FLOATING = _dispatch_dtypes((dtypes["float32"], dtypes["float64"]))
_COMPLEX = _dispatch_dtypes((dtypes["complex64"], dtypes["complex128"]))


def _validate_dtypes(*given: Any) -> tuple[Any, ...]:
    """The element types, which must be such."""
    for dtype in given:
        assert isinstance(dtype, type(dtypes["float32"]))
    return given


def integral_types() -> tuple[Any, ...]:
    """The types of integers; those after it are named alike. The functions ending with _and add others."""
    return _INTEGRAL


def floating_types() -> tuple[Any, ...]:
    return _FLOATING


def floating_types_and_half() -> tuple[Any, ...]:
    return _FLOATING + (dtypes["float16"],)


def complex_types() -> tuple[Any, ...]:
    return _COMPLEX


def double_types() -> tuple[Any, ...]:
    return _EMPTY + (dtypes["float64"], dtypes["complex128"])


def floating_and_complex_types() -> tuple[Any, ...]:
    return _FLOATING + _COMPLEX


def all_types() -> tuple[Any, ...]:
    return _FLOATING + _INTEGRAL


def all_types_and_complex() -> tuple[Any, ...]:
    return _FLOATING + _INTEGRAL + _COMPLEX


def all_types_and_half() -> tuple[Any, ...]:
    return all_types() + (dtypes["float16"],)


def empty_types() -> tuple[Any, ...]:
    return _EMPTY


def integral_types_and(*more: Any) -> tuple[Any, ...]:
    return _INTEGRAL + _validate_dtypes(*more)


def complex_types_and(*more: Any) -> tuple[Any, ...]:
    return _COMPLEX + _validate_dtypes(*more)


def floating_types_and(*more: Any) -> tuple[Any, ...]:
    return _FLOATING + _validate_dtypes(*more)


def floating_and_complex_types_and(*more: Any) -> tuple[Any, ...]:
    return floating_and_complex_types() + _validate_dtypes(*more)


def all_types_and(*more: Any) -> tuple[Any, ...]:
    return all_types() + _validate_dtypes(*more)


def all_types_and_complex_and(*more: Any) -> tuple[Any, ...]:
    return all_types_and_complex() + _validate_dtypes(*more)


def get_all_int_dtypes() -> list[Any]:
    return list(_INTEGRAL)


def get_all_complex_dtypes(include_complex32: bool = False) -> list[Any]:
    return [*([dtypes["complex32"]] if include_complex32 else []), *_COMPLEX]


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[Any]:
    more = [dtypes[n] for n, wanted in (("float16", include_half), ("bfloat16", include_bfloat16)) if wanted]
    return [*_FLOATING, *more]


def get_all_dtypes(
    include_half: bool = True, include_bfloat16: bool = True, include_bool: bool = True, include_complex: bool = True, include_complex32: bool = False,
    include_qint: bool = False,
) -> list[Any]:  # fmt: skip
    """All types but those that are left out."""
    quantized = [dtypes[n] for n in ("qint8", "quint8", "qint32")]
    found = [*_INTEGRAL, *get_all_fp_dtypes(include_half, include_bfloat16)]
    return [*found, *([dtypes["bool"]] if include_bool else []), *(get_all_complex_dtypes(include_complex32) if include_complex else ()), *(quantized if include_qint else ())]


def get_all_device_types() -> list[str]:
    """The devices that tests can use: the CPU."""
    return ["cpu"]
