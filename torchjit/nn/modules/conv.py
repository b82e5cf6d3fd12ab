"""Convolutions."""

import math
from typing import List, Optional, Tuple, Union

import torchjit as torch
from torchjit import Tensor, empty
from torchjit.nn import functional as F
from torchjit.nn import init
from torchjit.nn.common_types import _size_1_t, _size_2_t, _size_3_t, _size_any_t
from torchjit.nn.modules.lazy import LazyModuleMixin
from torchjit.nn.modules.module import Module
from torchjit.nn.modules.utils import _pair, _reverse_repeat_tuple, _single, _triple, reversed_repeated, to_tuple
from torchjit.nn.parameter import Parameter, UninitializedParameter
from torchjit.types import Device

# ruff: noqa: UP006, UP007, UP035, UP045, A002


class _ConvNd(Module):
    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]  # type: list[str]

    _in_channels: int
    _reversed_padding_repeated_twice: List[int]
    out_channels: int
    kernel_size: Tuple[int, ...]
    stride: Tuple[int, ...]
    padding: Union[str, Tuple[int, ...]]
    dilation: Tuple[int, ...]
    transposed: bool
    output_padding: Tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Optional[Tensor]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Tuple[int, ...], stride: Tuple[int, ...],
        padding: Union[str, Tuple[int, ...]], dilation: Tuple[int, ...], transposed: bool,
        output_padding: Tuple[int, ...], groups: int, bias: bool, padding_mode: str, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_for_pad()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty([first, second // groups, *kernel_size], device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty([out_channels], device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _padding_for_pad(self) -> List[int]:
        if not isinstance(self.padding, str):
            return reversed_repeated(self.padding, 2)
        sides = [0, 0] * len(self.kernel_size)
        if self.padding == "same":
            for i, (d, k) in enumerate(zip(self.dilation, self.kernel_size)):  # noqa: B905
                total = d * (k - 1)
                at = 2 * (len(self.kernel_size) - 1 - i)
                sides[at] = total // 2
                sides[at + 1] = total - total // 2
        return sides

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        s = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.kernel_size):
            s += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.kernel_size):
            s += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.kernel_size):
            s += f", output_padding={self.output_padding}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        if self.bias is None:
            s += ", bias=False"
        if self.padding_mode != "zeros":
            s += f", padding_mode={self.padding_mode}"
        return s


def _plain(x, n):
    return x if isinstance(x, str) else to_tuple(x, n)


class Conv1d(_ConvNd):
    """Convolution along a line.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.Conv1d(3, 8, 3, padding=1)
    >>> x = torch.rand(2, 3, 10)
    >>> m(x).shape
    torch.Size([2, 8, 10])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_1_t, stride: _size_1_t = 1,
        padding: Union[str, _size_1_t] = 0, dilation: _size_1_t = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 1), to_tuple(stride, 1), _plain(padding, 1), to_tuple(dilation, 1), False,
            to_tuple(0, 1), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != "zeros":
            return F.conv1d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight,
                bias,
                self.stride,
                (0,),
                self.dilation,
                self.groups,
            )
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """Convolution over a plane.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.Conv2d(3, 8, 3, stride=2)
    >>> x = torch.rand(2, 3, 9, 9)
    >>> m(x).shape
    torch.Size([2, 8, 4, 4])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_2_t, stride: _size_2_t = 1,
        padding: Union[str, _size_2_t] = 0, dilation: _size_2_t = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 2), to_tuple(stride, 2), _plain(padding, 2), to_tuple(dilation, 2), False,
            to_tuple(0, 2), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != "zeros":
            return F.conv2d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight,
                bias,
                self.stride,
                (0, 0),
                self.dilation,
                self.groups,
            )
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """Convolution over a volume.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.Conv3d(3, 8, 3)
    >>> x = torch.rand(2, 3, 5, 5, 5)
    >>> m(x).shape
    torch.Size([2, 8, 3, 3, 3])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_3_t, stride: _size_3_t = 1,
        padding: Union[str, _size_3_t] = 0, dilation: _size_3_t = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 3), to_tuple(stride, 3), _plain(padding, 3), to_tuple(dilation, 3), False,
            to_tuple(0, 3), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Optional[Tensor]):
        if self.padding_mode != "zeros":
            return F.conv3d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight,
                bias,
                self.stride,
                (0, 0, 0),
                self.dilation,
                self.groups,
            )
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Tuple[int, ...], stride: Tuple[int, ...],
        padding: Union[str, Tuple[int, ...]], dilation: Tuple[int, ...], transposed: bool,
        output_padding: Tuple[int, ...], groups: int, bias: bool, padding_mode: str, device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self, input: Tensor, output_size: Optional[List[int]], stride: List[int], padding: List[int], kernel_size: List[int],
        num_spatial_dims: int, dilation: Optional[List[int]] = None,
    ) -> List[int]:  # fmt: skip
        if output_size is None:
            ret = to_single(self.output_padding)  # type: ignore[arg-type]
        else:
            has_batch_dim = input.dim() == num_spatial_dims + 2
            num_non_spatial_dims = 2 if has_batch_dim else 1
            if len(output_size) == num_non_spatial_dims + num_spatial_dims:
                output_size = output_size[num_non_spatial_dims:]
            if len(output_size) != num_spatial_dims:
                raise ValueError("the size of the output does not have one number for each spatial dimension")
            min_sizes: List[int] = []
            max_sizes: List[int] = []
            for d in range(num_spatial_dims):
                dim_size = (
                    (input.size(d + num_non_spatial_dims) - 1) * stride[d]
                    - 2 * padding[d]
                    + (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
                    + 1
                )
                min_sizes.append(dim_size)
                max_sizes.append(min_sizes[d] + stride[d] - 1)
            for i in range(len(output_size)):
                size = output_size[i]
                if size < min_sizes[i] or size > max_sizes[i]:
                    raise ValueError("the size of the output is not one that the input can give")
            res: List[int] = []
            for d in range(num_spatial_dims):
                res.append(output_size[d] - min_sizes[d])
            ret = res
        return ret


def to_single(x: List[int]) -> List[int]:
    """The numbers as they are."""
    return x


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of a convolution along a line, as a map.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.ConvTranspose1d(3, 8, 3, stride=2)
    >>> x = torch.rand(2, 3, 4)
    >>> m(x).shape
    torch.Size([2, 8, 9])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_1_t, stride: _size_1_t = 1,
        padding: _size_1_t = 0, output_padding: _size_1_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_1_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 1), to_tuple(stride, 1), to_tuple(padding, 1), to_tuple(dilation, 1), True,
            to_tuple(output_padding, 1), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        num_spatial_dims = 1
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, num_spatial_dims, self.dilation  # type: ignore[arg-type]
        )
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of a convolution over a plane, as a map.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.ConvTranspose2d(3, 8, 3, stride=2)
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 8, 9, 9])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_2_t, stride: _size_2_t = 1,
        padding: _size_2_t = 0, output_padding: _size_2_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_2_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 2), to_tuple(stride, 2), to_tuple(padding, 2), to_tuple(dilation, 2), True,
            to_tuple(output_padding, 2), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        num_spatial_dims = 2
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, num_spatial_dims, self.dilation  # type: ignore[arg-type]
        )
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of a convolution over a volume, as a map.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.ConvTranspose3d(3, 8, 3)
    >>> x = torch.rand(2, 3, 2, 2, 2)
    >>> m(x).shape
    torch.Size([2, 8, 4, 4, 4])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_3_t, stride: _size_3_t = 1,
        padding: _size_3_t = 0, output_padding: _size_3_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_3_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, to_tuple(kernel_size, 3), to_tuple(stride, 3), to_tuple(padding, 3), to_tuple(dilation, 3), True,
            to_tuple(output_padding, 3), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        assert isinstance(self.padding, tuple)
        num_spatial_dims = 3
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, num_spatial_dims, self.dilation  # type: ignore[arg-type]
        )
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions share: in_channels is the size of the first input's channels."""

    _spatial: int

    def _begin(self, out_channels: int, bias: bool, device, dtype) -> None:
        self.weight: Tensor = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias: Optional[Tensor] = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_channels: int = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:  # type: ignore[attr-defined]
            raise ValueError("in_channels must be divisible by groups")
        first, second = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)  # type: ignore[attr-defined]
        self.weight.materialize((first, second // self.groups, *self.kernel_size))  # type: ignore[attr-defined]
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))  # type: ignore[attr-defined]
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        n = self._spatial
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == n + 2 else input.shape[0]


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: _size_any_t, stride: _size_any_t = 1, padding: _size_any_t = 0,
        dilation: _size_any_t = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._begin(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: _size_any_t, stride: _size_any_t = 1, padding: _size_any_t = 0,
        output_padding: _size_any_t = 0, groups: int = 1, bias: bool = True, dilation: _size_any_t = 1,
        padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
        self._begin(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConv1d(8, 3)
    >>> x = torch.rand(2, 3, 10)
    >>> m(x).shape
    torch.Size([2, 8, 8])
    """

    cls_to_become = Conv1d
    _spatial = 1


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConv2d(8, 3)
    >>> x = torch.rand(2, 3, 9, 9)
    >>> m(x).shape
    torch.Size([2, 8, 7, 7])
    """

    cls_to_become = Conv2d
    _spatial = 2


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConv3d(8, 3)
    >>> x = torch.rand(2, 3, 5, 5, 5)
    >>> m(x).shape
    torch.Size([2, 8, 3, 3, 3])
    """

    cls_to_become = Conv3d
    _spatial = 3


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConvTranspose1d(8, 3)
    >>> x = torch.rand(2, 3, 4)
    >>> m(x).shape
    torch.Size([2, 8, 6])
    """

    cls_to_become = ConvTranspose1d
    _spatial = 1


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConvTranspose2d(8, 3)
    >>> x = torch.rand(2, 3, 4, 4)
    >>> m(x).shape
    torch.Size([2, 8, 6, 6])
    """

    cls_to_become = ConvTranspose2d
    _spatial = 2


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that learns in_channels from its first input.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input and the parameters. Raises RuntimeError for
    other numbers of dimensions and other types.

    >>> m = nn.LazyConvTranspose3d(8, 3)
    >>> x = torch.rand(2, 3, 2, 2, 2)
    >>> m(x).shape
    torch.Size([2, 8, 4, 4, 4])
    """

    cls_to_become = ConvTranspose3d
    _spatial = 3
