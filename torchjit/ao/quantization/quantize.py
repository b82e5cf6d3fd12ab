"""From a model to one with observers, and from there to one whose numbers are integers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torchjit as torch
from torchjit import _progress, nn
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.ao.quantization.observer import _is_activation_post_process
from torchjit.ao.quantization.qconfig import (
    activation_is_memoryless,
    add_module_to_qconfig_obs_ctr,
    assert_valid_qconfig,
    default_dynamic_qconfig,
    float16_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
)
from torchjit.ao.quantization.quantization_mappings import (
    _get_special_act_post_process,
    _has_special_act_post_process,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
    get_default_static_quant_reference_module_mappings,
    no_observer_set,
)
from torchjit.ao.quantization.stubs import DeQuantStub, QuantWrapper
from torchjit.ao.quantization.utils import get_qparam_dict, has_no_children_ignoring_parametrizations
from torchjit.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "get_default_custom_config_dict", "is_activation_post_process", "propagate_qconfig_", "register_activation_post_process_hook", "add_observer_",
    "get_unique_devices_", "add_quant_dequant", "prepare", "quantize", "quantize_dynamic", "prepare_qat", "quantize_qat", "convert", "swap_module",
    "get_observer_dict",
]  # fmt: skip

is_activation_post_process = _is_activation_post_process


def get_default_custom_config_dict() -> dict[str, Any]:
    """The classes that are replaced as a whole when they are prepared and when they are converted."""
    from torchjit.ao.nn import quantizable, quantized

    names = ("LSTM", "MultiheadAttention")
    return {
        "float_to_observed_custom_module_class": {getattr(nn, name): getattr(quantizable, name) for name in names},
        "observed_to_quantized_custom_module_class": {getattr(quantizable, name): getattr(quantized, name) for name in names},
    }


def _propagate_qconfig_helper(
    module: Any,
    qconfig_dict: dict[Any, Any],
    qconfig_parent: Any = None,
    prefix: str = "",
    prepare_custom_config_dict: Any = None,
) -> None:
    found = qconfig_dict.get(type_before_parametrizations(module), qconfig_parent)
    found = qconfig_dict.get(prefix, found)
    found = getattr(module, "qconfig", found)
    assert_valid_qconfig(found, module)
    own = add_module_to_qconfig_obs_ctr(found, module)
    module.qconfig = own
    custom = prepare_custom_config_dict or {}
    for name, child in module.named_children():
        if name in custom.get("non_traceable_module_name", []) or type(child) in custom.get(
            "non_traceable_module_class", []
        ):
            continue
        _propagate_qconfig_helper(child, qconfig_dict, own, f"{prefix}.{name}" if prefix else name)


def propagate_qconfig_(module: Any, qconfig_dict: Any = None, prepare_custom_config_dict: Any = None) -> None:
    """Gives each submodule a `qconfig`: its own, or that of its name or class in the dictionary, or that of the module around it."""
    _propagate_qconfig_helper(module, qconfig_dict or {}, prepare_custom_config_dict=prepare_custom_config_dict or {})


def _observer_forward_hook(self: Any, input: Any, output: Any) -> Any:  # noqa: A002
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self: Any, input: Any) -> Any:  # noqa: A002
    return self.activation_post_process(input[0])


def register_activation_post_process_hook(module: Any, pre_hook: bool = False) -> None:
    """Lets the observer of a module see its results, or its inputs. Raises AssertionError for modules without one."""
    if not hasattr(module, "activation_post_process"):
        raise AssertionError("Expect activation_post_process attribute already attached to the module")
    if pre_hook:
        handle = module.register_forward_pre_hook(_observer_forward_pre_hook)
        module._forward_pre_hooks.move_to_end(handle.id, last=False)
    else:
        handle = module.register_forward_hook(_observer_forward_hook)
        module._forward_hooks.move_to_end(handle.id, last=False)


def _needs_observation(module: Any) -> bool:
    return getattr(module, "qconfig", None) is not None


def _observer_for(qconfig: Any, device: Any, special: Any = None) -> Any:
    made = qconfig.activation() if special is None else special()
    return made if device is None else made.to(device)


def add_observer_(
    module: Any,
    qconfig_propagation_list: Any = None,
    non_leaf_module_list: Any = None,
    device: Any = None,
    custom_module_class_mapping: Any = None,
) -> None:
    """Adds observers to the submodules that have a configuration: to leaves of the classes in the first list, and to those in the second."""
    from torchjit.ao.nn import quantized

    wanted = get_default_qconfig_propagation_list() if qconfig_propagation_list is None else qconfig_propagation_list
    custom = custom_module_class_mapping or {}
    if device is None:
        devices = get_unique_devices_(module)
        if len(devices) > 1:
            raise AssertionError(
                f"add_observer_ only works with cpu or single-device CUDA modules, but got devices {devices}"
            )
        device = next(iter(devices)) if devices else None

    def insert(target: Any, special: Any = None) -> None:
        if _needs_observation(target) and not isinstance(target, DeQuantStub):
            target.add_module("activation_post_process", _observer_for(target.qconfig, device, special))
            register_activation_post_process_hook(target, pre_hook=activation_is_memoryless(target.qconfig))

    for name, child in module.named_children():
        cls = type_before_parametrizations(child)
        if cls is nn.Dropout:
            continue
        if cls in (quantized.FloatFunctional, quantized.QFunctional):
            if _needs_observation(child):
                child.activation_post_process = _observer_for(child.qconfig, device)
        elif isinstance(child, _FusedModule) or (non_leaf_module_list is not None and cls in non_leaf_module_list):
            insert(child)
        elif _has_special_act_post_process(child):
            insert(child, _get_special_act_post_process(child))
        elif _needs_observation(child) and cls in custom:
            observed = custom[cls].from_float(child)
            setattr(module, name, observed)
            if custom[cls] not in no_observer_set():
                insert(observed)
        else:
            add_observer_(child, wanted, non_leaf_module_list, device, custom)
    if (
        has_no_children_ignoring_parametrizations(module)
        and not isinstance(module, nn.Sequential)
        and type_before_parametrizations(module) in wanted
    ):
        insert(module)


def get_unique_devices_(module: Any) -> set[Any]:
    """The devices of a module's parameters and buffers."""
    return {p.device for p in module.parameters()} | {b.device for b in module.buffers()}


def add_quant_dequant(module: Any) -> Any:
    """The module with each leaf that has a configuration in a QuantWrapper; the module itself where it is such a leaf."""
    if has_no_children_ignoring_parametrizations(module) and getattr(module, "qconfig", None):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


def prepare(
    model: Any,
    inplace: bool = False,
    allow_list: Any = None,
    observer_non_leaf_module_list: Any = None,
    prepare_custom_config_dict: Any = None,
) -> Any:
    """A copy of a model with observers, by the `qconfig` that it and its submodules have; run it on typical input before `convert`.

    >>> m = nn.Sequential(torch.quantization.QuantStub(), nn.Linear(3, 2), torch.quantization.DeQuantStub()).eval()
    >>> m.qconfig = torch.quantization.get_default_qconfig("fbgemm")
    >>> prepared = torch.quantization.prepare(m)
    >>> _ = prepared(torch.rand(8, 3))
    >>> torch.quantization.convert(prepared)(torch.rand(1, 3)).shape
    torch.Size([1, 2])
    """
    custom = get_default_custom_config_dict() if prepare_custom_config_dict is None else prepare_custom_config_dict
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    if not any(getattr(m, "qconfig", None) for m in model.modules()):
        warnings.warn(
            "None of the submodule got qconfig applied. Make sure you passed correct configuration through `qconfig_dict` or by assigning"
            " the `.qconfig` attribute directly on submodules",
            stacklevel=2,
        )
    add_observer_(
        model,
        get_default_qconfig_propagation_list() if allow_list is None else allow_list,
        observer_non_leaf_module_list,
        custom_module_class_mapping=custom.get("float_to_observed_custom_module_class", {}),
    )
    return model


def _remove_activation_post_process(module: Any) -> None:
    if hasattr(module, "activation_post_process") and is_activation_post_process(module.activation_post_process):
        delattr(module, "activation_post_process")
    for hooks, own in (
        (module._forward_hooks, _observer_forward_hook),
        (module._forward_pre_hooks, _observer_forward_pre_hook),
    ):
        for key, hook in list(hooks.items()):
            if hook is own:
                hooks.pop(key)


def _remove_qconfig(module: Any) -> None:
    for child in module.children():
        _remove_qconfig(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    _remove_activation_post_process(module)


def quantize(model: Any, run_fn: Any, run_args: Any, mapping: Any = None, inplace: bool = False) -> Any:
    """A model prepared, run by `run_fn(model, *run_args)` and converted."""
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, get_default_static_quant_module_mappings() if mapping is None else mapping, inplace=True)
    return model


def _dynamic_qconfigs(qconfig_spec: Any, dtype: Any) -> dict[Any, Any]:
    """The configurations for dynamic quantization: those of a specification, or those of an element type."""
    by_type = {
        torch.float16: float16_dynamic_qconfig,
        torch.qint8: default_dynamic_qconfig,
        torch.quint8: float_qparams_weight_only_qconfig,
    }
    if isinstance(qconfig_spec, dict):
        return qconfig_spec
    if qconfig_spec is not None:
        if dtype not in by_type:
            raise RuntimeError("Unknown dtype specified for quantize_dynamic: ", str(dtype))
        return dict.fromkeys(qconfig_spec, by_type[dtype])
    classes = {
        torch.qint8: (nn.Linear, nn.LSTM, nn.GRU),
        torch.float16: (nn.Linear, nn.LSTM, nn.GRU),
        torch.quint8: (nn.EmbeddingBag, nn.Embedding),
    }
    if dtype not in classes:
        raise ValueError(f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig please")
    return dict.fromkeys(classes[dtype], by_type[dtype])


def quantize_dynamic(
    model: Any, qconfig_spec: Any = None, dtype: Any = torch.qint8, mapping: Any = None, inplace: bool = False
) -> Any:
    """A copy of a model whose layers with many weights have them as qint8, float16 or quint8; inputs are quantized as they come.

    qconfig_spec is a set of classes or of names of submodules, or a dictionary from those to configurations; None for the classes
    that the element type is for. Raises ValueError and RuntimeError for other element types.

    >>> m = torch.quantization.quantize_dynamic(nn.Sequential(nn.Linear(3, 2)), {nn.Linear})
    >>> type(m[0]).__name__, m(torch.rand(1, 3)).shape
    ('Linear', torch.Size([1, 2]))
    """
    qconfigs = _dynamic_qconfigs(qconfig_spec, dtype)
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfigs)
    convert(model, get_default_dynamic_quant_module_mappings() if mapping is None else mapping, inplace=True)
    return model


def prepare_qat(model: Any, mapping: Any = None, inplace: bool = False) -> Any:
    """A copy of a model in training whose weights and activations are rounded as quantization will round them.

    >>> m = nn.Sequential(nn.Linear(3, 2)).train()
    >>> m.qconfig = torch.quantization.get_default_qat_qconfig("fbgemm")
    >>> torch.quantization.prepare_qat(m)(torch.rand(8, 3)).shape
    torch.Size([8, 2])
    """
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    if mapping is None:
        mapping = get_default_qat_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)
    return model


def quantize_qat(model: Any, run_fn: Any, run_args: Any, inplace: bool = False) -> Any:
    """A model prepared for training with rounding, trained by `run_fn(model, *run_args)` and converted."""
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, inplace=True)
    return model


def convert(
    module: Any, mapping: Any = None, inplace: bool = False, remove_qconfig: bool = True, is_reference: bool = False,
    convert_custom_config_dict: Any = None,
) -> Any:  # fmt: skip
    """A copy of a model with the submodules of the classes in the mapping replaced by quantized ones, by what was observed.

    >>> m = nn.Sequential(torch.quantization.QuantStub(), nn.Linear(3, 2), torch.quantization.DeQuantStub()).eval()
    >>> m.qconfig = torch.quantization.default_qconfig
    >>> prepared = torch.quantization.prepare(m)
    >>> _ = prepared(torch.rand(8, 3))
    >>> type(torch.quantization.convert(prepared)[1]).__name__
    'Linear'
    """
    if not inplace:
        module = copy.deepcopy(module)
    with _progress.of_parts("quantizing", _bytes_of(module.parameters())) as done:
        _convert(module, mapping, inplace=True, is_reference=is_reference, convert_custom_config_dict=convert_custom_config_dict, done=done)
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _bytes_of(tensors: Iterable[Any]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _convert(
    module: Any, mapping: Any = None, inplace: bool = False, is_reference: bool = False, convert_custom_config_dict: Any = None,
    done: Callable[[int], None] = _progress.nothing,
) -> Any:  # fmt: skip
    if mapping is None:
        mapping = (
            get_default_static_quant_reference_module_mappings()
            if is_reference
            else get_default_static_quant_module_mappings()
        )
    custom_config = (
        get_default_custom_config_dict() if convert_custom_config_dict is None else convert_custom_config_dict
    )
    custom = custom_config.get("observed_to_quantized_custom_module_class", {})
    if not inplace:
        module = copy.deepcopy(module)
    replaced = {}
    for name, child in module.named_children():
        is_whole = isinstance(child, _FusedModule) or type_before_parametrizations(child) in custom
        if not is_whole:
            _convert(child, mapping, True, is_reference, custom_config, done)
        replaced[name] = swap_module(child, mapping, custom)
        done(_bytes_of(child.parameters(recurse=is_whole)))
    module._modules.update(replaced)
    return module


def swap_module(mod: Any, mapping: Any, custom_module_class_mapping: Any) -> Any:
    """The module that stands for one by the mappings, with its hooks; the module itself where none does, or where it has no configuration."""
    if getattr(mod, "qconfig", None) is None:
        return mod
    cls = type_before_parametrizations(mod)
    if cls in custom_module_class_mapping:
        made = custom_module_class_mapping[cls].from_observed(mod)
    elif cls in mapping:
        wanted = mapping[cls]
        if getattr(wanted, "_IS_REFERENCE", False):
            observer = mod.qconfig.weight()
            observer(mod.weight)
            made = wanted.from_float(mod, get_qparam_dict(observer))
        else:
            made = wanted.from_float(mod)
    else:
        return mod
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_forward_hook:
            made.register_forward_hook(hook)
    return made


def get_observer_dict(mod: Any, target_dict: dict[str, Any], prefix: str = "") -> None:
    """Puts the observers of a model into a dictionary, by their names."""
    start = prefix + "." if prefix else ""
    if hasattr(mod, "activation_post_process"):
        target_dict[start + "activation_post_process"] = mod.activation_post_process
    for name, child in mod.named_children():
        get_observer_dict(child, target_dict, start + name)
