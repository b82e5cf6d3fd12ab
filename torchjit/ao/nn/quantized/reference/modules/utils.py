"""How weights are rounded, and where the scheme, type, scale and zero point of that are kept."""

import typing

import torchjit as torch
from torchjit import Tensor
from torchjit.types import Device

_PER_TENSOR = (torch.per_tensor_affine, torch.per_tensor_symmetric)
_PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_affine_float_qparams)


def register_weight_qparams(
    module: typing.Any, name: str, qparams: dict[str, typing.Any] | None, device: Device, integral: bool = False,
) -> None:  # fmt: skip
    """Gives a module what rounds its weight of a name: NAME_qscheme and NAME_dtype, buffers NAME_scale, NAME_zero_point and NAME_axis.

    Without qparams, a dictionary, weights have steps of 1. Zero points become int32 where integral is set. Raises AssertionError for other
    schemes.
    """
    if qparams is None:
        qparams = {"qscheme": torch.per_tensor_affine, "dtype": torch.quint8, "scale": 1.0, "zero_point": 0}
    qscheme = qparams["qscheme"]
    if qscheme is not None and qscheme not in _PER_TENSOR + _PER_CHANNEL:
        raise AssertionError(f"qscheme: {qscheme} is not support in reference quantized modules")
    setattr(module, name + "_qscheme", qscheme)
    setattr(module, name + "_dtype", qparams["dtype"])
    if qscheme is None:
        return
    zero_point = _as_tensor(qparams["zero_point"], torch.int32, device)
    module.register_buffer(name + "_scale", _as_tensor(qparams["scale"], torch.float, device))
    module.register_buffer(name + "_zero_point", zero_point.to(torch.int32) if integral else zero_point)
    axis = qparams["axis"] if qscheme in _PER_CHANNEL else 0
    module.register_buffer(name + "_axis", torch.tensor(axis, dtype=torch.int, device=device))


def _as_tensor(value, dtype, device):
    if isinstance(value, torch.Tensor):
        return value.clone().detach()
    return torch.tensor(value, dtype=dtype, device=device)


def _quantize_weight(
    weight: torch.Tensor, weight_qscheme: int, weight_dtype: torch.dtype, weight_scale: torch.Tensor, weight_zero_point: torch.Tensor,
    weight_axis: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """The weight in its quantized type, or in float16. Raises Exception for other types and schemes."""
    if weight_dtype == torch.float16:
        return weight.to(weight_dtype)
    if weight_qscheme == torch.per_tensor_affine or weight_qscheme == torch.per_tensor_symmetric:
        if weight_dtype == torch.quint8 or weight_dtype == torch.qint8 or weight_dtype == torch.qint32:
            return torch.quantize_per_tensor(weight, weight_scale, weight_zero_point, weight_dtype)
    elif weight_qscheme == torch.per_channel_affine or weight_qscheme == torch.per_channel_affine_float_qparams:
        axis = int(weight_axis.item())
        return torch.quantize_per_channel(weight, weight_scale, weight_zero_point, axis, weight_dtype)
    raise Exception(f"Unsupported dtype and qscheme: {weight_dtype}, {weight_qscheme}")


def _quantize_and_dequantize_weight(
    weight: torch.Tensor, weight_qscheme: int, weight_dtype: torch.dtype, weight_scale: torch.Tensor, weight_zero_point: torch.Tensor,
    weight_axis: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """The weight with the numbers that its quantized form stands for."""
    return _quantize_weight(weight, weight_qscheme, weight_dtype, weight_scale, weight_zero_point, weight_axis).dequantize()


class ReferenceQuantizedModule(torch.nn.Module):
    """What modules with one weight that is rounded share."""

    def _init_weight_qparams(self, weight_qparams, device):
        register_weight_qparams(self, "weight", weight_qparams, device)
        if self.weight_qscheme is None:
            # What float16 has no use for is in the state all the same.
            steps = {"qscheme": torch.per_tensor_affine, "dtype": self.weight_dtype, "scale": 1.0, "zero_point": 0}
            register_weight_qparams(self, "weight", steps, device)
            self.weight_qscheme: None = None

    def get_weight(self) -> Tensor:
        """The weight with the numbers that its quantized form stands for."""
        return _quantize_and_dequantize_weight(
            self.weight, self.weight_qscheme, self.weight_dtype, self.weight_scale, self.weight_zero_point, self.weight_axis  # type: ignore[arg-type]
        )

    def get_quantized_weight(self) -> Tensor:
        """The weight in its quantized type."""
        return _quantize_weight(
            self.weight, self.weight_qscheme, self.weight_dtype, self.weight_scale, self.weight_zero_point, self.weight_axis  # type: ignore[arg-type]
        )

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight_qscheme"] = self.weight_qscheme
        destination[prefix + "weight_dtype"] = self.weight_dtype

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name in ("weight_qscheme", "weight_dtype"):
            setattr(self, name, state_dict.pop(prefix + name))
        for name in ("weight_scale", "weight_zero_point", "weight_axis"):
            given = state_dict.get(prefix + name)
            if given is not None and given.shape != getattr(self, name).shape:
                # A module that was made without qparams takes those of the state.
                self.register_buffer(name, torch.empty_like(given))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs)


def _get_weight_qparam_keys(state_dict: typing.Dict[str, typing.Any], prefix: str):  # noqa: UP006
    """The names under which a state has what rounds a weight."""
    return [
        name
        for name in ("weight_qscheme", "weight_dtype", "weight_scale", "weight_zero_point", "weight_axis")
        if prefix + name in state_dict
    ]
