"""Ways of later versions that can be asked for."""

from __future__ import annotations

_overwrite_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions of modules (`m.double()`) make new parameters, instead of changing what the old ones hold."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What set_overwrite_module_params_on_conversion was given, False at first."""
    return _overwrite_module_params_on_conversion
