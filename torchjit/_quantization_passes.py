"""Passes over modules that are quantized, as torch._C has them."""

from __future__ import annotations

from typing import Any

from torchjit import _native

_insert: Any = _native.function("_C._insert_observers")


def _jit_pass_insert_observers(
    module: Any, method_name: str, qconfig_dict: dict[str, Any], inplace: bool, quant_type_int: int = 1
) -> Any:
    """A copy of a module in which values that are to be quantized are given to observers.

    `qconfig_dict` has pairs of compiled observers, for activations and for weights, or None, by the path of a module.
    """
    names = [name for name, qconfig in qconfig_dict.items() if qconfig is not None]
    observers = [observer for name in names for observer in qconfig_dict[name]]
    unset = [name for name, qconfig in qconfig_dict.items() if qconfig is None]
    return _insert(module, method_name, names, observers, unset, inplace, int(quant_type_int))


def members() -> dict[str, Any]:
    """The functions by their names in torch._C."""
    return {"_jit_pass_insert_observers": _jit_pass_insert_observers}
