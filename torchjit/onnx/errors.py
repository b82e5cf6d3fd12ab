"""Errors of torch.onnx."""

from __future__ import annotations

from typing import Any

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "CallHintViolationWarning",
    "CheckerError",
    "UnsupportedOperatorError",
    "SymbolicValueError",
]


class OnnxExporterWarning(UserWarning):
    """A warning of the exporter."""


class CallHintViolationWarning(UserWarning):
    """A warning of arguments of other types than a function has."""


class OnnxExporterError(RuntimeError):
    """What the exporter raises."""


class CheckerError(OnnxExporterError):
    """A model that is not a valid one."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that has no form in ONNX at an opset version.

    supported_version is the least version at which it has one, None where there is none; place says where in the program it is called.
    """

    def __init__(
        self, domain: str, op_name: str, version: int, supported_version: int | None = None, place: str = ""
    ) -> None:
        if supported_version is not None:
            why = f"It is supported from opset version {supported_version} on: export with that version or a later one."
        else:
            why = "torch.onnx.register_custom_op_symbolic tells the exporter how to export it."
        at = f" It is called at {place.splitlines()[0]}." if place else ""
        super().__init__(
            f"Exporting the operator '{domain}::{op_name}' to ONNX opset version {version} is not supported. {why}{at}"
        )


class SymbolicValueError(OnnxExporterError):
    """A value that an export cannot be made of."""

    def __init__(self, msg: str, value: Any) -> None:
        node = value.node()
        made = f"output {value.offset()} of {node.kind()}" if node.kind() != "prim::Param" else "a parameter"
        place = node.sourceRange()
        super().__init__(
            f"{msg}  [Caused by the value '{value.debugName()}' of type {value.type()}, {made}.]"
            + (f"\n{place}" if place else "")
        )
