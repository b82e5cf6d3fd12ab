"""Element types by the names that tensors' types, C++ and ONNX give them."""

from __future__ import annotations

import enum
from typing import Any

import torchjit as torch
from torchjit._C._onnx import TensorProtoDataType as Onnx


class JitScalarType(enum.IntEnum):
    """An element type; its number is that of torch.dtype in graphs."""

    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT = 3
    INT64 = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    COMPLEX32 = 8
    COMPLEX64 = 9
    COMPLEX128 = 10
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    UNDEFINED = 16

    @classmethod
    def from_name(cls, name: Any) -> JitScalarType:
        """The type with the name in a tensor's type ("Float") or in C++ ("float"). Raises ValueError for other names."""
        for kind, row in _ROWS.items():
            if name is not None and name in row[:2]:
                return kind
        raise ValueError(
            f"Unknown torch or scalar type: '{name}'" if name is not None else "Scalar type name cannot be None"
        )

    @classmethod
    def from_dtype(cls, dtype: Any) -> JitScalarType:
        """The type of a torch.dtype. Raises ValueError for what is none."""
        if dtype not in _BY_DTYPE:
            raise ValueError(f"Unknown dtype: {dtype}")
        return _BY_DTYPE[dtype]

    @classmethod
    def from_onnx_type(cls, number: int) -> JitScalarType:
        """The type of a number of ONNX. Raises ValueError where tensors have no such type."""
        for kind, row in _ROWS.items():
            if row[3] == number and kind is not cls.UNDEFINED:
                return kind
        raise ValueError(f"ONNX's element type {number} is none of tensors")

    def scalar_name(self) -> str:
        """The name in a tensor's type: "Float"."""
        return _ROWS[self][0]

    def torch_name(self) -> str:
        """The name in C++: "float"."""
        return _ROWS[self][1]

    def dtype(self) -> Any:
        """The torch.dtype."""
        return _ROWS[self][2]

    def onnx_type(self) -> Onnx:
        """The element type of ONNX. Raises ValueError where it has none."""
        if _ROWS[self][3] is None:
            raise ValueError(f"Scalar type {self} cannot be converted to ONNX")
        return _ROWS[self][3]

    def onnx_compatible(self) -> bool:
        """Whether ONNX has the type."""
        return self not in (JitScalarType.COMPLEX32, JitScalarType.UNDEFINED)


_K = JitScalarType
_ROWS: dict[JitScalarType, tuple[Any, ...]] = {
    _K.UINT8: ("Byte", "uint8_t", torch.uint8, Onnx.UINT8),
    _K.INT8: ("Char", "int8_t", torch.int8, Onnx.INT8),
    _K.INT16: ("Short", "int16_t", torch.int16, Onnx.INT16),
    _K.INT: ("Int", "int", torch.int32, Onnx.INT32),
    _K.INT64: ("Long", "int64_t", torch.int64, Onnx.INT64),
    _K.HALF: ("Half", "half", torch.float16, Onnx.FLOAT16),
    _K.FLOAT: ("Float", "float", torch.float32, Onnx.FLOAT),
    _K.DOUBLE: ("Double", "double", torch.float64, Onnx.DOUBLE),
    _K.COMPLEX32: ("ComplexHalf", "complex32", torch.complex32, None),
    _K.COMPLEX64: ("ComplexFloat", "complex64", torch.complex64, Onnx.COMPLEX64),
    _K.COMPLEX128: ("ComplexDouble", "complex128", torch.complex128, Onnx.COMPLEX128),
    _K.BOOL: ("Bool", "bool", torch.bool, Onnx.BOOL),
    _K.QINT8: ("QInt8", "qint8", torch.qint8, Onnx.INT8),
    _K.QUINT8: ("QUInt8", "quint8", torch.quint8, Onnx.UINT8),
    _K.QINT32: ("QInt32", "qint32", torch.qint32, Onnx.INT32),
    _K.BFLOAT16: ("BFloat16", "bfloat16", torch.bfloat16, Onnx.BFLOAT16),
    _K.UNDEFINED: ("Undefined", "undefined", None, Onnx.UNDEFINED),
}
_BY_DTYPE = {row[2]: kind for kind, row in _ROWS.items() if row[2] is not None}


def valid_scalar_name(scalar_name: Any) -> bool:
    """Whether tensors' types have an element type of this name."""
    return any(scalar_name == row[0] for row in _ROWS.values())


def valid_torch_name(torch_name: Any) -> bool:
    """Whether C++ has an element type of this name."""
    return any(torch_name == row[1] for row in _ROWS.values())
