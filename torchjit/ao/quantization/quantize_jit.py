"""Quantization of compiled modules after training: observers are inserted, the module is run on examples, and its operators compute with integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchjit import _C
from torchjit.ao.quantization.qconfig import QConfig
from torchjit.ao.quantization.quant_type import QuantType
from torchjit.jit._module import ScriptModule
from torchjit.jit._recursive import wrap_cpp_module

__all__ = [
    "convert_dynamic_jit", "convert_jit", "fuse_conv_bn_jit", "prepare_dynamic_jit", "prepare_jit", "quantize_dynamic_jit", "quantize_jit",
    "script_qconfig", "script_qconfig_dict", "wrap_cpp_module",
]  # fmt: skip

_passes: Any = _C


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
    return _result(model, _passes._jit_pass_fold_convbn(model._c), inplace)


def _result(model: Any, changed: Any, inplace: bool) -> Any:
    if inplace:
        model._reconstruct(changed)
        return model
    return wrap_cpp_module(changed)


def _prepare_jit(model: Any, qconfig_dict: dict[str, Any], inplace: bool = False, quant_type: QuantType = QuantType.STATIC) -> Any:
    _check_is_script_module(model)
    _check_forward_method(model)
    if not all(isinstance(name, str) for name in qconfig_dict):
        raise ValueError("qconfig_dict should only contain names(str) as keys.")
    observers = script_qconfig_dict(qconfig_dict)
    model = fuse_conv_bn_jit(model, inplace)
    return _result(model, _passes._jit_pass_insert_observers(model._c, "forward", observers, inplace, int(quant_type)), inplace)


def _convert_jit(
    model: Any, inplace: bool = False, debug: bool = False, quant_type: QuantType = QuantType.STATIC, preserved_attrs: Sequence[str] | None = None
) -> Any:
    _check_is_script_module(model)
    model.eval()
    changed = _passes._jit_pass_insert_quant_dequant(model._c, "forward", inplace, debug, int(quant_type))
    if not debug:
        changed = _passes._jit_pass_quant_finalize(changed, int(quant_type), list(preserved_attrs or ()))
    converted = _result(model, changed, inplace)
    _passes._propagate_constants(converted.graph)
    _passes._jit_pass_dce(converted.graph)
    return converted


def prepare_jit(model: Any, qconfig_dict: dict[str, Any], inplace: bool = False) -> Any:
    """A compiled module with observers, to be run on examples of its inputs and given to `convert_jit`.

    `qconfig_dict` has configurations by the path of a submodule, "" for the module itself; None leaves a submodule as it is. A submodule without a
    configuration has that of the module it is in. Normalizations are folded into the convolutions before them. The module has to be in eval mode.
    A ValueError says that the module is not compiled or has no forward, a RuntimeError that values of branches ask for different observers.
    """
    return _prepare_jit(model, qconfig_dict, inplace, QuantType.STATIC)


def prepare_dynamic_jit(model: Any, qconfig_dict: dict[str, Any], inplace: bool = False) -> Any:
    """`prepare_jit` for linear layers whose inputs are quantized by the range that they have in each call: no examples are needed."""
    return _prepare_jit(model, qconfig_dict, inplace, QuantType.DYNAMIC)


def convert_jit(model: Any, inplace: bool = False, debug: bool = False, preserved_attrs: Sequence[str] | None = None) -> Any:
    """A module that computes with integers, of one with observers that has been run on examples.

    The result is frozen: submodules are inlined, and attributes are gone apart from those called in `preserved_attrs`. With debug it rounds to integers and
    back, but computes with floats and keeps its weights.
    """
    return _convert_jit(model, inplace, debug, QuantType.STATIC, preserved_attrs)


def convert_dynamic_jit(model: Any, inplace: bool = False, debug: bool = False, preserved_attrs: Sequence[str] | None = None) -> Any:
    """`convert_jit` of what `prepare_dynamic_jit` gives."""
    return _convert_jit(model, inplace, debug, QuantType.DYNAMIC, preserved_attrs)


def quantize_jit(
    model: Any, qconfig_dict: dict[str, Any], run_fn: Callable[..., Any] | None, run_args: Sequence[Any],
    inplace: bool = False, debug: bool = False,
) -> Any:  # fmt: skip
    """`prepare_jit`, the call `run_fn(model, *run_args)` that runs the module on examples, and `convert_jit`.

    An AssertionError says that there is no run_fn or nothing in run_args.
    """
    if not run_fn:
        raise AssertionError("Must provide calibration function for post training static quantization")
    if not run_args:
        raise AssertionError("Must provide calibration dataset for post training static quantization")
    prepared = prepare_jit(model, qconfig_dict, inplace)
    run_fn(prepared, *run_args)
    return convert_jit(prepared, True, debug)


def quantize_dynamic_jit(model: Any, qconfig_dict: dict[str, Any], inplace: bool = False, debug: bool = False) -> Any:
    """`prepare_dynamic_jit` and `convert_dynamic_jit`."""
    return convert_dynamic_jit(prepare_dynamic_jit(model, qconfig_dict, inplace), True, debug)
