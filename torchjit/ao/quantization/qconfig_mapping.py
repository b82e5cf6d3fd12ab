"""Which configuration the parts of a model have: by name, by class or function, by place, or one for all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.quantization.fake_quantize import FixedQParamsFakeQuantize, default_weight_fake_quant
from torchjit.ao.quantization.observer import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from torchjit.ao.quantization.qconfig import (
    QConfig,
    QConfigAny,
    default_reuse_input_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

__all__ = ["get_default_qconfig_mapping", "get_default_qat_qconfig_mapping", "QConfigMapping"]

GLOBAL_DICT_KEY = ""
OBJECT_TYPE_DICT_KEY = "object_type"
MODULE_NAME_REGEX_DICT_KEY = "module_name_regex"
MODULE_NAME_DICT_KEY = "module_name"
MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY = "module_name_object_type_order"


class QConfigMapping:
    """Configurations of the parts of a model. Where several apply, the last of these wins:

    one for all; those of classes, functions and names of methods; those of regular expressions for paths of submodules; those of paths;
    those of the
    n-th use of a function or class in the submodule of a path. The setters return the object; None says that a part is not quantized.
    """

    def __init__(self) -> None:
        self.global_qconfig: QConfigAny = None
        self.object_type_qconfigs: OrderedDict[Any, QConfigAny] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[tuple[str, Any, int], QConfigAny] = OrderedDict()

    def set_global(self, global_qconfig: QConfigAny) -> QConfigMapping:
        """Sets the configuration of what has no other."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Callable[..., Any] | str, qconfig: QConfigAny) -> QConfigMapping:
        """Sets the configuration of a class, of a function or of a method, given by its name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: QConfigAny) -> QConfigMapping:
        """Sets the configuration of submodules whose paths match; the first that was set wins."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: QConfigAny) -> QConfigMapping:
        """Sets the configuration of the submodule of a path and those in it."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Callable[..., Any], index: int, qconfig: QConfigAny
    ) -> QConfigMapping:
        """Sets the configuration of the use number `index` of a function or class in the submodule of a path."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def to_dict(self) -> dict[str, Any]:
        """The former form: "" has the configuration for all, the other keys have lists of tuples that end with one."""
        return {
            GLOBAL_DICT_KEY: self.global_qconfig,
            OBJECT_TYPE_DICT_KEY: list(self.object_type_qconfigs.items()),
            MODULE_NAME_REGEX_DICT_KEY: list(self.module_name_regex_qconfigs.items()),
            MODULE_NAME_DICT_KEY: list(self.module_name_qconfigs.items()),
            MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY: [
                (*place, qconfig) for place, qconfig in self.module_name_object_type_order_qconfigs.items()
            ],
        }

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """The mapping of a dictionary as to_dict gives it; keys may be missing."""
        made = cls()
        if GLOBAL_DICT_KEY in qconfig_dict:
            made.set_global(qconfig_dict[GLOBAL_DICT_KEY])
        for key, setter in (
            (OBJECT_TYPE_DICT_KEY, made.set_object_type),
            (MODULE_NAME_REGEX_DICT_KEY, made.set_module_name_regex),
            (MODULE_NAME_DICT_KEY, made.set_module_name),
            (MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY, made.set_module_name_object_type_order),
        ):
            for entry in qconfig_dict.get(key, []):
                setter(*entry)
        return made


# As PyTorch orders them.
_FIXED_QPARAMS_OP_TO_OBSERVER: dict[Any, Any] = {
    **dict.fromkeys((nn.Hardsigmoid, F.hardsigmoid, "hardsigmoid", "hardsigmoid_"), default_fixed_qparams_range_0to1_observer),
    **dict.fromkeys((nn.Sigmoid, torch.sigmoid, "sigmoid", "sigmoid_", nn.Softmax), default_fixed_qparams_range_0to1_observer),
    **dict.fromkeys((nn.Tanh, torch.tanh, "tanh", "tanh_"), default_fixed_qparams_range_neg1to1_observer),
}
_WEIGHTED = (
    nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d, nn.Linear, F.conv1d, F.conv2d, F.conv3d,
    F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d, F.linear,
)  # fmt: skip
_TRANSPOSED = (
    nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d, F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d,
)  # fmt: skip
_BESIDE = (nn.ReLU, F.relu, torch.relu, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def _get_default_qconfig_mapping(is_qat: bool, backend: str, version: int) -> QConfigMapping:
    """The mapping with the backend's configuration for all, apart from what needs another observer."""
    qconfig = (get_default_qat_qconfig if is_qat else get_default_qconfig)(backend, version)
    weight = default_weight_fake_quant if is_qat else default_weight_observer
    # These backends have a scale for each channel, which transposed convolutions cannot have.
    transposed = QConfig(activation=qconfig.activation, weight=weight) if backend in ("fbgemm", "x86") else qconfig
    mapping = QConfigMapping().set_global(qconfig).set_object_type("reshape", default_reuse_input_qconfig)
    for found in _WEIGHTED:
        mapping.set_object_type(found, transposed if found in _TRANSPOSED else qconfig)
    for beside in _BESIDE:
        mapping.set_object_type(beside, qconfig)
    for norm in (F.layer_norm, nn.LayerNorm):
        mapping.set_object_type(norm, QConfig(activation=qconfig.activation, weight=default_placeholder_observer))
    for found, observer in _FIXED_QPARAMS_OP_TO_OBSERVER.items():
        activation = FixedQParamsFakeQuantize.with_args(observer=observer) if is_qat else observer
        mapping.set_object_type(found, QConfig(activation=activation, weight=weight))
    return mapping


def get_default_qconfig_mapping(backend: str = "fbgemm", version: int = 0) -> QConfigMapping:
    """The mapping for models that have been trained. Raises AssertionError for versions other than 0."""
    return _get_default_qconfig_mapping(False, backend, version)


def get_default_qat_qconfig_mapping(backend: str = "fbgemm", version: int = 1) -> QConfigMapping:
    """The mapping for models in training. Raises AssertionError for versions other than 0 and 1."""
    return _get_default_qconfig_mapping(True, backend, version)
