"""Which configuration each node of a graph has, and which element types that asks for."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torchjit as torch
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.ao.quantization.observer import _is_activation_post_process
from torchjit.ao.quantization.qconfig import add_module_to_qconfig_obs_ctr, assert_valid_qconfig, qconfig_equals
from torchjit.ao.quantization.qconfig_mapping import _FIXED_QPARAMS_OP_TO_OBSERVER, QConfigMapping
from torchjit.fx import Graph, GraphModule, Node
from torchjit.nn.utils.parametrize import type_before_parametrizations


@dataclass(frozen=True)
class DTypes:
    """The element types of inputs, weights, biases and results of a node; None where a result is no tensor.

    With dynamic set inputs are quantized by the range that each has, and results are of floats.
    """

    input: Any = torch.float
    output: Any = torch.float
    weight: Any = None
    bias: Any = None
    dynamic: bool = False


NO_TENSOR = DTypes(None, None)


def dtypes_of(qconfig: Any) -> DTypes:
    """The element types that a configuration asks for."""
    activation, weight = qconfig.activation(), qconfig.weight()
    computed = getattr(activation, "compute_dtype", None)
    half = activation.dtype == torch.float16 and weight.dtype == torch.float16
    bias = torch.float16 if half and computed is None else torch.float
    if computed in (torch.quint8, torch.qint8, torch.float16):
        return DTypes(computed, torch.float, weight.dtype, bias, True)
    return DTypes(activation.dtype, activation.dtype, weight.dtype, bias)


def qconfig_for_module(mapping: QConfigMapping, cls: Any, path: str, otherwise: Any) -> Any:
    """The configuration of a module by its class, or else the given one; those for its path come before."""
    found = mapping.object_type_qconfigs.get(cls, otherwise)
    for pattern, qconfig in mapping.module_name_regex_qconfigs.items():
        if re.match(pattern, path):
            found = qconfig
            break
    while path:
        if path in mapping.module_name_qconfigs:
            return mapping.module_name_qconfigs[path]
        path = path.rpartition(".")[0]
    return found


def node_qconfigs(graph: Graph, modules: dict[str, Any], mapping: QConfigMapping, scopes: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    """The configuration of each node by its name; calls of modules put it down as `qconfig` of the module too."""
    uses: dict[tuple[str, Any], int] = defaultdict(int)

    def ordered(path: str, called: Any, otherwise: Any) -> Any:
        index = uses[path, called]
        uses[path, called] += 1
        return mapping.module_name_object_type_order_qconfigs.get((path, called, index), otherwise)

    everywhere = mapping.global_qconfig
    found: dict[str, Any] = {}
    for node in graph.nodes:
        qconfig = None
        if node.op == "get_attr":
            path = str(node.target).rpartition(".")[0]
            qconfig = qconfig_for_module(mapping, type_before_parametrizations(modules[path]), path, everywhere)
        elif node.op in ("call_function", "call_method"):
            path, cls = scopes[node.name]
            called = mapping.object_type_qconfigs.get(node.target, everywhere)
            qconfig = qconfig_for_module(mapping, cls, path, called)
            if node.op == "call_function":
                qconfig = ordered(path, node.target, qconfig)
        elif node.op == "call_module":
            module, path = modules[str(node.target)], str(node.target)
            if _is_activation_post_process(module):
                continue
            cls = type_before_parametrizations(module)
            qconfig = qconfig_for_module(mapping, cls, path, everywhere)
            qconfig = ordered(path.rpartition(".")[0], scopes[node.name][1], qconfig)
            assert_valid_qconfig(qconfig, module)
            qconfig = module.qconfig = add_module_to_qconfig_obs_ctr(qconfig, module)
        found[node.name] = qconfig
    return found


def with_fused_classes(model: GraphModule, mapping: QConfigMapping) -> QConfigMapping:
    """The mapping in which fused classes have the configuration of the first of their modules.

    Raises LookupError where the others have another.
    """
    made = QConfigMapping.from_dict(mapping.to_dict())
    if not mapping.object_type_qconfigs:
        return made
    for node in model.graph.nodes:
        fused = model.get_submodule(str(node.target)) if node.op == "call_module" else None
        if not isinstance(fused, _FusedModule):
            continue
        first, *others = [child for child in fused._modules.values() if child is not None]
        qconfig = mapping.object_type_qconfigs.get(type(first))
        for other in others:
            if not qconfig_equals(qconfig, mapping.object_type_qconfigs.get(type(other))):
                raise LookupError(
                    f"During fusion, we need to specify the same qconfigs for all module types in {type(fused)} "
                    f"offending type: {type(other)}"
                )
        if qconfig is not None:
            made.object_type_qconfigs[type(fused)] = qconfig
    return made


def with_trained_classes(mapping: QConfigMapping, qat_classes: dict[Any, Any]) -> QConfigMapping:
    """The mapping in which classes that are trained with rounding have the configurations of those that they stand for."""
    made = QConfigMapping.from_dict(mapping.to_dict())
    for cls, qconfig in mapping.object_type_qconfigs.items():
        if cls in qat_classes:
            made.object_type_qconfigs[qat_classes[cls]] = qconfig
    return made


def check_fixed_qparams(node: Node, modules: dict[str, Any], qconfig: Any) -> None:
    """Raises ValueError where what always gives results in one range has a configuration with another observer."""
    called: Any = node.target
    if node.op == "call_module":
        called = type_before_parametrizations(modules[str(node.target)])
    wanted = _FIXED_QPARAMS_OP_TO_OBSERVER.get(called)
    if wanted is None or qconfig is None:
        return
    observer, fixed = qconfig.activation(), wanted()
    observer = getattr(observer, "activation_post_process", observer)
    if not isinstance(observer, type(fixed)) or (observer.scale, observer.zero_point) != (fixed.scale, fixed.zero_point):
        raise ValueError(
            f"QConfigMapping must specify fixed qparams observer for fixed qparams op '{node.format_node()}' type: '{called}'. Please use "
            "torch.ao.quantization.get_default_qconfig_mapping or torch.ao.quantization.get_default_qat_qconfig_mapping instead. "
            "Example: \n"
            '    qconfig_mapping = get_default_qconfig_mapping("fbgemm") \n    model = prepare_fx(model, qconfig_mapping, example_inputs)'
        )
