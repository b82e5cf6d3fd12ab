"""Settings of PyTorch's executor as torch._C has them.

Programs and tests set them and read them back; each keeps what it was set to. Functions run fast from the first call on, so that
nothing is profiled unless a program asks for it by `_jit_set_profiling_executor(True)` or `_jit_set_profiling_mode(True)`: then
functions run as gojit/internal/exec/profile.go says, and `_GROUPING` and `_jit_set_fusion_strategy` say which groups of elementwise operators
they have. Elementwise operators are fused while `_jit_set_texpr_fuser_enabled` and `_set_graph_executor_optimize` allow it. `_jit_set_autocast_mode` says whether compiled code casts by PyTorch's rules for compiled code, and
`_jit_set_inline_everything_mode` whether what is compiled holds the bodies of what it calls. The others change nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import _native

_PROFILING = ("_jit_set_profiling_executor", "_jit_set_profiling_mode")
_EXECUTOR = (*_PROFILING, "_set_graph_executor_optimize", "_jit_set_num_profiled_runs", "_debug_set_autodiff_subgraph_inlining")
_FUSING = ("_jit_set_texpr_fuser_enabled", "_set_graph_executor_optimize")
_GROUPING = (
    "_jit_set_texpr_fuser_enabled", "_jit_override_can_fuse_on_cpu", "_jit_set_te_must_use_llvm_cpu",
    "_debug_set_fusion_group_inlining", "_jit_set_texpr_reductions_enabled",
)  # fmt: skip

# Setting these replies the new value.
_REPLY_NEW = frozenset(f"_jit_set_te_cuda_pointwise_{name}" for name in ("loop_levels", "block_count", "block_size"))

# Whether a program has set one of _PROFILING.
_asked = [False]

# Name: (value at the start, name of the function that reads it or "", whether setting replies the former value).
_SETTINGS: dict[str, tuple[Any, str, bool]] = {
    "_jit_set_profiling_executor": (True, "", True),
    "_jit_set_profiling_mode": (True, "", True),
    "_jit_set_num_profiled_runs": (1, "_jit_get_num_profiled_runs", True),
    "_jit_set_bailout_depth": (12, "", True),
    "_jit_set_fusion_strategy": ([("STATIC", 2), ("DYNAMIC", 10)], "", True),
    "_jit_set_texpr_fuser_enabled": (True, "_jit_texpr_fuser_enabled", False),
    "_jit_set_texpr_reductions_enabled": (False, "_jit_texpr_reductions_enabled", True),
    "_jit_set_texpr_dynamic_shape_enabled": (False, "_jit_texpr_dynamic_shape_enabled", False),
    "_jit_texpr_set_fallback_allowed": (False, "_jit_texpr_fallback_allowed", True),
    "_jit_set_te_must_use_llvm_cpu": (True, "_jit_get_te_must_use_llvm_cpu", False),
    "_jit_set_te_generate_block_code": (False, "_jit_get_te_generate_block_code", True),
    "_jit_override_can_fuse_on_cpu": (False, "_jit_can_fuse_on_cpu", False),
    "_jit_override_can_fuse_on_cpu_legacy": (False, "_jit_can_fuse_on_cpu_legacy", False),
    "_jit_override_can_fuse_on_gpu": (False, "_jit_can_fuse_on_gpu", False),
    "_jit_set_nvfuser_enabled": (False, "_jit_nvfuser_enabled", True),
    "_jit_set_nvfuser_guard_mode": (True, "", True),
    "_jit_set_nvfuser_horizontal_mode": (True, "_jit_nvfuser_horizontal_mode", True),
    "_jit_set_nvfuser_single_node_mode": (False, "_jit_nvfuser_single_node_mode", True),
    "_jit_set_llga_enabled": (False, "_jit_llga_enabled", True),
    "_jit_set_autocast_mode": (True, "", True),
    "_jit_set_symbolic_shapes_test_mode": (False, "_jit_symbolic_shapes_test_mode_enabled", True),
    "_jit_set_tracer_state_warn": (True, "_jit_get_tracer_state_warn", False),
    "_jit_set_inline_everything_mode": (False, "_jit_get_inline_everything_mode", False),
    "_jit_set_logging_option": ("", "_jit_get_logging_option", False),
    "_debug_set_autodiff_subgraph_inlining": (True, "", False),
    "_debug_set_fusion_group_inlining": (True, "_debug_get_fusion_group_inlining", False),
    "_set_graph_executor_optimize": (True, "_get_graph_executor_optimize", False),
    "_jit_opt_conditionals": (False, "", False),
    "_jit_cat_wo_conditionals": (False, "", False),
    "_jit_set_te_cuda_pointwise_loop_levels": (-1, "_jit_get_te_cuda_pointwise_loop_levels", False),
    "_jit_set_te_cuda_pointwise_block_count": (-1, "_jit_get_te_cuda_pointwise_block_count", False),
    "_jit_set_te_cuda_pointwise_block_size": (-1, "_jit_get_te_cuda_pointwise_block_size", False),
    "_jit_set_logging_stream": ("stderr", "", False),
}


def _setter(name: str, values: dict[str, Any], replies: bool) -> Callable[[Any], Any]:
    kind = type(values[name])

    def set_it(value: Any) -> Any:
        if kind is bool and value is None:  # as pybind converts it
            value = False
        if kind is not bool and not isinstance(value, kind):
            raise TypeError(
                f"{name}(): incompatible function arguments. Expected {kind.__name__}, not {type(value).__name__}"
            )
        if kind is bool and not isinstance(value, int):
            raise TypeError(f"{name}(): incompatible function arguments. Expected bool, not {type(value).__name__}")
        if name == "_jit_set_nvfuser_enabled" and value:
            raise RuntimeError("Running CUDA fuser is only supported on CUDA builds.")
        former, values[name] = values[name], kind(value)
        if name in _PROFILING:
            _asked[0] = True
        if name in _EXECUTOR:
            enabled = _asked[0] and all(values[n] for n in _EXECUTOR[:3])
            _native.set_executor(enabled, values["_jit_set_num_profiled_runs"], values["_debug_set_autodiff_subgraph_inlining"])
        if name == "_jit_set_logging_option":
            _native.function("_C._set_logging")(value)
        if name == "_jit_set_logging_stream":
            _native.function("_C._set_logging_stream")(value)
        if name == "_jit_set_autocast_mode":
            _native.set_compiler_casts(values[name])
        if name == "_jit_set_inline_everything_mode":
            _native.set_inline_everything(values[name])
        if name in _FUSING:
            _native.set_fusing(all(values[n] for n in _FUSING))
        if name in _GROUPING:
            on = values[_GROUPING[0]] and values[_GROUPING[1]] and not values[_GROUPING[2]]
            _native.set_grouping(on, *(values[n] for n in _GROUPING[3:]))
        if name == "_jit_set_fusion_strategy":
            for behavior, _ in value:
                if behavior not in ("STATIC", "DYNAMIC"):
                    values[name] = former
                    raise RuntimeError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {behavior}")
            _native.set_fusion_strategy([int(behavior == "DYNAMIC") for behavior, _ in value], [depth for _, depth in value])
        if name == "_jit_set_bailout_depth":  # the older name of a strategy that is static
            former = sum(depth for _, depth in values["_jit_set_fusion_strategy"])
            values["_jit_set_fusion_strategy"] = [("STATIC", value)]
            _native.set_fusion_strategy([0], [value])
        return values[name] if name in _REPLY_NEW else former if replies else None

    set_it.__name__ = name
    set_it.__doc__ = "Keeps a setting of PyTorch's executor; those that the module's text names change what runs here."
    return set_it


def _getter(name: str, setter: str, values: dict[str, Any], made: dict[str, Any]) -> Callable[..., Any]:
    def get_it(new_settings: bool | None = None) -> Any:
        former = values[setter]
        if new_settings is not None:
            made[setter](new_settings)
        return former

    get_it.__name__ = name
    get_it.__doc__ = f"What {setter} has set."
    return get_it


def functions() -> dict[str, Any]:
    """The functions by name."""
    values = {name: start for name, (start, _, _) in _SETTINGS.items()}
    made: dict[str, Any] = {}
    for name, (_, reader, replies) in _SETTINGS.items():
        made[name] = _setter(name, values, replies)
        if reader:
            made[reader] = _getter(reader, name, values, made)
    return made
