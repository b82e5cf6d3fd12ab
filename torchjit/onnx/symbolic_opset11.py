"""torch.onnx.symbolic_opset11: how operators are exported. Nothing is, so a name gives a function that raises NotImplementedError."""

from __future__ import annotations

from torchjit.onnx import _undescribed


def __getattr__(name: str) -> object:
    return _undescribed("symbolic_opset11", name)
