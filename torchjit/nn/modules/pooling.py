"""Pooling."""

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.common_types import _ratio_2_t, _ratio_3_t, _size_1_t, _size_2_t, _size_3_t, _size_any_t
from torchjit.nn.modules.module import Module
from torchjit.nn.modules.utils import _pair, _single, _triple, to_tuple

# ruff: noqa: UP006, UP035, UP045, A002


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]  # type: list[str]
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self, kernel_size: _size_any_t, stride: Optional[_size_any_t] = None, padding: _size_any_t = 0,
        dilation: _size_any_t = 1, return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: _size_any_t = stride if (stride is not None) else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class MaxPool1d(_MaxPoolNd):
    """Maxima over windows of lines.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> nn.MaxPool1d(2)(x)
    tensor([[[3., 5.]]])
    """

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.max_pool1d(
                input,
                self.kernel_size,
                self.stride,
                self.padding,
                self.dilation,
                ceil_mode=self.ceil_mode,
                return_indices=self.return_indices,
            )


class MaxPool2d(_MaxPoolNd):
    """Maxima over windows of planes.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.MaxPool2d(2)(x).shape
    torch.Size([1, 3, 4, 4])
    """

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.max_pool2d(
                input,
                self.kernel_size,
                self.stride,
                self.padding,
                self.dilation,
                ceil_mode=self.ceil_mode,
                return_indices=self.return_indices,
            )


class MaxPool3d(_MaxPoolNd):
    """Maxima over windows of volumes.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> nn.MaxPool3d(2)(x).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.max_pool3d(
                input,
                self.kernel_size,
                self.stride,
                self.padding,
                self.dilation,
                ceil_mode=self.ceil_mode,
                return_indices=self.return_indices,
            )


class AvgPool1d(Module):
    """Means over windows of lines.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> nn.AvgPool1d(2)(x)
    tensor([[[2.0000, 3.5000]]])
    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]  # type: list[str]
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self, kernel_size: _size_1_t, stride: Optional[_size_1_t] = None, padding: _size_1_t = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size: tuple[int, ...] = to_tuple(kernel_size, 1)
        self.stride: tuple[int, ...] = to_tuple(stride if stride is not None else kernel_size, 1)
        self.padding: tuple[int, ...] = to_tuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """Means over windows of planes.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.AvgPool2d(2)(x).shape
    torch.Size([1, 3, 4, 4])
    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]  # type: list[str]
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self,
        kernel_size: _size_2_t,
        stride: Optional[_size_2_t] = None,
        padding: _size_2_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Optional[int] = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: _size_2_t = stride if (stride is not None) else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool3d(AvgPool2d):
    """Means over windows of volumes.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> nn.AvgPool3d(2)(x).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]  # type: list[str]
    norm_type: float
    ceil_mode: bool

    def __init__(
        self, norm_type: float, kernel_size: _size_any_t, stride: Optional[_size_any_t] = None, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool2d(_LPPoolNd):
    """Power means over windows of planes.

    Takes bools, integers, floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other
    numbers of dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.LPPool2d(2, 2)(x).shape
    torch.Size([1, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """Power means over windows of volumes.

    Takes bools, integers, floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8, 8)
    >>> nn.LPPool3d(2, 2)(x).shape
    torch.Size([1, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]  # type: list[str]
    return_indices: bool

    def __init__(self, output_size: _size_any_t, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        if isinstance(output_size, (tuple, list)) and None in output_size:
            self._open_size = [-1 if n is None else int(n) for n in output_size]  # for programs; -1 is the input's size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima over a number of windows of lines.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> nn.AdaptiveMaxPool1d(2)(x)
    tensor([[[3., 5.]]])
    """

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima over a number of windows of planes.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.AdaptiveMaxPool2d(1)(x).shape
    torch.Size([1, 3, 1, 1])
    """

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            if torch.jit.is_scripting():
                if hasattr(self, "_open_size"):
                    size = [n if n >= 0 else input.size(i - 2) for i, n in enumerate(self._open_size)]
                    return F.adaptive_max_pool2d(input, size, self.return_indices)
            return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]  # type: list[str]

    def __init__(self, output_size: _size_any_t) -> None:
        super().__init__()
        self.output_size = output_size
        if isinstance(output_size, (tuple, list)) and None in output_size:
            self._open_size = [-1 if n is None else int(n) for n in output_size]  # for programs; -1 is the input's size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means over a number of windows of lines.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> nn.AdaptiveAvgPool1d(2)(x)
    tensor([[[2.0000, 3.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means over a number of windows of planes.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.AdaptiveAvgPool2d(1)(x).shape
    torch.Size([1, 3, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        if torch.jit.is_scripting():
            if hasattr(self, "_open_size"):
                size = [n if n >= 0 else input.size(i - 2) for i, n in enumerate(self._open_size)]
                return F.adaptive_avg_pool2d(input, size)
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means over a number of windows of volumes.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError or ValueError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> nn.AdaptiveAvgPool3d((1, 2, None))(x).shape
    torch.Size([1, 3, 1, 2, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        if torch.jit.is_scripting():
            if hasattr(self, "_open_size"):
                size = [n if n >= 0 else input.size(i - 3) for i, n in enumerate(self._open_size)]
                return F.adaptive_avg_pool3d(input, size)
        return F.adaptive_avg_pool3d(input, self.output_size)


class _MaxUnpoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding"]  # type: list[str]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def _set(self, kernel_size: _size_any_t, stride: Optional[_size_any_t], padding: _size_any_t, n: int) -> None:
        self.kernel_size: Tuple[int, ...] = to_tuple(kernel_size, n)
        self.stride: Tuple[int, ...] = to_tuple(stride if (stride is not None) else kernel_size, n)
        self.padding: Tuple[int, ...] = to_tuple(padding, n)


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool1d found them.

    >>> pooled, places = nn.MaxPool1d(2, return_indices=True)(torch.tensor([[[1.0, 3.0, 5.0, 2.0]]]))
    >>> nn.MaxUnpool1d(2)(pooled, places)
    tensor([[[0., 3., 5., 0.]]])
    """

    def __init__(self, kernel_size: _size_1_t, stride: Optional[_size_1_t] = None, padding: _size_1_t = 0) -> None:
        super().__init__()
        self._set(kernel_size, stride, padding, 1)

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool2d found them.

    >>> pooled, places = nn.MaxPool2d(2, return_indices=True)(torch.rand(1, 3, 8, 8))
    >>> nn.MaxUnpool2d(2)(pooled, places).shape
    torch.Size([1, 3, 8, 8])
    """

    def __init__(self, kernel_size: _size_2_t, stride: Optional[_size_2_t] = None, padding: _size_2_t = 0) -> None:
        super().__init__()
        self._set(kernel_size, stride, padding, 2)

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool3d found them.

    >>> pooled, places = nn.MaxPool3d(2, return_indices=True)(torch.rand(1, 3, 4, 4, 4))
    >>> nn.MaxUnpool3d(2)(pooled, places).shape
    torch.Size([1, 3, 4, 4, 4])
    """

    def __init__(self, kernel_size: _size_3_t, stride: Optional[_size_3_t] = None, padding: _size_3_t = 0) -> None:
        super().__init__()
        self._set(kernel_size, stride, padding, 3)

    def forward(self, input: Tensor, indices: Tensor, output_size: Optional[List[int]] = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class AdaptiveMaxPool3d(Module):
    """Maxima over as many windows of a volume as asked for.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError or ValueError for other
    numbers of dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> nn.AdaptiveMaxPool3d((1, 2, None))(x).shape
    torch.Size([1, 3, 1, 2, 4])
    """

    __constants__ = ["output_size", "return_indices"]  # type: list[str]
    return_indices: bool

    def __init__(self, output_size: _size_3_t, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        if isinstance(output_size, (tuple, list)) and None in output_size:
            self._open_size = [-1 if n is None else int(n) for n in output_size]  # for programs; -1 is the input's size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            if torch.jit.is_scripting():
                if hasattr(self, "_open_size"):
                    size = [n if n >= 0 else input.size(i - 3) for i, n in enumerate(self._open_size)]
                    return F.adaptive_max_pool3d(input, size, self.return_indices)
            return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


def _check_fraction(name, output_size, output_ratio) -> None:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
    if output_size is not None and output_ratio is not None:
        raise ValueError("only one of output_size and output_ratio may be specified")
    if output_ratio is not None and not all(0 < ratio < 1 for ratio in output_ratio):
        raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio[0] if len(set(output_ratio)) == 1 else output_ratio})")


class FractionalMaxPool2d(Module):
    """Maxima over windows that begin at random places of planes.

    The size of the output is given, or output_ratio, its ratio to the input's, between 0 and 1. Raises ValueError for neither, for both, and for
    other ratios.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> nn.FractionalMaxPool2d(2, output_size=5)(x).shape
    torch.Size([1, 3, 5, 5])
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]  # type: list[str]

    def __init__(
        self, kernel_size: _size_2_t, output_size: Optional[_size_2_t] = None,
        output_ratio: Optional[_ratio_2_t] = None, return_indices: bool = False,
        _random_samples: Optional[Tensor] = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size: tuple[int, ...] = to_tuple(kernel_size, 2)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size: tuple[int, ...] | None = to_tuple(output_size, 2) if output_size is not None else None
        self.output_ratio: tuple[float, ...] | None = to_tuple(output_ratio, 2) if output_ratio is not None else None
        _check_fraction("FractionalMaxPool2d", self.output_size, self.output_ratio)

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.fractional_max_pool2d(
                input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, _random_samples=self._random_samples
            )


class FractionalMaxPool3d(Module):
    """Maxima over windows that begin at random places of volumes.

    The size of the output is given, or output_ratio, its ratio to the input's, between 0 and 1. Raises ValueError for neither, for both, and for
    other ratios.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8, 8)
    >>> nn.FractionalMaxPool3d(2, output_size=5)(x).shape
    torch.Size([1, 3, 5, 5, 5])
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]  # type: list[str]

    def __init__(
        self, kernel_size: _size_3_t, output_size: Optional[_size_3_t] = None,
        output_ratio: Optional[_ratio_3_t] = None, return_indices: bool = False,
        _random_samples: Optional[Tensor] = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size: tuple[int, ...] = to_tuple(kernel_size, 3)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size: tuple[int, ...] | None = to_tuple(output_size, 3) if output_size is not None else None
        self.output_ratio: tuple[float, ...] | None = to_tuple(output_ratio, 3) if output_ratio is not None else None
        _check_fraction("FractionalMaxPool3d", self.output_size, self.output_ratio)

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Tensor) -> Any: ...

    else:

        def forward(self, input: Tensor):
            return F.fractional_max_pool3d(
                input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, _random_samples=self._random_samples
            )


class LPPool1d(_LPPoolNd):
    """Power means over windows of lines.

    Takes bools, integers, floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[3.0, 4.0, 6.0, 8.0]]])
    >>> nn.LPPool1d(2, 2)(x)
    tensor([[[ 5., 10.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)  # type: ignore[arg-type]
