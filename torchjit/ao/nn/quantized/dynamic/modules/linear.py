"""A linear layer whose weight is quantized."""

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.linear import Linear as _Linear
from torchjit.ao.nn.quantized.modules.utils import _quantize_weight
from torchjit.nn.modules.module import Module
from torchjit.nn.utils.parametrize import type_before_parametrizations


class Linear(_Linear):
    """A linear layer with a weight of qint8 or float16. The input is quantized on the way, by its own range."""

    _version = 4

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: torch.dtype = torch.qint8,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias_, dtype=dtype)
        self.version = 4

    def forward(self, x: Tensor) -> Tensor:
        if self._packed_params.dtype == torch.qint8:
            y = torch.ops.quantized.linear_dynamic(x, self._packed_params._packed_params, reduce_range=True)
        elif self._packed_params.dtype == torch.float16:
            y = torch.ops.quantized.linear_dynamic_fp16(x, self._packed_params._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")
        return y.to(x.dtype)

    def _get_name(self):
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}"
        if self._packed_params.dtype is torch.qint8:
            text += f", qscheme={self.weight().qscheme()}"
        return text

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The layer with the weights of an nn.Linear, or of those that are trained for it. Raises AssertionError for other classes."""
        from torchjit.ao.nn.intrinsic import LinearReLU
        from torchjit.ao.nn.qat.dynamic import Linear as Trained
        from torchjit.ao.quantization.qconfig import default_dynamic_qconfig

        float_classes = (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear, LinearReLU, Trained)
        if type_before_parametrizations(mod) not in float_classes:
            raise AssertionError(
                "nn.quantized.dynamic.Linear.from_float only works for one of"
                + str([c.__name__ for c in float_classes])
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if type(mod) is LinearReLU:
            mod = mod[0]
        given = getattr(mod, "qconfig", None)
        observer = (default_dynamic_qconfig if given is None or given.weight is None else given).weight()
        if observer.dtype not in (torch.qint8, torch.float16):
            raise AssertionError(
                f"The only supported dtypes for dynamic quantized linear are qint8 and float16 got: {observer.dtype}"
            )
        observer(mod.weight)
        weight = _quantize_weight(mod.weight.float(), observer) if observer.dtype == torch.qint8 else mod.weight.float()
        made = cls(mod.in_features, mod.out_features, dtype=observer.dtype)
        made.set_weight_bias(weight, mod.bias)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Module) -> Module:  # type: ignore[override]
        """The layer for one that rounds its weight."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features, dtype=ref_qlinear.weight_dtype)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        return made
