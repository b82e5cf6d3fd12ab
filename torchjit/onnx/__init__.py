"""torch.onnx: export of modules and compiled programs to ONNX.

`export` writes a model. How operators are exported is in torchjit/onnx/_symbolics; `register_custom_op_symbolic` adds what is missing.
"""

from __future__ import annotations

from typing import Any

from torchjit._C._onnx import _CAFFE2_ATEN_FALLBACK, OperatorExportTypes, TensorProtoDataType, TrainingMode
from torchjit.onnx import _symbolic_modules as _symbolic_modules
from torchjit.onnx import _text, errors, symbolic_helper, utils
from torchjit.onnx._type_utils import JitScalarType
from torchjit.onnx.errors import CheckerError
from torchjit.onnx.utils import (
    export,
    export_to_pretty_string,
    is_in_onnx_export,
    register_custom_op_symbolic,
    select_model_mode_for_export,
    unregister_custom_op_symbolic,
)

__all__ = [
    "symbolic_helper", "utils", "errors", "symbolic_caffe2", "symbolic_opset7", "symbolic_opset8", "symbolic_opset9", "symbolic_opset10",
    "symbolic_opset11", "symbolic_opset12", "symbolic_opset13", "symbolic_opset14", "symbolic_opset15", "symbolic_opset16",
    "symbolic_opset17",
    "ExportTypes", "OperatorExportTypes", "TrainingMode", "TensorProtoDataType", "JitScalarType", "export", "export_to_pretty_string",
    "is_in_onnx_export", "select_model_mode_for_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic", "disable_log",
    "enable_log",
    "CheckerError",
]  # fmt: skip

producer_name = "pytorch"
producer_version = "1.13.1"


class ExportTypes:
    """Forms of exported models; export writes the first."""

    PROTOBUF_FILE = "Saves model in the specified protobuf file."
    ZIP_ARCHIVE = "Saves model in the specified ZIP file (uncompressed)."
    COMPRESSED_ZIP_ARCHIVE = "Saves model in the specified ZIP file (compressed)."
    DIRECTORY = "Saves model in the specified folder."


def _export(*args: Any, **kwargs: Any) -> Any:
    """export, which returns what the call of the module returned."""
    return utils._export(*args, **kwargs)


def enable_log() -> None:
    """Has exports print their graphs."""
    _text.verbose[0] = True


def disable_log() -> None:
    """Has exports print nothing."""
    _text.verbose[0] = False


def is_onnx_log_enabled() -> bool:
    """Whether exports print their graphs."""
    return _text.verbose[0]


def set_log_stream(stream_name: str = "stdout") -> None:
    """Has exports print to "stdout" or "stderr". Raises ValueError for other names."""
    import sys

    if stream_name not in ("stdout", "stderr"):
        raise ValueError(f"expected 'stdout' or 'stderr' but found '{stream_name}'")
    _text.set_stream(getattr(sys, stream_name))


def log(*args: Any) -> None:
    """Prints where exports print."""
    _text.log(*args)
