"""The modules torch.onnx.symbolic_opset7 to 17 and symbolic_caffe2: attributes are the functions that export operators of those names."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from torchjit.onnx import _constants, _registry


def _lookup(module: str, opset: int) -> Callable[[str], Any]:
    """The __getattr__ of the module of an opset version: a name is that of an operator of aten or prim."""

    def find(name: str) -> Any:
        for domain in ("aten", "prim") if not name.startswith("__") else ():
            function = _registry.find(f"{domain}::{name.removeprefix('prim_')}", opset)
            if function is not None:
                return function
        raise AttributeError(
            f"module '{module}' has no attribute '{name}': torch.onnx exports no operator of this name at that version"
        )

    return find


def _make(name: str, opset: int) -> None:
    full = f"torchjit.onnx.{name}"
    made = types.ModuleType(full, f"torch.onnx.{name}: how operators are exported at opset version {opset}.")
    made.__dict__["__getattr__"] = _lookup(full, opset)
    sys.modules[full] = made
    setattr(sys.modules["torchjit.onnx"], name, made)


for _opset in range(_constants.ONNX_MIN_OPSET, _constants.ONNX_MAX_OPSET + 1):
    _make(f"symbolic_opset{_opset}", _opset)
_make("symbolic_caffe2", _constants.ONNX_MIN_OPSET)
