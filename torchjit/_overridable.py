"""Which functions __torch_function__ is not asked about, and stand-ins for those that it is: torch.overrides shows both."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from torchjit import _C, _native

# Functions that take no tensor, or that work on any, by where they stand.
_IGNORED = {
    "torch": """
        arange are_deterministic_algorithms_enabled as_strided as_tensor asarray autocast_decrement_nesting
        autocast_increment_nesting bartlett_window blackman_window can_cast clear_autocast_cache cudnn_affine_grid_generator
        cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
        cudnn_grid_sampler cudnn_is_acceptable device dtype empty empty_quantized empty_strided enable_grad eye fill finfo fork
        from_file from_numpy frombuffer full get_autocast_cpu_dtype get_autocast_gpu_dtype get_default_dtype
        get_deterministic_debug_mode get_device get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state
        hamming_window hann_window iinfo import_ir_module import_ir_module_from_buffer inference_mode init_num_threads
        initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled
        is_autocast_enabled is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_storage
        is_tensor is_vulkan_available is_warn_always_enabled kaiser_window layout linspace load logspace manual_seed memory_format
        merge_type_from_type_comment mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights
        mkldnn_max_pool2d mkldnn_max_pool3d no_grad normal ones parse_ir parse_schema parse_type_comment promote_types qscheme
        rand randint randn randperm range read_vitals result_type save scalar_tensor seed set_anomaly_enabled
        set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_enabled set_autocast_gpu_dtype
        set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal
        set_num_interop_threads set_num_threads set_printoptions set_rng_state set_vital set_warn_always sparse_bsc_tensor
        sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor tril_indices
        triu_indices typename unify_type_list use_deterministic_algorithms vander vitals_enabled wait zeros
    """,
    "torch.Tensor": """
        _addmm_activation _conj _conj_physical _fix_weakref _has_symbolic_sizes_strides.__get__ _is_zerotensor _make_subclass
        _make_wrapper_subclass _neg_view _nested_tensor_layer_norm _python_dispatch.__get__ _reduce_ex_internal as_subclass eig
        lstsq new new_empty new_empty_strided new_full new_ones new_tensor new_zeros reinforce solve stride to_padded_tensor
        to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr unflatten
    """,
    "torch.fft": """
        fftfreq rfftfreq
    """,
    "torch.functional": """
        align_tensors broadcast_shapes
    """,
    "torch.nn.functional": """
        assert_int_or_pair boolean_dispatch handle_torch_function hardsigmoid hardswish has_torch_function
        has_torch_function_unary has_torch_function_variadic sigmoid tanh upsample upsample_bilinear upsample_nearest
    """,
    "torch.nn.init": """
        calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal
        xavier_uniform
    """,
}


_IGNORED_SPECIAL = (
    "__delitem__", "__dir__", "__getattribute__", "__init__", "__iter__", "__init_subclass__", "__torch_function__", "__new__", "__class__",
    "__subclasshook__", "__hash__", "__setattr__", "__delattr__",
)  # fmt: skip


@functools.cache
def ignored() -> frozenset[Any]:
    """The functions that cannot be overridden."""
    from torchjit import Tensor

    found = {getattr(Tensor, name, None) for name in _IGNORED_SPECIAL}
    for path, names in _IGNORED.items():
        owner = _owner(path)
        for name in names.split():
            member = getattr(owner, name, None) if owner is not None else None
            if callable(member) and getattr(type(member), "__hash__", None) is not None:
                found.add(member)
    return frozenset(found - {None})


def _owner(path: str) -> Any:
    if path == "torch.Tensor":
        from torchjit import Tensor

        return Tensor
    try:
        return importlib.import_module(path.replace("torch", "torchjit", 1))
    except ModuleNotFoundError:
        return None


@functools.cache
def testing() -> dict[Any, Callable[..., int]]:
    """For each function that can be overridden one with its parameters that returns -1."""
    from torchjit import overrides

    made: dict[Any, Callable[..., int]] = {}
    for functions in overrides.get_overridable_functions().values():
        for f in functions:
            if f not in ignored() and f not in made:
                made[f] = _stand_in(_parameters(f))
    return made


def _stand_in(parameters: str) -> Callable[..., int]:
    """A function with parameters, given as text, that returns -1."""
    return eval(f"lambda {parameters}: -1", {"__builtins__": {}})


def _parameters(f: Any) -> str:
    """The parameters of a function, as text. Those of an operator are of its first overload; out= follows where another has it."""
    operator = _native.operator_of_function(f) if isinstance(f, _native.Function) else None
    if operator is not None:
        return _operator_parameters(operator)
    if getattr(f, "__name__", "") == "__get__":
        return "self"
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return "*args, **kwargs"
    plain = [p.replace(annotation=p.empty, default=p.default if isinstance(p.default, (int, float, str, bool, type(None), type(p.empty))) else None)
             for p in signature.parameters.values()]  # fmt: skip
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))[1:-1]


def _operator_parameters(operator: str) -> str:
    schemas = _C._jit_get_schemas_for_operator(operator)
    if not schemas:
        return "*args, **kwargs"
    parts, optional = [], False
    first = "self" if any(a.name == "input" for a in schemas[0].arguments) else "input"
    for argument in (a for a in schemas[0].arguments if not a.is_out):
        name = first if argument.name == "self" else argument.name + "_" * (argument.name in ("from", "lambda"))
        default = argument.default_value
        optional = optional or argument.has_default_value()
        if isinstance(default, (bool, int, float, str)):
            parts.append(f"{name}={default!r}")
        else:
            parts.append(f"{name}=None" if optional else name)
    if any(a.is_out for s in schemas for a in s.arguments):
        parts.append("out=None")
    return ", ".join(parts)
