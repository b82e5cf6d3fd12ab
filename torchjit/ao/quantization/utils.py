"""What observers, configurations and conversions of torch.ao.quantization share."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
from torchjit.ao.quantization.quant_type import QuantType

QSCHEMES_PER_TENSOR = (torch.per_tensor_affine, torch.per_tensor_symmetric)
QSCHEMES_PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_affine_float_qparams, torch.per_channel_symmetric)


def is_per_tensor(qscheme: Any) -> bool:
    """Whether a scheme has one scale for all elements."""
    return qscheme in QSCHEMES_PER_TENSOR


def is_per_channel(qscheme: Any) -> bool:
    """Whether a scheme has a scale for each index of one dimension."""
    return qscheme in QSCHEMES_PER_CHANNEL


def get_combined_dict(default_dict: dict[Any, Any], additional_dict: dict[Any, Any]) -> dict[Any, Any]:
    """A new dictionary with the entries of both, the additional ones last."""
    return {**default_dict, **additional_dict}


def getattr_from_fqn(obj: Any, fqn: str) -> Any:
    """The attribute of a dotted name."""
    for name in fqn.split("."):
        obj = getattr(obj, name)
    return obj


def check_min_max_valid(min_val: torch.Tensor, max_val: torch.Tensor) -> bool:
    """Whether a range has been observed; warns where not. Raises AssertionError where a minimum is above its maximum."""
    unseen = "must run observer before calling calculate_qparams. Returning default values."
    if min_val.numel() == 0 or max_val.numel() == 0:
        warnings.warn(unseen, stacklevel=2)
        return False
    if min_val.dim() == 0 or max_val.dim() == 0:
        if min_val == float("inf") and max_val == float("-inf"):
            warnings.warn(unseen, stacklevel=2)
            return False
        if not min_val <= max_val:
            raise AssertionError(f"min {min_val} should be less than max {max_val}")
    elif not torch.all(min_val <= max_val):
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def calculate_qmin_qmax(
    quant_min: Any, quant_max: Any, has_customized_qrange: bool, dtype: Any, reduce_range: bool
) -> tuple[int, int]:
    """The smallest and largest integer in use: those given, or those of the type; a reduced range has half as many."""
    if not has_customized_qrange:
        if dtype == torch.qint8:
            return (-64, 63) if reduce_range else (-128, 127)
        if dtype == torch.quint8:
            return (0, 127) if reduce_range else (0, 255)
        if dtype == torch.qint32:
            return -(2**31), 2**31 - 1
        raise ValueError(f"{dtype} has no range of integers")
    low, high = quant_min, quant_max
    if dtype == torch.qint8 and not 0 < high - low + 1 <= 256:
        raise AssertionError("quantization range should be positive and not exceed the maximum bit range (=256).")
    if dtype == torch.qint32 and not 0 < high - low + 1 <= 2**31:
        raise AssertionError(
            "quantization range should be positive and not exceed the maximum bit range (=4294967296)."
        )
    return (low // 2, high // 2) if reduce_range else (low, high)


def activation_dtype(qconfig: Any) -> Any:
    """The element type of activations under a configuration."""
    return qconfig.activation().dtype


def weight_dtype(qconfig: Any) -> Any:
    """The element type of weights under a configuration."""
    return qconfig.weight().dtype


_QUANTIZED = (torch.quint8, torch.qint8, torch.qint32)


def activation_is_statically_quantized(qconfig: Any) -> bool:
    """Whether activations get integers, with a range that was observed."""
    return activation_dtype(qconfig) in _QUANTIZED and not activation_is_dynamically_quantized(qconfig)


def _compute_dtype(qconfig: Any) -> Any:
    return getattr(qconfig.activation(), "compute_dtype", None)


def activation_is_dynamically_quantized(qconfig: Any) -> bool:
    """Whether activations are quantized by the range that each has."""
    return _compute_dtype(qconfig) in (torch.quint8, torch.qint8, torch.float16)


def activation_is_int8_quantized(qconfig: Any) -> bool:
    """Whether activations have eight bits."""
    return activation_dtype(qconfig) in (torch.quint8, torch.qint8)


def activation_is_int32_quantized(qconfig: Any) -> bool:
    """Whether activations have 32 bits."""
    return activation_dtype(qconfig) == torch.qint32


def weight_is_quantized(qconfig: Any) -> bool:
    """Whether weights get a smaller type."""
    return weight_dtype(qconfig) in (torch.quint8, torch.qint8, torch.float16)


def weight_is_statically_quantized(qconfig: Any) -> bool:
    """Whether weights have eight bits."""
    return weight_dtype(qconfig) in (torch.quint8, torch.qint8)


def op_is_int8_dynamically_quantized(qconfig: Any) -> bool:
    """Whether activations are quantized as they come, for weights of eight bits."""
    return _compute_dtype(qconfig) in (torch.quint8, torch.qint8) and weight_dtype(qconfig) in (
        torch.quint8,
        torch.qint8,
    )


def get_qconfig_dtypes(qconfig: Any) -> tuple[Any, Any, Any]:
    """The types of activations and weights, and of activations that are quantized as they come."""
    activation = qconfig.activation()
    return activation.dtype, qconfig.weight().dtype, getattr(activation, "compute_dtype", None)


def get_quant_type(qconfig: Any) -> QuantType:
    """What a configuration asks for. Raises Exception for combinations that nothing computes."""
    activation, weight = qconfig.activation(), qconfig.weight()
    static = (torch.quint8, torch.qint8)
    if weight.dtype in static:
        if getattr(activation, "compute_dtype", None) in static:
            return QuantType.DYNAMIC
        return QuantType.STATIC if activation.dtype in static else QuantType.WEIGHT_ONLY
    if weight.dtype == torch.float16:
        if getattr(activation, "compute_dtype", None) == torch.float16:
            return QuantType.DYNAMIC
        if activation.dtype == torch.float16:
            return QuantType.STATIC
        if activation.dtype == torch.float32:
            return QuantType.WEIGHT_ONLY
    raise Exception(  # noqa: TRY002 - PyTorch's class
        f"Unrecognized dtype combination in get_quant_type: activation({activation.dtype}),weight({weight.dtype})"
    )


def get_qparam_dict(observer_or_fake_quant: Any) -> dict[str, Any]:
    """Scheme, type, scale and zero point of an observer, with the axis where each channel has its own."""
    qscheme = getattr(observer_or_fake_quant, "qscheme", None)
    dtype = observer_or_fake_quant.dtype
    if not qscheme:
        raise AssertionError("Expected to have observer_or_fake_quant to have qscheme attribute")
    found: dict[str, Any] = {"qscheme": qscheme, "dtype": dtype}
    if is_per_tensor(qscheme):
        found["qscheme"] = torch.per_tensor_affine
    elif is_per_channel(qscheme):
        if qscheme == torch.per_channel_symmetric:
            found["qscheme"] = torch.per_channel_affine
        found["axis"] = observer_or_fake_quant.ch_axis
    else:
        raise RuntimeError(f"Unrecognized qscheme: {qscheme}")
    found["scale"], found["zero_point"] = observer_or_fake_quant.calculate_qparams()
    return found


def get_swapped_custom_module_class(
    custom_module: Any, custom_module_class_mapping: dict[Any, Any], qconfig: Any
) -> Any:
    """The class that stands for that of a module, in a mapping that may be kept by QuantType."""
    mapping = custom_module_class_mapping
    kind = get_quant_type(qconfig)
    if all(isinstance(key, QuantType) for key in mapping):
        if kind not in mapping:
            raise AssertionError(f"Expecting quant_type:{kind} in custom module class mapping")
        mapping = mapping[kind]
    name = type(custom_module)
    if name not in mapping:
        raise AssertionError(f"did not find corresponding observed module class for {name} in mapping: {mapping}")
    return mapping[name]


def has_no_children_ignoring_parametrizations(module: Any) -> bool:
    """Whether a module has no submodules but those of its parametrized tensors."""
    if len(module._modules) == 0:
        return True
    return (
        torch.nn.utils.parametrize.is_parametrized(module)
        and len(module._modules) == 1
        and "parametrizations" in module._modules
    )
