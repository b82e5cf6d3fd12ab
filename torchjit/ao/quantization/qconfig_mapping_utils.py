"""What a QConfigMapping says of a module or a function."""

from __future__ import annotations

import re
from typing import Any

from torchjit.ao.quantization.qconfig_mapping import QConfigMapping

__all__ = [
    "get_flattened_qconfig_dict", "get_module_name_qconfig", "get_module_name_regex_qconfig", "get_object_type_qconfig",
    "maybe_adjust_qconfig_for_module_type_or_name",
]  # fmt: skip


def get_object_type_qconfig(qconfig_mapping: QConfigMapping, object_type: Any, fallback_qconfig: Any) -> Any:
    """The configuration of a class, a function or the name of a method; another one where there is none."""
    return qconfig_mapping.object_type_qconfigs.get(object_type, fallback_qconfig)


def get_module_name_regex_qconfig(qconfig_mapping: QConfigMapping, module_name: str, fallback_qconfig: Any) -> Any:
    """That of the first pattern that a name matches."""
    for pattern, qconfig in qconfig_mapping.module_name_regex_qconfigs.items():
        if re.match(pattern, module_name):
            return qconfig
    return fallback_qconfig


def get_module_name_qconfig(qconfig_mapping: QConfigMapping, module_name: str, fallback_qconfig: Any) -> Any:
    """That of a module of a name, or of the nearest one around it that has one."""
    while module_name:
        if module_name in qconfig_mapping.module_name_qconfigs:
            return qconfig_mapping.module_name_qconfigs[module_name]
        module_name = module_name.rpartition(".")[0]
    return fallback_qconfig


def maybe_adjust_qconfig_for_module_type_or_name(qconfig_mapping: QConfigMapping, module_type: Any, module_name: str, global_qconfig: Any) -> Any:
    """That of a module: by its name, by a pattern, by its class, or the global one."""
    found = get_object_type_qconfig(qconfig_mapping, module_type, global_qconfig)
    found = get_module_name_regex_qconfig(qconfig_mapping, module_name, found)
    return get_module_name_qconfig(qconfig_mapping, module_name, found)


def get_flattened_qconfig_dict(qconfig_mapping: QConfigMapping) -> dict[Any, Any]:
    """The configurations by classes and names, the global one as that of ""."""
    return {"": qconfig_mapping.global_qconfig, **qconfig_mapping.object_type_qconfigs, **qconfig_mapping.module_name_qconfigs}
