"""Compiled modules made ready for mobile devices: frozen, with packed weights."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from enum import Enum
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit._graph_results import MobileOptimizerType


class LintCode(Enum):
    """What generate_mobile_module_lints finds."""

    BUNDLED_INPUT = 1
    REQUIRES_GRAD = 2
    DROPOUT = 3
    BATCHNORM = 4


def optimize_for_mobile(
    script_module: Any,
    optimization_blocklist: set[MobileOptimizerType] | None = None,
    preserved_methods: list[Any] | None = None,
    backend: str = "CPU",
) -> Any:
    """A frozen copy of a compiled module whose convolutions and linear layers have packed weights.

    optimization_blocklist names steps that are left out; preserved_methods names methods that stay beside forward. Raises RuntimeError for the
    backends Vulkan and Metal, which this build does not have.
    """
    if not isinstance(script_module, torch.jit.ScriptModule):
        raise TypeError(f"Got {type(script_module)}, but ScriptModule is expected.")
    preserved = [str(name) for name in preserved_methods or []]
    inputs_preserved = _get_bundled_inputs_preserved_attributes(script_module, preserved)
    preserved = list(set(preserved + inputs_preserved))
    missing = [name for name in preserved if not hasattr(script_module, name)]
    if missing:
        raise AttributeError(
            f"The following methods to preserve do not exist in script_module: {', '.join(missing)}"
        )
    if backend.lower() == "cpu":
        made = _jit_pass_optimize_for_mobile(script_module._c, optimization_blocklist or set(), preserved)
        return torch.jit._module.RecursiveScriptModule._wrap(made)
    if backend.lower() in ("vulkan", "metal"):
        raise RuntimeError(f"{backend} is not enabled in this build")
    raise TypeError("Unknown backend, must be one of 'CPU', 'Vulkan' or 'Metal'")


def _jit_pass_optimize_for_mobile(module: Any, optimization_blocklist: Iterable[Any], preserved_methods: list[str]) -> Any:
    """torch._C._jit_pass_optimize_for_mobile: optimize_for_mobile of handles."""
    if not isinstance(optimization_blocklist, (set, frozenset)) or not all(isinstance(step, MobileOptimizerType) for step in optimization_blocklist):
        raise TypeError(
            "_jit_pass_optimize_for_mobile(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (arg0: torch::jit::Module, arg1: Set[torch::jit::MobileOptimizerType], arg2: List[str]) -> torch::jit::Module\n\n"
            f"Invoked with: {module!r}, {optimization_blocklist!r}, {preserved_methods!r}"
        )
    left_out = set(optimization_blocklist)
    whole = copy.deepcopy(torch.jit._module.RecursiveScriptModule._wrap(module)).eval()
    methods = [name for name in dict.fromkeys(["forward", *preserved_methods]) if whole._c._has_method(name)]
    frozen = _C._freeze_module(whole._c, preserved_methods)
    graphs = [frozen._get_method(name).graph for name in methods]
    for graph in graphs:
        _C._jit_pass_transform_conv1d_to_conv2d(graph)
        _C._jit_pass_constant_propagation(graph)
        if MobileOptimizerType.CONV_BN_FUSION not in left_out:
            _C._jit_pass_fold_frozen_conv_bn(graph)
        if MobileOptimizerType.INSERT_FOLD_PREPACK_OPS not in left_out:
            _C._insert_prepacked_ops(graph)
            _C._fuse_clamp_w_prepacked(graph)
    if MobileOptimizerType.INSERT_FOLD_PREPACK_OPS not in left_out:
        _C._jit_pass_fold_prepacking_ops(frozen)
        frozen = _C._freeze_module(frozen, preserved_methods)
    if MobileOptimizerType.REMOVE_DROPOUT not in left_out:
        _C._jit_pass_remove_dropout(frozen)
    if MobileOptimizerType.FUSE_ADD_RELU not in left_out:
        for name in methods:
            _C._jit_pass_fuse_add_relu(frozen._get_method(name).graph)
    _C._note_attribute(frozen, "mobile_optimized", True)
    return frozen


def generate_mobile_module_lints(script_module: Any) -> list[dict[str, str]]:
    """What keeps a compiled module from being fast and small on mobile devices, as dictionaries with name and message."""
    if not isinstance(script_module, torch.jit.ScriptModule):
        raise TypeError(f"Got {type(script_module)}, but ScriptModule is expected.")
    found: list[tuple[LintCode, str]] = []
    if not hasattr(script_module, "_generate_bundled_inputs_for_forward"):
        found.append(
            (
                LintCode.BUNDLED_INPUT,
                "No bundled input for forward, please add bundled inputs before saving the module using "
                "torch.utils.bundled_inputs.augment_model_with_bundled_inputs.",
            )
        )
    for name, parameter in script_module.named_parameters():
        if parameter.requires_grad:
            found.append(
                (
                    LintCode.REQUIRES_GRAD,
                    f"Param {name} requires grad, please set torch.no_grad() to reduce memory usage and improve "
                    "computation speed during inference phase.",
                )
            )
    for operator in _operators(script_module):
        if "batch_norm" in operator:
            found.append(
                (
                    LintCode.BATCHNORM,
                    f"Operator {operator} exists, remember to call eval() before saving the module and call "
                    "torch.utils.mobile_optimizer.optimize_for_mobile to drop batch_norm operator.",
                )
            )
        if "dropout" in operator:
            found.append(
                (
                    LintCode.DROPOUT,
                    f"Operator {operator} exists, remember to call eval() before saving the module.and call "
                    "torch.utils.mobile_optimizer.optimize_for_mobile to drop dropout operator.",
                )
            )
    return [{"name": code.name, "message": message} for code, message in found]


def _operators(script_module: Any) -> list[str]:
    """The operators that a module's methods run, without what constants show to be never run."""
    found: set[str] = set()
    for name in script_module._c._method_names():
        graph = script_module._c._get_method(name).graph.copy()
        _C._jit_pass_inline(graph)
        _C._jit_pass_peephole(graph)
        _C._jit_pass_constant_propagation_immutable_types(graph)
        found.update(kind for kind in ("aten::batch_norm", "aten::dropout", "aten::dropout_") if graph.findNode(kind))
    return sorted(found)


def _get_bundled_inputs_preserved_attributes(script_module: Any, preserved_methods: list[str]) -> list[str]:
    """The attributes and methods that belong to bundled inputs."""
    found: list[str] = []
    if hasattr(script_module, "get_all_bundled_inputs"):
        found += ["get_all_bundled_inputs", "get_num_bundled_inputs"]
    for name in [*preserved_methods, "forward"]:
        if hasattr(script_module, f"get_all_bundled_inputs_for_{name}"):
            found += [f"get_all_bundled_inputs_for_{name}", f"_bundled_inputs_deflated_{name}"]
    if hasattr(script_module, "get_bundled_inputs_functions_and_info"):
        found.append("get_bundled_inputs_functions_and_info")
    return found
