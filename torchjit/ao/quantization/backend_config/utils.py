"""Tables of what a backend configuration says, by patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit.ao.quantization.backend_config import BackendConfig

__all__ = [
    "get_fused_module_classes", "get_fuser_method_mapping", "get_fusion_pattern_to_extra_inputs_getter", "get_fusion_pattern_to_root_node_getter",
    "get_module_to_qat_module", "get_pattern_to_dtype_configs", "get_pattern_to_input_type_to_index", "get_qat_module_classes",
    "get_root_module_to_quantized_reference_module", "entry_to_pretty_str", "pattern_to_human_readable", "remove_boolean_dispatch_from_name",
]  # fmt: skip


def _rows(config: BackendConfig) -> list[tuple[Any, Any]]:
    return list(config.configs.items())


def _of(name: str) -> Callable[[BackendConfig], dict[Any, Any]]:
    """What the rows of a configuration that say something have for a name, by their patterns."""

    def table(backend_config: BackendConfig) -> dict[Any, Any]:
        return {pattern: found for pattern, row in _rows(backend_config) if (found := getattr(row, name)) is not None}

    return table


get_fuser_method_mapping: Callable[[BackendConfig], dict[Any, Any]] = _of("fuser_method")
get_fusion_pattern_to_extra_inputs_getter: Callable[[BackendConfig], dict[Any, Any]] = _of("_extra_inputs_getter")
get_fusion_pattern_to_root_node_getter: Callable[[BackendConfig], dict[Any, Any]] = _of("_root_node_getter")
get_module_to_qat_module: Callable[[BackendConfig], dict[Any, Any]] = _of("qat_module")
get_pattern_to_dtype_configs: Callable[[BackendConfig], dict[Any, Any]] = _of("dtype_configs")
get_pattern_to_input_type_to_index: Callable[[BackendConfig], dict[Any, Any]] = _of("_input_type_to_index")


def get_qat_module_classes(backend_config: BackendConfig) -> tuple[Any, ...]:
    """The classes of layers that are trained for quantization."""
    return tuple({row.qat_module for _, row in _rows(backend_config) if row.qat_module is not None})


def get_fused_module_classes(backend_config: BackendConfig) -> tuple[Any, ...]:
    """The classes of fused layers."""
    return tuple({row.fused_module for _, row in _rows(backend_config) if row.fused_module is not None})


def get_root_module_to_quantized_reference_module(backend_config: BackendConfig) -> dict[Any, Any]:
    """The reference classes of quantized layers, by the classes of layers of floats."""
    return {
        row.root_module: row.reference_quantized_module for _, row in _rows(backend_config)
        if row.root_module is not None and row.reference_quantized_module is not None
    }  # fmt: skip


def remove_boolean_dispatch_from_name(p: Any) -> Any:
    """The name of a function that is chosen by a flag."""
    names = {
        "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    }  # fmt: skip
    import torchjit.nn.functional as F

    for name in names:
        if p is getattr(F, name):
            return f"torch.nn.functional.{name}"
    return p


def pattern_to_human_readable(p: Any) -> Any:
    """A pattern with names in the place of functions and classes."""
    if isinstance(p, tuple):
        return tuple(map(pattern_to_human_readable, p))
    if isinstance(p, str):
        return p
    return remove_boolean_dispatch_from_name(p)


def entry_to_pretty_str(entry: dict[str, Any]) -> str:
    """A row of a configuration, as to_dict gives it, in several lines."""
    lines = [f"  '{key}': {pattern_to_human_readable(value) if key == 'pattern' else value}," for key, value in entry.items()]
    return "\n".join(["{", *lines, "}"])
