"""Quantization of compiled modules, as far as it is there: folding of normalizations into convolutions."""

from __future__ import annotations

from typing import Any

from torchjit import _C
from torchjit.ao.quantization.qconfig import QConfig
from torchjit.jit._module import ScriptModule
from torchjit.jit._recursive import wrap_cpp_module

__all__ = ["fuse_conv_bn_jit", "script_qconfig", "script_qconfig_dict", "wrap_cpp_module"]

_fold: Any = _C._jit_pass_fold_convbn


def _check_is_script_module(model: Any) -> None:
    if not isinstance(model, ScriptModule):
        raise ValueError("input must be a script module, got: " + str(type(model)))


def _check_forward_method(model: Any) -> None:
    if not model._c._has_method("forward"):
        raise ValueError("input script module does not have forward method")


def script_qconfig(qconfig: Any) -> Any:
    """The compiled observers of a configuration."""
    from torchjit import jit

    return QConfig(activation=jit.script(qconfig.activation())._c, weight=jit.script(qconfig.weight())._c)


def script_qconfig_dict(qconfig_dict: dict[str, Any]) -> dict[str, Any]:
    """The compiled observers of configurations by name; None stays."""
    return {k: script_qconfig(v) if v else None for k, v in qconfig_dict.items()}


def fuse_conv_bn_jit(model: Any, inplace: bool = False) -> Any:
    """The module with normalizations folded into the convolutions before them, for inference. With inplace it is changed itself."""
    folded = _fold(model._c)
    if inplace:
        model._reconstruct(folded)
        return model
    return wrap_cpp_module(folded)
