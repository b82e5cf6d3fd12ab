"""What quantized modules share."""

from __future__ import annotations

import abc
from typing import Any

import torchjit as torch
from torchjit import nn


class WeightedQuantizedModule(nn.Module, metaclass=abc.ABCMeta):
    """A module with a quantized weight."""

    @classmethod
    @abc.abstractmethod
    def from_reference(cls, ref_module: Any, output_scale: float, output_zero_point: int) -> Any:
        """The module for one that rounds its weight. Raises NotImplementedError where there is none."""
        raise NotImplementedError


def _quantize_weight(float_wt: Any, observer: Any) -> Any:
    """A weight in integers of the scale that its observer has chosen. Raises ValueError for schemes that weights do not have."""
    scale, zero_point = observer.calculate_qparams()
    if observer.qscheme in (torch.per_tensor_symmetric, torch.per_tensor_affine):
        made = torch.quantize_per_tensor(float_wt, float(scale), int(zero_point), torch.qint8)
    elif observer.qscheme in (torch.per_channel_symmetric, torch.per_channel_affine):
        made = torch.quantize_per_channel(
            float_wt, scale.to(torch.double), zero_point.to(torch.int64), observer.ch_axis, torch.qint8
        )
    elif observer.qscheme == torch.per_channel_affine_float_qparams:
        return torch.quantize_per_channel(
            float_wt, scale.to(torch.float), zero_point.to(torch.float), observer.ch_axis, observer.dtype
        )
    else:
        raise ValueError("Unexpected qscheme " + str(observer.qscheme))
    return _clamp_weights(made, observer, scale, zero_point)


def _get_weight_observer(observer: Any) -> Any:
    return getattr(observer, "activation_post_process", observer)


def _needs_weight_clamping(observer: Any, dtype: Any) -> bool:
    observer = _get_weight_observer(observer)
    limits = torch.iinfo(dtype)
    return dtype in (torch.qint8, torch.quint8, torch.qint32) and (
        observer.quant_min > limits.min or observer.quant_max < limits.max
    )


def _clamp_weights(qweight: Any, observer: Any, scale: Any, zp: Any) -> Any:
    """The weight within the integers that its observer uses, which may be fewer than its type has."""
    if not _needs_weight_clamping(observer, qweight.dtype):
        return qweight
    observer = _get_weight_observer(observer)
    integers = torch.clamp(qweight.int_repr(), observer.quant_min, observer.quant_max)
    if observer.qscheme in (torch.per_tensor_symmetric, torch.per_tensor_affine):
        return torch._make_per_tensor_quantized_tensor(integers, scale.item(), zp.item())
    if observer.qscheme in (torch.per_channel_symmetric, torch.per_channel_affine):
        return torch._make_per_channel_quantized_tensor(integers, scale, zp, axis=observer.ch_axis)
    raise ValueError("Unexpected qscheme " + str(observer.qscheme))


def _observed_weight(module: Any, observer: Any) -> Any:
    """The quantized weight of a module with floats. Raises AssertionError where its observer is not for eight bits with a sign."""
    observer(module.weight)
    if observer.dtype != torch.qint8:
        raise AssertionError("Weight observer must have dtype torch.qint8")
    return _quantize_weight(module.weight.float(), observer)


def _range_of(observer: Any) -> tuple[float, int]:
    """Scale and zero point that an observer of activations has chosen."""
    scale, zero_point = observer.calculate_qparams()
    return float(scale), int(zero_point)


def _own_state(module: Any, destination: Any, prefix: str) -> None:
    """Puts scale and zero point of a module into a state."""
    destination[prefix + "scale"] = torch.tensor(module.scale)
    destination[prefix + "zero_point"] = torch.tensor(module.zero_point)


def _take_state(module: Any, state_dict: Any, prefix: str) -> None:
    """Takes scale and zero point of a module out of a state."""
    module.scale = float(state_dict.pop(prefix + "scale"))
    module.zero_point = int(state_dict.pop(prefix + "zero_point"))


def _ntuple_from_first(n: int) -> Any:
    """A function that makes a tuple of n, the first element of what it gets in each place."""

    def parse(x: Any) -> Any:
        while isinstance(x, (tuple, list)):
            if len(x) == n:
                break
            x = x[0]
        return tuple(x) if isinstance(x, (tuple, list)) else (x,) * n

    return parse


_pair_from_first = _ntuple_from_first(2)


def hide_packed_params_repr(self: Any, params: type) -> str:
    """The text of a module without its submodules of a class."""
    extra = self.extra_repr()
    children = [
        f"({name}): " + repr(child).replace("\n", "\n  ")
        for name, child in self._modules.items()
        if not isinstance(child, params)
    ]
    if not children:
        return f"{self._get_name()}({extra})"
    lines = [line for line in extra.split("\n") if line] + children
    return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"
