"""The backends: which families of patterns each computes, and with which types."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.quantization.backend_config import _families as families
from torchjit.ao.quantization.backend_config.backend_config import BackendConfig, DTypeConfig, DTypeWithConstraints


def _types(given: Any, result: Any, weight: Any = None, bias: Any = None, dynamic: bool | None = None) -> DTypeConfig:
    return DTypeConfig(input_dtype=given, output_dtype=result, weight_dtype=weight, bias_dtype=bias, is_dynamic=dynamic)


_QUINT8, _QINT8, _FLOAT, _HALF = torch.quint8, torch.qint8, torch.float, torch.float16
_WEIGHTED = _types(_QUINT8, _QUINT8, _QINT8, _FLOAT)
_PLAIN = _types(_QUINT8, _QUINT8)
_DYNAMIC = _types(_QUINT8, _FLOAT, _QINT8, _FLOAT, True)
_DYNAMIC_HALF = _types(_HALF, _FLOAT, _HALF, _FLOAT, True)
_LAYER_NORM = _types(_QUINT8, _QUINT8, _FLOAT, _FLOAT)
_TABLES = [_types(_FLOAT, _FLOAT, _QUINT8)]

_SMALLEST_SCALE = 2**-12
_SIGNED = DTypeWithConstraints(dtype=_QINT8, scale_min_lower_bound=_SMALLEST_SCALE)
_SIGNED_WEIGHT = DTypeWithConstraints(
    dtype=_QINT8, quant_min_lower_bound=-127, quant_max_upper_bound=127, scale_min_lower_bound=_SMALLEST_SCALE
)
_SIGNED_WEIGHTED = _types(_SIGNED, _SIGNED, _SIGNED_WEIGHT, _FLOAT)
_SIGNED_PLAIN = _types(_SIGNED, _SIGNED)


def _standard(name: str, weighted: list[DTypeConfig], plain: list[DTypeConfig], layer_norm: list[DTypeConfig]) -> BackendConfig:
    """A backend that computes all families."""
    made = BackendConfig(name).set_backend_pattern_configs(families.conv_configs(weighted))
    made.set_backend_pattern_configs(families.linear_configs([*weighted, _DYNAMIC, _DYNAMIC_HALF]))
    made.set_backend_pattern_configs(families.binary_configs(weighted))
    made.set_backend_pattern_configs(families.cat_configs(plain))
    made.set_backend_pattern_configs(families.default_configs(plain))
    made.set_backend_pattern_configs(families.fixed_qparams_configs(weighted))
    made.set_backend_pattern_configs(families.share_qparams_configs(plain))
    made.set_backend_pattern_configs(families.bn_configs(plain))
    if layer_norm:
        made.set_backend_pattern_configs(families.layer_norm_configs(layer_norm))
    made.set_backend_pattern_configs(families.rnn_configs([_DYNAMIC, _DYNAMIC_HALF]))
    return made.set_backend_pattern_configs(families.embedding_configs(_TABLES))


def get_native_backend_config() -> BackendConfig:
    """What the quantized operators of this library compute."""
    return _standard("native", [_WEIGHTED], [_PLAIN], [_LAYER_NORM])


def get_native_backend_config_dict() -> dict[str, Any]:
    """get_native_backend_config as a dictionary."""
    return get_native_backend_config().to_dict()


def get_fbgemm_backend_config() -> BackendConfig:
    """What PyTorch computes with fbgemm."""
    return _standard("fbgemm", [_WEIGHTED], [_PLAIN], [])


def get_qnnpack_backend_config() -> BackendConfig:
    """What PyTorch computes with qnnpack: activations may have signs."""
    return _standard("qnnpack", [_SIGNED_WEIGHTED, _WEIGHTED], [_SIGNED_PLAIN, _PLAIN], [])


def get_tensorrt_backend_config() -> BackendConfig:
    """What TensorRT computes, for modules that are lowered to it from what convert_to_reference_fx gives."""
    weighted, plain = [_types(_QINT8, _QINT8, _QINT8, _FLOAT)], [_types(_QINT8, _QINT8)]
    made = BackendConfig("tensorrt").set_backend_pattern_configs(families.conv_configs(weighted))
    made.set_backend_pattern_configs(families.addmm_configs(weighted))
    made.set_backend_pattern_configs(families.cat_configs(plain))
    made.set_backend_pattern_configs(families.linear_configs(weighted))
    made.set_backend_pattern_configs(families.binary_configs(weighted))
    return made.set_backend_pattern_configs(families.share_qparams_configs(plain))


def get_tensorrt_backend_config_dict() -> dict[str, Any]:
    """get_tensorrt_backend_config as a dictionary."""
    return get_tensorrt_backend_config().to_dict()
