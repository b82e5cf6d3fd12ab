"""torch._C._onnx: the enumerations of torch.onnx."""

from __future__ import annotations

import enum


class OperatorExportTypes(enum.IntEnum):
    """What becomes of operators without a form in ONNX: ONNX refuses them."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TrainingMode(enum.IntEnum):
    """Whether a model is exported for inference, as it is, or for training."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class TensorProtoDataType(enum.IntEnum):
    """The element types of ONNX."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


_CAFFE2_ATEN_FALLBACK = False
PRODUCER_VERSION = "1.13.1"
