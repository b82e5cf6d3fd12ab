"""Linear maps."""

import math

import torchjit as torch
from torchjit import Tensor, empty
from torchjit.autograd.grad_mode import no_grad
from torchjit.nn import functional as F
from torchjit.nn import init
from torchjit.nn.modules.lazy import LazyModuleMixin
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter, UninitializedParameter
from torchjit.types import Device

# ruff: noqa: A002


class Identity(Module):
    """Passes its input on; takes any arguments.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Identity()(x)
    tensor([-1.0000,  0.5000,  2.0000])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """input times the transposed weight, plus bias.

    Takes floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.Linear(3, 5)
    >>> x = torch.rand(2, 3)
    >>> m(x).shape
    torch.Size([2, 5])
    """

    __constants__ = ["in_features", "out_features"]  # type: list[str]
    in_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty([out_features, in_features], device=device, dtype=dtype))
        if bias:
            self.bias: Parameter = Parameter(empty([out_features], device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear that quantization leaves alone."""


class Bilinear(Module):
    """A map that is linear in each of two inputs.

    Takes floats and halves. Gradients flow to the input and the parameters.

    >>> m = nn.Bilinear(3, 4, 5)
    >>> x = torch.rand(2, 3)
    >>> m(x, torch.rand(2, 4)).shape
    torch.Size([2, 5])
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]  # type: list[str]
    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty([out_features, in1_features, in2_features], device=device, dtype=dtype))
        if bias:
            self.bias: Parameter = Parameter(empty([out_features], device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that learns in_features from its first input, the size of whose last dimension it is.

    Takes floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input and the parameters. Raises IndexError for
    other numbers of dimensions and RuntimeError for other types.

    >>> m = nn.LazyLinear(5)
    >>> x = torch.rand(2, 3)
    >>> m(x).shape
    torch.Size([2, 5])
    """

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, False)
        self.weight: Tensor = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias: Tensor = UninitializedParameter(device=device, dtype=dtype)  # type: ignore[assignment]

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features: int = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
                self.reset_parameters()
