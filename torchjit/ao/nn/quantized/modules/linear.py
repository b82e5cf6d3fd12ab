"""Linear layers whose weights, inputs and results are quantized."""

from typing import Optional

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import (
    WeightedQuantizedModule,
    _observed_weight,
    _own_state,
    _range_of,
    _take_state,
    hide_packed_params_repr,
)
from torchjit.nn.modules.module import Module

# ruff: noqa: UP045

__all__ = ["LinearPackedParams", "Linear"]


class LinearPackedParams(nn.Module):
    """Weight and bias in the form that quantized products use. The state has them as they are."""

    _version = 3

    def __init__(self, dtype: torch.dtype = torch.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        weight = (
            torch.quantize_per_tensor(torch.zeros(1, 1), 1.0, 0, torch.qint8)
            if dtype is torch.qint8
            else torch.zeros(1, 1)
        )
        self.set_weight_bias(weight, None)

    @torch.jit.export
    def set_weight_bias(self, weight: Tensor, bias: Optional[Tensor]) -> None:
        if self.dtype == torch.qint8:
            self._packed_params = torch.ops.quantized.linear_prepack(weight, bias)
        elif self.dtype == torch.float16:
            self._packed_params = torch.ops.quantized.linear_prepack_fp16(weight, bias)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    @torch.jit.export
    def _weight_bias(self):
        if self.dtype == torch.qint8:
            return torch.ops.quantized.linear_unpack(self._packed_params)
        elif self.dtype == torch.float16:
            return torch.ops.quantized.linear_unpack_fp16(self._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    def forward(self, x: Tensor):
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        version = local_metadata.get("version", None)
        if version is None or version < 2:
            self.dtype = torch.qint8
        else:
            if prefix + "dtype" not in state_dict:
                missing_keys.append(prefix + "dtype")
                return
            self.dtype: torch.dtype = state_dict.pop(prefix + "dtype")
        if version is None or version < 3:
            names = ("weight", "bias")
            if prefix + "weight" not in state_dict:
                missing_keys.append(prefix + "weight")
                return
            self.set_weight_bias(*(state_dict.pop(prefix + name, None) for name in names))
        else:
            if prefix + "_packed_params" not in state_dict:
                missing_keys.append(prefix + "_packed_params")
                return
            self.set_weight_bias(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs
        )

    def __repr__(self) -> str:
        return repr(self._weight_bias())


class Linear(WeightedQuantizedModule):
    """A linear layer on quantized tensors; its results have the scale and zero point that it holds."""

    _version = 3
    _FLOAT_MODULE = (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear)

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        bias = torch.zeros(out_features, dtype=torch.float) if bias_ else None
        if dtype is torch.qint8:
            weight = torch.quantize_per_tensor(torch.zeros(out_features, in_features), 1.0, 0, torch.qint8)
        elif dtype is torch.float16:
            weight = torch.zeros(out_features, in_features)
        else:
            raise RuntimeError("Unsupported dtype specified for quantized Linear!")
        self._packed_params = LinearPackedParams(dtype)
        self._packed_params.set_weight_bias(weight, bias)
        self.scale: float = 1.0
        self.zero_point = 0

    def _get_name(self):
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, zero_point={self.zero_point},"
            f" qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return hide_packed_params_repr(self, LinearPackedParams)

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.quantized.linear(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        _own_state(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        _take_state(self, state_dict, prefix)
        version = local_metadata.get("version", None)
        if version is None or version == 1:
            weight, bias = state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias")
            state_dict.update({prefix + "_packed_params.weight": weight, prefix + "_packed_params.bias": bias})
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs
        )

    def _weight_bias(self):
        return self._packed_params._weight_bias()

    def weight(self) -> Tensor:
        """The weight."""
        return self._weight_bias()[0]

    def bias(self) -> Optional[Tensor]:
        """The bias, None where there is none."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        self._packed_params.set_weight_bias(w, b)

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The layer for one with floats that has been observed. Raises AssertionError for classes that it does not stand for."""
        from torchjit.ao.nn.intrinsic import LinearReLU
        from torchjit.nn.intrinsic.qat import LinearBn1d
        from torchjit.nn.utils.fusion import fuse_linear_bn_weights

        if hasattr(mod, "weight_fake_quant"):
            if type(mod) is LinearBn1d:
                mod.weight, mod.bias = fuse_linear_bn_weights(
                    mod.weight,
                    mod.bias,
                    mod.bn.running_mean,
                    mod.bn.running_var,
                    mod.bn.eps,
                    mod.bn.weight,
                    mod.bn.bias,
                )
            weight_observer, activation = mod.weight_fake_quant, mod.activation_post_process
        else:
            float_classes = cls._FLOAT_MODULE if isinstance(cls._FLOAT_MODULE, (tuple, list)) else (cls._FLOAT_MODULE,)
            if nn.utils.parametrize.type_before_parametrizations(mod) not in float_classes:
                names = ", ".join(found.__name__ for found in float_classes)
                raise AssertionError(f"nnq.{cls.__name__}.from_float only works for {names}, but got: {type(mod)}")
            if not hasattr(mod, "qconfig"):
                raise AssertionError("Input float module must have qconfig defined")
            activation = mod.activation_post_process
            if type(mod) is LinearReLU:
                mod = mod[0]
            weight_observer = mod.qconfig.weight()
        weight = _observed_weight(mod, weight_observer)
        made = cls(mod.in_features, mod.out_features, dtype=torch.qint8)
        made.set_weight_bias(weight, mod.bias)
        made.scale, made.zero_point = _range_of(activation)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Module, output_scale: float, output_zero_point: int) -> Module:
        """The layer for one that rounds its weight, with the scale and zero point of results."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made
