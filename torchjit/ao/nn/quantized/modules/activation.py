"""Activations of quantized tensors."""


import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _range_of
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: A002


class ReLU6(nn.ReLU):
    """Limits to 0 through 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.relu6(input, self.inplace)

    def _get_name(self):
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for an nn.ReLU6."""
        return ReLU6(mod.inplace)


class Hardswish(nn.Hardswish):
    """nn.Hardswish; results have the given scale and zero point."""

    def __init__(self, scale: float, zero_point: int) -> None:
        super().__init__()
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.hardswish(input, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedHardswish"

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return Hardswish(*_range_of(mod.activation_post_process))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(float(scale), int(zero_point))


class ELU(nn.ELU):
    """nn.ELU; results have the given scale and zero point."""

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.elu(input, self.scale, self.zero_point, self.alpha)

    def _get_name(self):
        return "QuantizedELU"

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return ELU(*_range_of(mod.activation_post_process), mod.alpha)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(float(scale), int(zero_point), mod.alpha)


class LeakyReLU(nn.LeakyReLU):
    """nn.LeakyReLU; results have the given scale and zero point."""

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        self.register_buffer("scale", torch.tensor(scale))
        self.register_buffer("zero_point", torch.tensor(zero_point))

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.leaky_relu(input, self.negative_slope, self.inplace, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedLeakyReLU"

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return cls(*_range_of(mod.activation_post_process), mod.negative_slope, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(float(scale), int(zero_point), mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    """nn.Sigmoid; results have the given scale and zero point."""

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale = output_scale
        self.output_zero_point = output_zero_point

    def forward(self, input: Tensor) -> Tensor:
        return torch.ops.quantized.sigmoid(input, self.output_scale, self.output_zero_point)

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return cls(*_range_of(mod.activation_post_process))


class Softmax(nn.Softmax):
    """nn.Softmax; results have the given scale and zero point."""

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__()
        self.dim = dim
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input: Tensor) -> Tensor:
        dim = self.dim
        if dim is None:
            dim = nn.functional._get_softmax_dim("softmax", input.dim(), 3)  # type: ignore[attr-defined]
        return torch.ops.quantized.softmax(input, dim, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedSoftmax"

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return Softmax(mod.dim, *_range_of(mod.activation_post_process))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        return cls(mod.dim, float(scale), int(zero_point))


class PReLU(nn.Module):
    """nn.PReLU with a quantized weight; results have the given scale and zero point."""

    def __init__(self, output_scale: float, output_zero_point: int, num_parameters: int = 1) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.scale = output_scale
        self.zero_point = output_zero_point
        w = torch.randn(num_parameters, dtype=torch.float)
        self.set_weight(torch.quantize_per_tensor(w, scale=1.0, zero_point=0, dtype=torch.quint8))

    def set_weight(self, w: torch.Tensor) -> None:
        self.weight = w

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.ops.quantized.prelu(input, self.weight, self.scale, self.zero_point)

    def _get_name(self):
        return "QuantizedPReLU"

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The module for one of floats that has been observed."""
        return cls.from_reference(mod, *_range_of(mod.activation_post_process))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Module:
        """The module for one of floats, with the scale and zero point of results."""
        from torchjit.ao.quantization.observer import MinMaxObserver
        from torchjit.ao.quantization.utils import is_per_channel

        made = cls(float(scale), int(zero_point), mod.num_parameters)
        weight = mod.weight.detach().float()
        observer = mod.qconfig.weight()
        if is_per_channel(observer.qscheme):
            observer = MinMaxObserver(dtype=torch.quint8)  # the operator has one scale for the weight
        observer(weight)
        if observer.dtype != torch.quint8:
            import warnings

            warnings.warn(f"PReLU's weight observer should have dtype quint8 but got {observer.dtype}", stacklevel=2)
        weight_scale, weight_zero_point = _range_of(observer)
        made.set_weight(torch.quantize_per_tensor(weight, weight_scale, weight_zero_point, torch.quint8))
        return made
