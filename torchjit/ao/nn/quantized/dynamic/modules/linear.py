"""A linear layer whose weight is quantized."""

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.linear import LinearPackedParams


class Linear(nn.Module):
    """A linear layer with a weight of qint8 or float16. The input is quantized on the way, by its own range."""

    _version = 5

    def __init__(self, in_features, out_features, bias_=True, dtype=torch.qint8):
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
        self.scale = 1.0
        self.zero_point = 0
        self.version = self._version

    def forward(self, x: Tensor) -> Tensor:
        if self._packed_params.dtype == torch.qint8:
            y = torch.ops.quantized.linear_dynamic(x, self._packed_params._packed_params, reduce_range=True)
        elif self._packed_params.dtype == torch.float16:
            y = torch.ops.quantized.linear_dynamic_fp16(x, self._packed_params._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")
        return y.to(x.dtype)

    def weight(self):
        """The weight."""
        return self._packed_params._weight_bias()[0]

    def bias(self):
        """The bias, None where there is none."""
        return self._packed_params._weight_bias()[1]

    def set_weight_bias(self, w, b):
        """Replaces weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    def _get_name(self):
        return "DynamicQuantizedLinear"

    def extra_repr(self):
        text = f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}"
        if self._packed_params.dtype is torch.qint8:
            text += f", qscheme={self.weight().qscheme()}"
        return text

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = torch.tensor(self.scale)
        destination[prefix + "zero_point"] = torch.tensor(self.zero_point)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"

    @classmethod
    def from_float(cls, mod, dtype=torch.qint8):
        """The layer with the weights of an nn.Linear."""
        from torchjit.ao.quantization import quantized_weight

        made = cls(mod.in_features, mod.out_features, dtype=dtype)
        weight = quantized_weight(mod.weight) if dtype is torch.qint8 else mod.weight.detach().float()
        made.set_weight_bias(weight, None if mod.bias is None else mod.bias.detach())
        return made
