"""torch.onnx, as far as libraries look at it: no program is ever being exported to ONNX here.

`export` raises NotImplementedError. What libraries register for it is kept.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

# Whether operators of Caffe2 would be exported: they would not.
_CAFFE2_ATEN_FALLBACK = False


class OperatorExportTypes(enum.IntEnum):
    """How operators would be exported."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TrainingMode(enum.IntEnum):
    """Whether a model would be exported as for training."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


_registered: dict[tuple[str, int], Callable[..., Any]] = {}


def is_in_onnx_export() -> bool:
    """Whether a program is being exported: never."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """Keeps how an operator ("namespace::name") would be exported."""
    if symbolic_name.count("::") != 1:
        raise ValueError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name, "
            "and should start with a letter and contain only alphanumerical characters"
        )
    _registered[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forgets what register_custom_op_symbolic was given."""
    _registered.pop((symbolic_name, opset_version), None)


def export(*args: Any, **kwargs: Any) -> None:
    """Raises NotImplementedError: torchjit does not write ONNX files."""
    raise NotImplementedError("torchjit does not write ONNX files; torch.jit.save writes archives that it and PyTorch load")


def _undescribed(module: str, name: str) -> Callable[..., Any]:
    """What libraries that describe exports in terms of others find: they import the functions, and nothing calls them."""
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.onnx.{module}' has no attribute '{name}'")

    def symbolic(*args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"torch.onnx.{module}.{name}: torchjit does not write ONNX files")

    return symbolic
