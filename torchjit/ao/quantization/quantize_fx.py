"""torch.ao.quantization.quantize_fx: quantization of models that can be recorded as graphs."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.quantization.backend_config import BackendConfig
from torchjit.ao.quantization.fx.convert import convert
from torchjit.ao.quantization.fx.custom_config import ConvertCustomConfig, FuseCustomConfig, PrepareCustomConfig
from torchjit.ao.quantization.fx.fuse import as_config, fuse
from torchjit.ao.quantization.fx.graph_module import ObservedGraphModule
from torchjit.ao.quantization.fx.prepare import prepare
from torchjit.ao.quantization.fx.tracer import QuantizationTracer
from torchjit.ao.quantization.qconfig_mapping import QConfigMapping
from torchjit.fx import GraphModule

__all__ = ["fuse_fx", "prepare_fx", "prepare_qat_fx", "convert_fx", "convert_to_reference_fx"]


def _check_is_graph_module(model: Any) -> None:
    if not isinstance(model, GraphModule):
        raise ValueError("input model must be a GraphModule, Got type:" + str(type(model)) + " Please make sure to follow the tutorials.")


def _swap_ff_with_fxff(model: torch.nn.Module) -> None:
    """Puts modules whose functions are recorded in the place of FloatFunctional. Raises ValueError where the model is quantized by hand."""
    from torchjit.ao.nn.quantized import FloatFunctional, FXFloatFunctional

    for name, child in list(model.named_children()):
        if isinstance(child, FloatFunctional):
            model._modules[name] = FXFloatFunctional()
        else:
            _swap_ff_with_fxff(child)


def _fuse_fx(model: GraphModule, is_qat: bool, fuse_custom_config: Any = None, backend_config: Any = None) -> GraphModule:
    _check_is_graph_module(model)
    return fuse(model, is_qat, fuse_custom_config, backend_config)


def _prepare_fx(
    model: torch.nn.Module, qconfig_mapping: Any, is_qat: bool, example_inputs: tuple[Any, ...], prepare_custom_config: Any = None,
    _equalization_config: Any = None, backend_config: Any = None, is_standalone_module: bool = False,
) -> ObservedGraphModule:  # fmt: skip
    custom = as_config(PrepareCustomConfig, prepare_custom_config, "prepare_custom_config")
    _swap_ff_with_fxff(model)
    replaced = [cls for mapping in custom.float_to_observed_mapping.values() for cls in mapping]
    names, classes = list(custom.non_traceable_module_names), [*custom.non_traceable_module_classes, *replaced]
    if not is_standalone_module:
        names += custom.standalone_module_names
        classes += custom.standalone_module_classes
    kept = {name: getattr(model, name) for name in custom.preserved_attributes if hasattr(model, name)}
    tracer = QuantizationTracer(names, classes)
    graph_module = GraphModule(model, tracer.trace(model))
    for name, value in kept.items():
        setattr(graph_module, name, value)
    fuse_custom = FuseCustomConfig().set_preserved_attributes(custom.preserved_attributes)
    graph_module = _fuse_fx(graph_module, is_qat, fuse_custom, backend_config)
    return prepare(
        graph_module, qconfig_mapping, is_qat, tracer.node_name_to_scope, example_inputs, custom, _equalization_config, backend_config,
        is_standalone_module,
    )  # fmt: skip


def _prepare_standalone_module_fx(
    model: torch.nn.Module, qconfig_mapping: Any, is_qat: bool, example_inputs: tuple[Any, ...], prepare_custom_config: Any = None,
    backend_config: Any = None,
) -> ObservedGraphModule:  # fmt: skip
    """Prepares a submodule by itself: its arguments and results are quantized where prepare_custom_config says so."""
    return _prepare_fx(
        model, qconfig_mapping, is_qat, example_inputs, prepare_custom_config, backend_config=backend_config, is_standalone_module=True
    )


def fuse_fx(
    model: torch.nn.Module, fuse_custom_config: FuseCustomConfig | dict[str, Any] | None = None,
    backend_config: BackendConfig | dict[str, Any] | None = None,
) -> GraphModule:  # fmt: skip
    """A recorded model in which modules that follow each other are one: convolutions and linear layers with normalizations and rectifiers.

    The model is in eval mode, so that normalizations become part of the weights; otherwise AssertionError says that they are not.
    """
    custom = as_config(FuseCustomConfig, fuse_custom_config, "fuse_custom_config")
    recorded = torch.fx.symbolic_trace(model)
    kept = {name: getattr(model, name) for name in custom.preserved_attributes if hasattr(model, name)}
    for name, value in kept.items():
        setattr(recorded, name, value)
    return _fuse_fx(recorded, False, custom, backend_config)


def prepare_fx(
    model: torch.nn.Module, qconfig_mapping: QConfigMapping | dict[str, Any], example_inputs: tuple[Any, ...],
    prepare_custom_config: PrepareCustomConfig | dict[str, Any] | None = None, _equalization_config: Any = None,
    backend_config: BackendConfig | dict[str, Any] | None = None,
) -> ObservedGraphModule:  # fmt: skip
    """A model that has been trained as a graph with observers, to be run on typical input before `convert_fx`.

    Modules are fused and share their parameters with the model, which is in eval mode. qconfig_mapping says which observers watch what,
    prepare_custom_config what is treated in another way, backend_config which patterns can be quantized. Raises ValueError where something
    that gives results in a fixed range has an observer for others, LookupError where modules that are fused have different
    configurations, NotImplementedError for an _equalization_config.

        prepared = prepare_fx(model.eval(), get_default_qconfig_mapping("fbgemm"), (x,))
        for x in data: prepared(x)
        quantized = convert_fx(prepared)
    """
    return _prepare_fx(model, qconfig_mapping, False, example_inputs, prepare_custom_config, _equalization_config, backend_config)


def prepare_qat_fx(
    model: torch.nn.Module, qconfig_mapping: QConfigMapping | dict[str, Any], example_inputs: tuple[Any, ...],
    prepare_custom_config: PrepareCustomConfig | dict[str, Any] | None = None, backend_config: BackendConfig | dict[str, Any] | None = None,
) -> ObservedGraphModule:  # fmt: skip
    """A model in training as a graph whose weights and activations are rounded as quantization will round them; train it before `convert_fx`.

    Arguments and errors are those of `prepare_fx`, with a mapping as `get_default_qat_qconfig_mapping` gives it.
    """
    return _prepare_fx(model, qconfig_mapping, True, example_inputs, prepare_custom_config, backend_config=backend_config)


def _convert_fx(
    graph_module: GraphModule, is_reference: bool, convert_custom_config: Any = None, is_standalone_module: bool = False,
    _remove_qconfig: bool = True,
    qconfig_mapping: Any = None, backend_config: Any = None,
) -> torch.nn.Module:  # fmt: skip
    custom = as_config(ConvertCustomConfig, convert_custom_config, "convert_custom_config")
    _check_is_graph_module(graph_module)
    return convert(
        graph_module, is_reference, custom, is_standalone_module, _remove_qconfig_flag=_remove_qconfig, qconfig_mapping=qconfig_mapping,
        backend_config=backend_config,
    )  # fmt: skip


def convert_fx(
    graph_module: GraphModule, convert_custom_config: ConvertCustomConfig | dict[str, Any] | None = None, _remove_qconfig: bool = True,
    qconfig_mapping: QConfigMapping | dict[str, Any] | None = None, backend_config: BackendConfig | dict[str, Any] | None = None,
) -> torch.nn.Module:  # fmt: skip
    """The quantized model for one that `prepare_fx` or `prepare_qat_fx` gave, which stays as it is.

    Each configuration of qconfig_mapping is that of the preparation, or None for parts that are not to be quantized after all; else
    AssertionError.
    """
    return _convert_fx(
        graph_module,
        False,
        convert_custom_config,
        _remove_qconfig=_remove_qconfig,
        qconfig_mapping=qconfig_mapping,
        backend_config=backend_config,
    )


def convert_to_reference_fx(
    graph_module: GraphModule, convert_custom_config: ConvertCustomConfig | dict[str, Any] | None = None, _remove_qconfig: bool = True,
    qconfig_mapping: QConfigMapping | dict[str, Any] | None = None, backend_config: BackendConfig | dict[str, Any] | None = None,
) -> torch.nn.Module:  # fmt: skip
    """`convert_fx` for other backends: a model of floats that are quantized and dequantized again, with modules that round their weights."""
    return _convert_fx(
        graph_module,
        True,
        convert_custom_config,
        _remove_qconfig=_remove_qconfig,
        qconfig_mapping=qconfig_mapping,
        backend_config=backend_config,
    )


def _convert_standalone_module_fx(
    graph_module: GraphModule, is_reference: bool = False, convert_custom_config: Any = None
) -> torch.nn.Module:
    """Converts a submodule that was prepared by itself."""
    return _convert_fx(graph_module, is_reference, convert_custom_config, is_standalone_module=True)
