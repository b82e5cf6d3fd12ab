"""Layer, group and local response normalization."""

import numbers
from collections.abc import Sequence
from typing import Any, Optional, Tuple, Union

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn import init
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter
from torchjit.types import Device

# ruff: noqa: UP006, UP035, A002


class LayerNorm(Module):
    """Normalizes over the last dimensions.

    Takes floats and halves, of 1 or more dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> m = nn.LayerNorm(4)
    >>> x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    >>> m(x)
    tensor([[-1.3416, -0.4472,  0.4472,  1.3416]],
           grad_fn=<NativeLayerNormBackward0>)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]  # type: list[str]
    normalized_shape: Tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(
        self, normalized_shape: Union[int, Sequence[int]], eps: float = 1e-5, elementwise_affine: bool = True,
        device: Device = None, dtype: torch.dtype | None = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes: Any = (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else normalized_shape
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if self.elementwise_affine:
            self.weight: Parameter = Parameter(torch.empty(list(self.normalized_shape), device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if self.elementwise_affine and bias:
            self.bias: Parameter = Parameter(torch.empty(list(self.normalized_shape), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """Divides by the root of the mean of the squares over the last dimensions.

    Takes floats and halves, of 1 or more dimensions. eps is added to the mean of the squares: by default the distance of 1 to the next number
    of the type. Gradients flow to the input and the parameter. Raises RuntimeError for other numbers of dimensions and other types. From
    PyTorch 2.

    >>> m = nn.RMSNorm(2)
    >>> m(torch.tensor([[1.0, 7.0]]))
    tensor([[0.2000, 1.4000]], grad_fn=<MulBackward0>)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]  # type: list[str]
    normalized_shape: Tuple[int, ...]
    eps: Optional[float]
    elementwise_affine: bool

    def __init__(
        self, normalized_shape: Union[int, Sequence[int]], eps: Optional[float] = None, elementwise_affine: bool = True,
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes: Any = (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else normalized_shape
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if self.elementwise_affine:
            self.weight: Parameter = Parameter(torch.empty(list(self.normalized_shape), device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalizes groups of channels of each sample.

    Takes floats and halves, of 3 dimensions. Gradients flow to the input and the parameters. Raises IndexError or RuntimeError for other
    numbers of dimensions and RuntimeError for other types.

    >>> m = nn.GroupNorm(2, 4)
    >>> x = torch.rand(2, 4, 5)
    >>> m(x).shape
    torch.Size([2, 4, 5])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]  # type: list[str]
    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        if self.affine:
            self.weight: Parameter = Parameter(torch.empty([num_channels], device=device, dtype=dtype))
            self.bias: Parameter = Parameter(torch.empty([num_channels], device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LocalResponseNorm(Module):
    """Normalizes over neighbouring channels.

    Takes floats and halves, of 3 or more dimensions. Gradients flow to the input. Raises ValueError for other numbers of dimensions and
    RuntimeError for other types.

    >>> m = nn.LocalResponseNorm(2)
    >>> x = torch.rand(2, 4, 5)
    >>> m(x).shape
    torch.Size([2, 4, 5])
    """

    __constants__ = ["size", "alpha", "beta", "k"]  # type: list[str]
    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """Local response normalization over size channels of images (N x C x H x W).

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises IndexError for other
    numbers of dimensions.

    >>> m = nn.CrossMapLRN2d(2)
    >>> x = torch.rand(2, 4, 5, 5)
    >>> m(x).shape
    torch.Size([2, 4, 5, 5])
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        pad_before = int((self.size - 1) / 2 + 1)
        squares = torch.cat([torch.zeros_like(input[:, :1]), input.pow(2).cumsum(1)], dim=1)
        channels = input.size(1)
        places = torch.arange(channels, device=input.device)
        ends = torch.clamp(places + pad_before, max=channels)
        starts = torch.clamp(places - pad_before + 1, min=0)
        window = squares[:, ends] - squares[:, starts]
        return input / (window * (self.alpha / self.size) + self.k).pow(self.beta)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
