"""What one export goes by: options that symbolic functions look at."""

from __future__ import annotations

from torchjit._C._onnx import OperatorExportTypes, TrainingMode
from torchjit.onnx import _constants


class _InternalGlobals:
    """The options of the running export, and their defaults outside of one."""

    def __init__(self) -> None:
        self._export_onnx_opset_version = _constants.ONNX_DEFAULT_OPSET
        self._training_mode = TrainingMode.EVAL
        self._in_onnx_export = False
        self.operator_export_type = OperatorExportTypes.ONNX
        self.fold_constants = True
        self.onnx_shape_inference = True

    @property
    def training_mode(self) -> TrainingMode:
        """Whether the export is for training."""
        return self._training_mode

    @training_mode.setter
    def training_mode(self, mode: TrainingMode) -> None:
        if not isinstance(mode, TrainingMode):
            raise TypeError(
                "training_mode must be of type 'torch.onnx.TrainingMode'. This is likely a bug in torch.onnx."
            )
        self._training_mode = mode

    @property
    def export_onnx_opset_version(self) -> int:
        """The opset version of the export."""
        return self._export_onnx_opset_version

    @export_onnx_opset_version.setter
    def export_onnx_opset_version(self, value: int) -> None:
        supported = range(_constants.ONNX_MIN_OPSET, _constants.ONNX_MAX_OPSET + 1)
        if value not in supported:
            raise ValueError(f"Unsupported ONNX opset version: {value}")
        self._export_onnx_opset_version = value

    @property
    def in_onnx_export(self) -> bool:
        """Whether a model is being exported."""
        return self._in_onnx_export

    @in_onnx_export.setter
    def in_onnx_export(self, value: bool) -> None:
        if type(value) is not bool:
            raise TypeError("in_onnx_export must be a boolean")
        self._in_onnx_export = value


GLOBALS = _InternalGlobals()
