"""Functions of neural networks.

The functions here are compiled together with the programs that call them, so they keep to the
language: annotated arguments, no keyword-only arguments, no Python objects.
"""

import math
import warnings
from typing import List, Optional, Tuple, Union

import torchjit as torch
from torchjit import _VF as _VF
from torchjit import Tensor, _native
from torchjit._jit_internal import BroadcastingList1, BroadcastingList2, BroadcastingList3, _overload, boolean_dispatch
from torchjit.nn import _reduction
from torchjit.nn import _reduction as _Reduction  # noqa: F401
from torchjit.nn import grad as grad
from torchjit.nn.modules import utils as utils
from torchjit.nn.modules.utils import _list_with_default, _pair, _single, _triple
from torchjit.overrides import handle_torch_function, has_torch_function_unary, has_torch_function_variadic
from torchjit.overrides import has_torch_function as has_torch_function

# No __getattr__: a module that has one is a slower place to look names up in.
DType = int

# ruff: noqa: UP006, UP007, UP035, UP045, A002

# Functions that are operators.
linear = _native.operator("aten::linear")
bilinear = torch.bilinear
conv1d = torch.conv1d
conv2d = torch.conv2d
conv3d = torch.conv3d
conv_transpose1d = torch.conv_transpose1d
conv_transpose2d = torch.conv_transpose2d
conv_transpose3d = torch.conv_transpose3d
conv_tbc = torch.conv_tbc
avg_pool1d = torch.avg_pool1d
avg_pool2d = _native.operator("aten::avg_pool2d")
avg_pool3d = _native.operator("aten::avg_pool3d")
adaptive_avg_pool1d = torch.adaptive_avg_pool1d
gelu = _native.operator("aten::gelu")
softplus = _native.operator("aten::softplus")
hardshrink = torch.hardshrink
softshrink = _native.operator("aten::softshrink")
logsigmoid = _native.operator("aten::log_sigmoid")
one_hot = _native.operator("aten::one_hot")
pixel_shuffle = torch.pixel_shuffle
pixel_unshuffle = torch.pixel_unshuffle
channel_shuffle = torch.channel_shuffle
native_channel_shuffle = torch.native_channel_shuffle
pairwise_distance = torch.pairwise_distance
pdist = torch.pdist
cosine_similarity = torch.cosine_similarity
pad = _native.operator("aten::pad")
prelu = torch.prelu
relu_ = torch.relu_
celu_ = torch.celu_
elu_ = _native.operator("aten::elu_")
selu_ = torch.selu_
threshold_ = torch.threshold_
hardtanh_ = _native.operator("aten::hardtanh_")
leaky_relu_ = _native.operator("aten::leaky_relu_")
rrelu_ = torch.rrelu_
_nn_max_pool2d = _native.operator("aten::max_pool2d")
_nn_elu = _native.operator("aten::elu")
_nn_hardtanh = _native.operator("aten::hardtanh")
_nn_hardswish = _native.operator("aten::hardswish")
_nn_leaky_relu = _native.operator("aten::leaky_relu")
_nn_silu = _native.operator("aten::silu")
_nn_mish = _native.operator("aten::mish")
_nn_hardsigmoid = _native.operator("aten::hardsigmoid")
_nn_glu = _native.operator("aten::glu")
_nn_relu6 = _native.operator("aten::relu6")
_nn_relu6_ = _native.operator("aten::relu6_")
_nn_hardswish_ = _native.operator("aten::hardswish_")
_nn_hardsigmoid_ = _native.operator("aten::hardsigmoid_")
_nn_silu_ = _native.operator("aten::silu_")
_nn_mish_ = _native.operator("aten::mish_")


# ---- pooling ----


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tuple[Tensor, Tensor]:
    """Maxima over windows of a line, and where they stand.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> F.max_pool1d_with_indices(x, 2)[1]
    tensor([[[1, 3]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool1d_with_indices, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool1d(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Maxima over windows of a line; with return_indices, where they stand too.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> F.max_pool1d(x, 2)
    tensor([[[3., 5.]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool1d, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool1d = boolean_dispatch(
    arg_name="return_indices", arg_index=6, default=False, if_true=max_pool1d_with_indices, if_false=_max_pool1d,
    module_name=__name__, func_name="max_pool1d",
)  # fmt: skip


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tuple[Tensor, Tensor]:
    """Maxima over windows of a plane, and where they stand.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.max_pool2d_with_indices(x, 2)[1].shape
    torch.Size([1, 3, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool2d_with_indices, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Maxima over windows of a plane; with return_indices, where they stand too.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.max_pool2d(x, 2).shape
    torch.Size([1, 3, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool2d, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool2d = boolean_dispatch(
    arg_name="return_indices", arg_index=6, default=False, if_true=max_pool2d_with_indices, if_false=_max_pool2d,
    module_name=__name__, func_name="max_pool2d",
)  # fmt: skip


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tuple[Tensor, Tensor]:
    """Maxima over windows that begin at random places, and where they stand. The size of the output is given, or its ratio to the input's.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.fractional_max_pool2d_with_indices(x, 2, output_size=5)[1].shape
    torch.Size([1, 3, 5, 5])
    """
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(fractional_max_pool2d_with_indices, (input, _random_samples), input, kernel_size, output_size=output_size, output_ratio=output_ratio, return_indices=return_indices, _random_samples=_random_samples)
    if output_size is None and output_ratio is None:
        raise ValueError("fractional_max_pool2d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        assert output_ratio is not None
        if not torch.jit.is_scripting():
            output_ratio = [output_ratio] * 2 if isinstance(output_ratio, float) else output_ratio
        if len(output_ratio) > 2:
            raise ValueError("fractional_max_pool2d requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(input.size(-2) * output_ratio[0]), int(input.size(-1) * output_ratio[1])]
    if _random_samples is None:
        n_batch = 1 if input.dim() == 3 else input.size(0)
        _random_samples = torch.rand(n_batch, input.size(-3), 2, dtype=input.dtype, device=input.device)
    return torch.fractional_max_pool2d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    """Maxima over windows that begin at random places; with return_indices, where they stand too. The size of the output is given, or its ratio to the input's.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.fractional_max_pool2d(x, 2, output_size=5).shape
    torch.Size([1, 3, 5, 5])
    """
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(fractional_max_pool2d, (input, _random_samples), input, kernel_size, output_size=output_size, output_ratio=output_ratio, return_indices=return_indices, _random_samples=_random_samples)
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool2d = boolean_dispatch(
    arg_name="return_indices", arg_index=4, default=False, if_true=fractional_max_pool2d_with_indices, if_false=_fractional_max_pool2d,
    module_name=__name__, func_name="fractional_max_pool2d",
)  # fmt: skip


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tuple[Tensor, Tensor]:
    """Maxima over windows that begin at random places, and where they stand. The size of the output is given, or its ratio to the input's.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8, 8)
    >>> F.fractional_max_pool3d_with_indices(x, 2, output_size=5)[1].shape
    torch.Size([1, 3, 5, 5, 5])
    """
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(fractional_max_pool3d_with_indices, (input, _random_samples), input, kernel_size, output_size=output_size, output_ratio=output_ratio, return_indices=return_indices, _random_samples=_random_samples)
    if output_size is None and output_ratio is None:
        raise ValueError("fractional_max_pool3d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        assert output_ratio is not None
        if not torch.jit.is_scripting():
            output_ratio = [output_ratio] * 3 if isinstance(output_ratio, float) else output_ratio
        if len(output_ratio) > 3:
            raise ValueError("fractional_max_pool3d requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(input.size(-3) * output_ratio[0]), int(input.size(-2) * output_ratio[1]), int(input.size(-1) * output_ratio[2])]
    if _random_samples is None:
        n_batch = 1 if input.dim() == 4 else input.size(0)
        _random_samples = torch.rand(n_batch, input.size(-4), 3, dtype=input.dtype, device=input.device)
    return torch.fractional_max_pool3d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    """Maxima over windows that begin at random places; with return_indices, where they stand too. The size of the output is given, or its ratio to the input's.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8, 8)
    >>> F.fractional_max_pool3d(x, 2, output_size=5).shape
    torch.Size([1, 3, 5, 5, 5])
    """
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(fractional_max_pool3d, (input, _random_samples), input, kernel_size, output_size=output_size, output_ratio=output_ratio, return_indices=return_indices, _random_samples=_random_samples)
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool3d = boolean_dispatch(
    arg_name="return_indices", arg_index=4, default=False, if_true=fractional_max_pool3d_with_indices, if_false=_fractional_max_pool3d,
    module_name=__name__, func_name="fractional_max_pool3d",
)  # fmt: skip


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tuple[Tensor, Tensor]:
    """Maxima over windows of a volume, and where they stand.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> F.max_pool3d_with_indices(x, 2)[1].shape
    torch.Size([1, 3, 2, 2, 2])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool3d_with_indices, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Maxima over windows of a volume; with return_indices, where they stand too.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> F.max_pool3d(x, 2).shape
    torch.Size([1, 3, 2, 2, 2])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_pool3d, (input,), input, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    return torch.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool3d = boolean_dispatch(
    arg_name="return_indices", arg_index=6, default=False, if_true=max_pool3d_with_indices, if_false=_max_pool3d,
    module_name=__name__, func_name="max_pool3d",
)  # fmt: skip


def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    """Means over as many windows of a plane as output_size says.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.adaptive_avg_pool2d(x, 1).shape
    torch.Size([1, 3, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_avg_pool2d, (input,), input, output_size)
    _output_size = _list_with_default(output_size, input.size())
    return torch.adaptive_avg_pool2d(input, _output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: BroadcastingList3[int]) -> Tensor:
    """Means over as many windows of a volume as output_size says.

    Takes floats, halves and complex numbers, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> F.adaptive_avg_pool3d(x, 1).shape
    torch.Size([1, 3, 1, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_avg_pool3d, (input,), input, output_size)
    _output_size = _list_with_default(output_size, input.size())
    return torch.adaptive_avg_pool3d(input, _output_size)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False
) -> Tuple[Tensor, Tensor]:
    """Maxima over as many windows as output_size says, and where they stand.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> F.adaptive_max_pool1d_with_indices(x, 2)[1]
    tensor([[[1, 3]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool1d_with_indices, (input,), input, output_size, return_indices=return_indices)
    return torch.adaptive_max_pool1d(input, output_size)


def _adaptive_max_pool1d(input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False) -> Tensor:
    """Maxima over as many windows as output_size says; with return_indices, where they stand too.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.tensor([[[1.0, 3.0, 2.0, 5.0]]])
    >>> F.adaptive_max_pool1d(x, 2)
    tensor([[[3., 5.]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool1d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


adaptive_max_pool1d = boolean_dispatch(
    arg_name="return_indices", arg_index=2, default=False, if_true=adaptive_max_pool1d_with_indices,
    if_false=_adaptive_max_pool1d, module_name=__name__, func_name="adaptive_max_pool1d",
)  # fmt: skip


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False
) -> Tuple[Tensor, Tensor]:
    """Maxima over as many windows of a plane as output_size says, and where they stand.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.adaptive_max_pool2d_with_indices(x, 1)[1].shape
    torch.Size([1, 3, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool2d_with_indices, (input,), input, output_size, return_indices=return_indices)
    output_size = _list_with_default(output_size, input.size())
    return torch.adaptive_max_pool2d(input, output_size)


def _adaptive_max_pool2d(input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False) -> Tensor:
    """Maxima over as many windows of a plane as output_size says; with return_indices, where they stand too.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.adaptive_max_pool2d(x, 1).shape
    torch.Size([1, 3, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool2d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


adaptive_max_pool2d = boolean_dispatch(
    arg_name="return_indices", arg_index=2, default=False, if_true=adaptive_max_pool2d_with_indices,
    if_false=_adaptive_max_pool2d, module_name=__name__, func_name="adaptive_max_pool2d",
)  # fmt: skip


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False
) -> Tuple[Tensor, Tensor]:
    """Maxima over as many windows of a volume as asked for, and where they stand.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> F.adaptive_max_pool3d_with_indices(x, 1)[1].shape
    torch.Size([1, 3, 1, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool3d_with_indices, (input,), input, output_size, return_indices=return_indices)
    output_size = _list_with_default(output_size, input.size())
    return torch.adaptive_max_pool3d(input, output_size)


def _adaptive_max_pool3d(input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False) -> Tensor:
    """Maxima over as many windows of a volume as asked for; with return_indices, where they stand too.

    Takes floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 3, 4, 4, 4)
    >>> F.adaptive_max_pool3d(x, 1).shape
    torch.Size([1, 3, 1, 1, 1])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool3d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


adaptive_max_pool3d = boolean_dispatch(
    arg_name="return_indices", arg_index=2, default=False, if_true=adaptive_max_pool3d_with_indices, if_false=_adaptive_max_pool3d,
    module_name=__name__, func_name="adaptive_max_pool3d",
)  # fmt: skip


def _unpool_output_size(
    input: Tensor, kernel_size: List[int], stride: List[int], padding: List[int], output_size: Optional[List[int]]
) -> List[int]:
    input_size = input.size()
    default_size = torch.jit.annotate(List[int], [])
    for d in range(len(kernel_size)):
        default_size.append(
            (input_size[-len(kernel_size) + d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d]
        )
    if output_size is None:
        ret = default_size
    else:
        if len(output_size) == (len(kernel_size) + 2):
            output_size = output_size[2:]
        if len(output_size) != len(kernel_size):
            raise ValueError(
                "output_size should be a sequence containing {} or {} elements, but it has a length of '{}'".format(
                    len(kernel_size), len(kernel_size) + 2, len(output_size)
                )
            )  # noqa: UP032
        for d in range(len(kernel_size)):
            min_size = default_size[d] - stride[d]
            max_size = default_size[d] + stride[d]
            if not (min_size < output_size[d] < max_size):
                raise ValueError(
                    'invalid output_size "{}" (dim {} must be between {} and {})'.format(output_size, d, min_size, max_size)
                )  # noqa: UP032
        ret = output_size
    return ret


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    output_size: Optional[BroadcastingList1[int]] = None,
) -> Tensor:
    """Puts maxima back where max_pool1d found them; the rest is zero.

    >>> pooled, places = F.max_pool1d(torch.tensor([[[1.0, 3.0, 5.0, 2.0]]]), 2, return_indices=True)
    >>> F.max_unpool1d(pooled, places, 2)
    tensor([[[0., 3., 5., 0.]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_unpool1d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size)
    kernel_size = _single(kernel_size)
    if stride is not None:
        _stride = _single(stride)
    else:
        _stride = kernel_size
    padding = _single(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    output_size = list(output_size) + [1]
    return torch.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), output_size).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    output_size: Optional[BroadcastingList2[int]] = None,
) -> Tensor:
    """Puts maxima back where max_pool2d found them; the rest is zero.

    >>> pooled, places = F.max_pool2d(torch.rand(1, 3, 8, 8), 2, return_indices=True)
    >>> F.max_unpool2d(pooled, places, 2).shape
    torch.Size([1, 3, 8, 8])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_unpool2d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size)
    kernel_size = _pair(kernel_size)
    if stride is not None:
        _stride = _pair(stride)
    else:
        _stride = kernel_size
    padding = _pair(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    return torch.max_unpool2d(input, indices, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    output_size: Optional[BroadcastingList3[int]] = None,
) -> Tensor:
    """Puts maxima back where max_pool3d found them; the rest is zero.

    >>> pooled, places = F.max_pool3d(torch.rand(1, 3, 4, 4, 4), 2, return_indices=True)
    >>> F.max_unpool3d(pooled, places, 2).shape
    torch.Size([1, 3, 4, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(max_unpool3d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size)
    kernel_size = _triple(kernel_size)
    if stride is not None:
        _stride = _triple(stride)
    else:
        _stride = kernel_size
    padding = _triple(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    return torch.max_unpool3d(input, indices, output_size, _stride, padding)


def lp_pool1d(
    input: Tensor,
    norm_type: Union[int, float],
    kernel_size: int,
    stride: Optional[BroadcastingList1[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Power means over windows of a line.

    Takes bools, floats and halves, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and
    other types.

    >>> x = torch.tensor([[[3.0, 4.0, 6.0, 8.0]]])
    >>> F.lp_pool1d(x, 2, 2)
    tensor([[[ 5., 10.]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(lp_pool1d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode)
    if stride is not None:
        out = avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool1d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * relu(torch.abs(out))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: Union[int, float],
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Power means over windows of a plane.

    Takes bools, floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 8, 8)
    >>> F.lp_pool2d(x, 2, 2).shape
    torch.Size([1, 3, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(lp_pool2d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode)
    kw, kh = _pair(kernel_size)
    if stride is not None:
        out = avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool2d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * relu(torch.abs(out))).mul(kw * kh).pow(1.0 / norm_type)


def lp_pool3d(
    input: Tensor,
    norm_type: Union[int, float],
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Power means over windows of a volume.

    Takes bools, floats and halves, of 4 or 5 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and
    other types.

    >>> x = torch.rand(1, 3, 8, 8, 8)
    >>> F.lp_pool3d(x, 2, 2).shape
    torch.Size([1, 3, 4, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(lp_pool3d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode)
    kd, kw, kh = _triple(kernel_size)
    if stride is not None:
        out = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool3d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * relu(torch.abs(out))).mul(kd * kw * kh).pow(1.0 / norm_type)


# ---- dropout ----


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to zero with probability p while training.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.ones(3)
    >>> F.dropout(x, 0.5, training=False)
    tensor([1., 1., 1.])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(dropout, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of SELU networks.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.ones(3)
    >>> F.alpha_dropout(x, 0.5, training=False)
    tensor([1., 1., 1.])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(alpha_dropout, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    return torch.alpha_dropout_(input, p, training) if inplace else torch.alpha_dropout(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of lines to zero with probability p while training.

    Takes bools, integers, floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other
    numbers of dimensions.

    >>> x = torch.ones(2, 3, 4)
    >>> F.dropout1d(x).shape
    torch.Size([2, 3, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(dropout1d, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    inp_dim = input.dim()
    if inp_dim not in (2, 3):
        raise RuntimeError("dropout1d: Expected 2D or 3D input, but received a {}D input.".format(inp_dim))  # noqa: UP032
    is_batched = inp_dim == 3
    if not is_batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)
    if not is_batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of planes to zero with probability p while training.

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.ones(2, 3, 4, 4)
    >>> F.dropout2d(x).shape
    torch.Size([2, 3, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(dropout2d, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    inp_dim = input.dim()
    if inp_dim not in (3, 4):
        warn_msg = (
            f"dropout2d: Received a {inp_dim}-D input to dropout2d, which is deprecated "
            "and will result in an error in a future release. To retain the behavior "
            "and silence this warning, please use dropout instead. Note that dropout2d "
            "exists to provide channel-wise dropout on inputs with 2 spatial dimensions, "
            "a channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs)."
        )
        warnings.warn(warn_msg)  # noqa: B028
    if inp_dim == 3:
        warnings.warn(  # noqa: B028
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
            "1D dropout behavior is desired - input is interpreted as shape (N, C, L), where C "
            "is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    result = torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)
    return result


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of volumes to zero with probability p while training.

    Takes bools, integers, floats, halves and complex numbers, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for
    other numbers of dimensions.

    >>> x = torch.ones(2, 3, 4, 4, 4)
    >>> F.dropout3d(x).shape
    torch.Size([2, 3, 4, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(dropout3d, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    is_batched = input.dim() == 5
    if not is_batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)
    if not is_batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Alpha dropout of whole channels.

    Takes floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.ones(2, 3, 4)
    >>> F.feature_alpha_dropout(x, training=True).shape
    torch.Size([2, 3, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(feature_alpha_dropout, (input,), input, p=p, training=training, inplace=inplace)
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))  # noqa: UP032
    return (
        torch.feature_alpha_dropout_(input, p, training) if inplace else torch.feature_alpha_dropout(input, p, training)
    )


# ---- activations ----


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The element where it is above the threshold, else value.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.threshold(x, 0.6, 20.0)
    tensor([20., 20.,  2.])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(_threshold, (input,), input, threshold, value, inplace=inplace)
    if inplace:
        result = torch.threshold_(input, threshold, value)
    else:
        result = torch.threshold(input, threshold, value)
    return result


threshold = _threshold


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of zero and the element.

    Takes integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.relu(x)
    tensor([0.0000, 0.5000, 2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(relu, (input,), input, inplace=inplace)
    if inplace:
        result = torch.relu_(input)
    else:
        result = torch.relu(input)
    return result


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """One half of the input times the sigmoid of the other half.

    Takes floats and halves, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.tensor([[1.0, 2.0, 0.0, -1.0]])
    >>> F.glu(x)
    tensor([[0.5000, 0.5379]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(glu, (input,), input, dim=dim)
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn_glu(input, dim)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """The element cut to an interval.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.hardtanh(x)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(hardtanh, (input,), input, min_val=min_val, max_val=max_val, inplace=inplace)
    if inplace:
        result = hardtanh_(input, min_val, max_val)
    else:
        result = _nn_hardtanh(input, min_val, max_val)
    return result


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The element cut to 0 ... 6.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.relu6(x)
    tensor([0.0000, 0.5000, 2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(relu6, (input,), input, inplace=inplace)
    if inplace:
        result = _nn_relu6_(input)
    else:
        result = _nn_relu6(input)
    return result


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.elu(x)
    tensor([-0.6321,  0.5000,  2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(elu, (input,), input, alpha=alpha, inplace=inplace)
    if inplace:
        result = elu_(input, alpha)
    else:
        result = _nn_elu(input, alpha)
    return result


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Scaled exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.selu(x)
    tensor([-1.1113,  0.5254,  2.1014])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(selu, (input,), input, inplace=inplace)
    if inplace:
        result = torch.selu_(input)
    else:
        result = torch.selu(input)
    return result


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Continuously differentiable exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.celu(x)
    tensor([-0.6321,  0.5000,  2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(celu, (input,), input, alpha=alpha, inplace=inplace)
    if inplace:
        result = torch.celu_(input, alpha)
    else:
        result = torch.celu(input, alpha)
    return result


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The element, or a fraction of it where it is negative.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.leaky_relu(x)
    tensor([-0.0100,  0.5000,  2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(leaky_relu, (input,), input, negative_slope=negative_slope, inplace=inplace)
    if inplace:
        result = leaky_relu_(input, negative_slope)
    else:
        result = _nn_leaky_relu(input, negative_slope)
    return result


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Leaky relu with a random slope while training.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.rrelu(x)
    tensor([-0.2292,  0.5000,  2.0000])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(rrelu, (input,), input, lower=lower, upper=upper, training=training, inplace=inplace)
    if inplace:
        result = torch.rrelu_(input, lower, upper, training)
    else:
        result = torch.rrelu(input, lower, upper, training)
    return result


def tanhshrink(input):
    """The element less its tanh.

    Takes integers, floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.tanhshrink(x)
    tensor([-0.2384,  0.0379,  1.0360])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(tanhshrink, (input,), input)
    return input - input.tanh()


def softsign(input):
    """The element over one plus its absolute value.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.softsign(x)
    tensor([-0.5000,  0.3333,  0.6667])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(softsign, (input,), input)
    return input / (input.abs() + 1)


def tanh(input):
    """Hyperbolic tangent.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.tanh(x)
    tensor([-0.7616,  0.4621,  0.9640])
    """
    warnings.warn("nn.functional.tanh is deprecated. Use torch.tanh instead.")  # noqa: B028
    return input.tanh()


def sigmoid(input):
    """Logistic function.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.sigmoid(x)
    tensor([0.2689, 0.6225, 0.8808])
    """
    warnings.warn("nn.functional.sigmoid is deprecated. Use torch.sigmoid instead.")  # noqa: B028
    return input.sigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Piecewise linear sigmoid.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.hardsigmoid(x)
    tensor([0.3333, 0.5833, 0.8333])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(hardsigmoid, (input,), input, inplace=inplace)
    if inplace:
        return _nn_hardsigmoid_(input)
    return _nn_hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times its piecewise linear sigmoid.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.hardswish(x)
    tensor([-0.3333,  0.2917,  1.6667])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(hardswish, (input,), input, inplace=inplace)
    if inplace:
        return _nn_hardswish_(input)
    return _nn_hardswish(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times its sigmoid.

    Takes floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.silu(x)
    tensor([-0.2689,  0.3112,  1.7616])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(silu, (input,), input, inplace=inplace)
    if inplace:
        return _nn_silu_(input)
    return _nn_silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times the tanh of its softplus.

    Takes floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> F.mish(x)
    tensor([-0.3034,  0.3752,  1.9440])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(mish, (input,), input, inplace=inplace)
    if inplace:
        return _nn_mish_(input)
    return _nn_mish(input)


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(  # noqa: B028
        "Implicit dimension choice for {} has been deprecated. Change the call to include dim=X as an argument.".format(
            name
        ),  # noqa: UP032
        stacklevel=stacklevel,
    )
    if ndim == 0 or ndim == 1 or ndim == 3:
        ret = 0
    else:
        ret = 1
    return ret


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Softmax of the negated input.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> F.softmin(x, dim=-1)
    tensor([[0.3315, 0.1220, 0.5465]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(softmin, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim(), _stacklevel)
    if dtype is None:
        ret = (-input).softmax(dim)
    else:
        ret = (-input).softmax(dim, dtype=dtype)
    return ret


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Exponentials that sum to one along a dimension.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> F.softmax(x, dim=-1)
    tensor([[0.2312, 0.6285, 0.1402]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim(), _stacklevel)
    if dtype is None:
        ret = input.softmax(dim)
    else:
        ret = input.softmax(dim, dtype=dtype)
    return ret


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    """Logarithm of softmax.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> F.log_softmax(x, dim=-1)
    tensor([[-1.4644, -0.4644, -1.9644]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(log_softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim(), _stacklevel)
    if dtype is None:
        ret = input.log_softmax(dim)
    else:
        ret = input.log_softmax(dim, dtype=dtype)
    return ret


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random sample that is nearly one-hot; with hard it is one-hot.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> F.gumbel_softmax(x, hard=True).sum()
    tensor(1.)
    """
    if has_torch_function_unary(logits):
        return handle_torch_function(gumbel_softmax, (logits,), logits, tau=tau, hard=hard, eps=eps, dim=dim)
    gumbels = -torch.empty_like(logits, memory_format=torch.contiguous_format).exponential_().log()
    gumbels = (logits + gumbels) / tau
    y_soft = gumbels.softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = torch.zeros_like(logits, memory_format=torch.contiguous_format).scatter_(dim, index, 1.0)
        ret = y_hard - y_soft.detach() + y_soft
    else:
        ret = y_soft
    return ret


# ---- embedding ----


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Optional[int] = None,
    max_norm: Optional[float] = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of weight that input names.

    Takes integers. No gradients flow to it.

    >>> x = torch.tensor([[1, 2], [4, 9]])
    >>> F.embedding(x, torch.rand(10, 3)).shape
    torch.Size([2, 2, 3])
    """
    if has_torch_function_variadic(input, weight):
        return handle_torch_function(embedding, (input, weight), input, weight, padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
    if padding_idx is not None:
        if padding_idx > 0:
            assert padding_idx < weight.size(0), "Padding_idx must be within num_embeddings"
        elif padding_idx < 0:
            assert padding_idx >= -weight.size(0), "Padding_idx must be within num_embeddings"
            padding_idx = weight.size(0) + padding_idx
    else:
        padding_idx = -1
    if max_norm is not None:
        input = input.contiguous()
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Optional[Tensor] = None,
    max_norm: Optional[float] = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Optional[Tensor] = None,
    include_last_offset: bool = False,
    padding_idx: Optional[int] = None,
) -> Tensor:
    """Sums, means or maxima of the rows of weight that each bag of input names.

    Takes integers. No gradients flow to it.

    >>> x = torch.tensor([[1, 2], [4, 9]])
    >>> F.embedding_bag(x, torch.ones(10, 3), mode="sum")
    tensor([[2., 2., 2.],
            [2., 2., 2.]])
    """
    if has_torch_function_variadic(input, weight, offsets, per_sample_weights):
        return handle_torch_function(embedding_bag, (input, weight, offsets, per_sample_weights), input, weight, offsets=offsets, max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, padding_idx=padding_idx)
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            "embedding_bag: If per_sample_weights is not None, then it must have the same shape as the input"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated as a mini-batch of fixed length sequences"
            )
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension {}".format(input.dim()))  # noqa: UP032
    if mode == "sum":
        mode_enum = 0
    elif mode == "mean":
        mode_enum = 1
    elif mode == "max":
        mode_enum = 2
    else:
        raise ValueError("mode has to be one of sum, mean or max")
    if max_norm is not None:
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    ret, _, _, _ = torch.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        mode_enum,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    return ret


def assert_int_or_pair(arg: List[int], arg_name: str, message: str) -> None:
    """Raises AssertionError with the message, which is given the name, where arg is neither an int nor two."""
    assert isinstance(arg, int) or len(arg) == 2, message.format(arg_name)


def _no_grad_embedding_renorm_(
    weight: Tensor, input: Tensor, max_norm: float, norm_type: float
) -> Tuple[Tensor, Tensor]:
    torch.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return weight, input


# ---- normalization ----


def _verify_batch_size(size: List[int]) -> None:
    size_prods = size[0]
    for i in range(len(size) - 2):
        size_prods *= size[i + 2]
    if size_prods == 1:
        raise ValueError("Expected more than 1 value per channel when training, got input size {}".format(size))  # noqa: UP032


def batch_norm(
    input: Tensor,
    running_mean: Optional[Tensor],
    running_var: Optional[Tensor],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel over the batch, or by running statistics.

    Takes floats, halves and complex numbers, of 2, 4, 5 or 6 dimensions. Gradients flow to the input. Raises IndexError or ValueError for other
    numbers of dimensions and RuntimeError for other types.

    >>> x = torch.tensor([[1.0], [3.0]])
    >>> F.batch_norm(x, None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if has_torch_function_variadic(input, running_mean, running_var, weight, bias):
        return handle_torch_function(batch_norm, (input, running_mean, running_var, weight, bias), input, running_mean, running_var, weight=weight, bias=bias, training=training, momentum=momentum, eps=eps)
    if training:
        _verify_batch_size(input.size())
    return torch.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, torch.backends.cudnn.enabled
    )


def _verify_spatial_size(size: List[int]) -> None:
    size_prods = 1
    for i in range(2, len(size)):
        size_prods *= size[i]
    if size_prods == 1:
        raise ValueError("Expected more than 1 spatial element when training, got input size {}".format(size))  # noqa: UP032


def instance_norm(
    input: Tensor,
    running_mean: Optional[Tensor] = None,
    running_var: Optional[Tensor] = None,
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel of each sample.

    Takes floats, halves and complex numbers, of 3 or more dimensions. Gradients flow to the input. Raises ValueError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.tensor([[[1.0, 3.0]]])
    >>> F.instance_norm(x)
    tensor([[[-1.0000,  1.0000]]])
    """
    if has_torch_function_variadic(input, running_mean, running_var, weight, bias):
        return handle_torch_function(instance_norm, (input, running_mean, running_var, weight, bias), input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias, use_input_stats=use_input_stats, momentum=momentum, eps=eps)
    if use_input_stats:
        _verify_spatial_size(input.size())
    return torch.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, torch.backends.cudnn.enabled
    )


def layer_norm(
    input: Tensor,
    normalized_shape: List[int],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes over the last dimensions.

    Takes floats and halves, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    >>> F.layer_norm(x, [4])
    tensor([[-1.3416, -0.4472,  0.4472,  1.3416]])
    """
    if has_torch_function_variadic(input, weight, bias):
        return handle_torch_function(layer_norm, (input, weight, bias), input, normalized_shape, weight=weight, bias=bias, eps=eps)
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, torch.backends.cudnn.enabled)


def rms_norm(
    input: Tensor, normalized_shape: List[int], weight: Optional[Tensor] = None, eps: Optional[float] = None,
) -> Tensor:  # fmt: skip
    """Divides by the root of the mean of the squares over the last dimensions.

    Takes floats and halves, of 1 or more dimensions. eps is added to the mean of the squares: by default the distance of 1 to the next number
    of the type. Gradients flow to input and weight. Raises RuntimeError for other numbers of dimensions and other types. From PyTorch 2.

    >>> F.rms_norm(torch.tensor([[1.0, 7.0]]), [2])
    tensor([[0.2000, 1.4000]])
    """
    if has_torch_function_variadic(input, weight):
        return handle_torch_function(rms_norm, (input, weight), input, normalized_shape, weight=weight, eps=eps)
    return torch.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5
) -> Tensor:
    """Normalizes groups of channels of each sample.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.rand(2, 4, 5)
    >>> F.group_norm(x, 2).shape
    torch.Size([2, 4, 5])
    """
    if has_torch_function_variadic(input, weight, bias):
        return handle_torch_function(group_norm, (input, weight, bias), input, num_groups, weight=weight, bias=bias, eps=eps)
    _verify_batch_size([input.size(0) * input.size(1) // num_groups, num_groups] + list(input.size()[2:]))  # noqa: RUF005
    return torch.group_norm(input, num_groups, weight, bias, eps, torch.backends.cudnn.enabled)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Normalizes over neighbouring channels.

    Takes floats and halves, of 3 or more dimensions. Gradients flow to the input. Raises ValueError for other numbers of dimensions and
    RuntimeError for other types.

    >>> x = torch.rand(2, 4, 5)
    >>> F.local_response_norm(x, 2).shape
    torch.Size([2, 4, 5])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(local_response_norm, (input,), input, size, alpha=alpha, beta=beta, k=k)
    dim = input.dim()
    if dim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got {} dimensions)".format(dim)
        )  # noqa: UP032
    if input.numel() == 0:
        return input
    div = input.mul(input).unsqueeze(1)
    if dim == 3:
        div = pad(div, (0, 0, size // 2, (size - 1) // 2))
        div = avg_pool2d(div, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        div = div.view(sizes[0], 1, sizes[1], sizes[2], -1)
        div = pad(div, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        div = avg_pool3d(div, (size, 1, 1), stride=1).squeeze(1)
        div = div.view(sizes)
    div = div.mul(alpha).add(k).pow(beta)
    return input / div


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Optional[Tensor] = None) -> Tensor:
    """The input over its norm along a dimension.

    Takes floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises IndexError for other numbers of
    dimensions and RuntimeError for other types.

    >>> x = torch.tensor([[3.0, 4.0]])
    >>> F.normalize(x)
    tensor([[0.6000, 0.8000]])
    """
    if has_torch_function_variadic(input, out):
        return handle_torch_function(normalize, (input, out), input, p=p, dim=dim, eps=eps, out=out)
    if out is None:
        denom = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
        return input / denom
    else:
        denom = input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input)
        return torch.div(input, denom, out=out)


# ---- losses ----


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification loss.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.full((4, 1, 3), -1.0986)
    >>> F.ctc_loss(x, torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2]))
    tensor(0.8432)
    """
    if has_torch_function_variadic(log_probs, targets, input_lengths, target_lengths):
        return handle_torch_function(ctc_loss, (log_probs, targets, input_lengths, target_lengths), log_probs, targets, input_lengths, target_lengths, blank=blank, reduction=reduction, zero_infinity=zero_infinity)
    return torch.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction.get_enum(reduction), zero_infinity
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    ignore_index: int = -100,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.log_softmax(torch.tensor([[2.0, 0.5, 0.1]]), 1)
    >>> F.nll_loss(x, torch.tensor([0]))
    tensor(0.3168)
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(nll_loss, (input, target, weight), input, target, weight=weight, size_average=size_average, ignore_index=ignore_index, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    return torch.nll_loss_nd(input, target, weight, _reduction.get_enum(reduction), ignore_index)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Optional[bool] = None,
    eps: float = 1e-8,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of Poisson counts.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.0, 1.0])
    >>> F.poisson_nll_loss(x, torch.tensor([1.0, 2.0]))
    tensor(0.8591)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(poisson_nll_loss, (input, target), input, target, log_input=log_input, full=full, size_average=size_average, eps=eps, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        ret = input
        raise ValueError(reduction + " is not valid")
    ret = torch.poisson_nll_loss(input, target, log_input, full, eps, _reduction.get_enum(reduction))
    return ret


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of a normal distribution.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.0, 1.0])
    >>> F.gaussian_nll_loss(x, torch.tensor([1.0, 2.0]), torch.ones(2))
    tensor(0.5000)
    """
    if has_torch_function_variadic(input, target, var):
        return handle_torch_function(gaussian_nll_loss, (input, target, var), input, target, var, full=full, eps=eps, reduction=reduction)
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = torch.unsqueeze(var, -1)
        elif input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1:
            pass
        else:
            raise ValueError("var is of incorrect size")
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        raise ValueError(reduction + " is not valid")
    if torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    if reduction == "mean":
        return loss.mean()
    elif reduction == "sum":
        return loss.sum()
    else:
        return loss


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.log(torch.tensor([[0.5, 0.5]]))
    >>> F.kl_div(x, torch.tensor([[0.9, 0.1]]), reduction="batchmean")
    tensor(0.3681)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(kl_div, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction, log_target=log_target)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(  # noqa: B028
                "reduction: 'mean' divides the total loss by both the batch size and the support size."
                "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                "'mean' will be changed to behave the same as 'batchmean' in the next major release."
            )
        if reduction == "batchmean":
            reduction_enum = _reduction.get_enum("sum")
        else:
            reduction_enum = _reduction.get_enum(reduction)
    reduced = torch.kl_div(input, target, reduction_enum, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        reduced = reduced / input.size()[0]
    return reduced


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    ignore_index: int = -100,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of class scores.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[2.0, 0.5, 0.1], [0.1, 3.0, 0.2]])
    >>> F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=0.1)
    tensor(0.3649)
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(cross_entropy, (input, target, weight), input, target, weight=weight, size_average=size_average, ignore_index=ignore_index, reduce=reduce, reduction=reduction, label_smoothing=label_smoothing)
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    return torch.cross_entropy_loss(
        input, target, weight, _reduction.get_enum(reduction), ignore_index, label_smoothing
    )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities of two classes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.9, 0.2])
    >>> F.binary_cross_entropy(x, torch.tensor([1.0, 0.0]))
    tensor(0.1643)
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(binary_cross_entropy, (input, target, weight), input, target, weight=weight, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    if target.size() != input.size():
        raise ValueError(
            "Using a target size ({}) that is different to the input size ({}) is deprecated. "  # noqa: UP032
            "Please ensure they have the same size.".format(target.size(), input.size())
        )
    if weight is not None:
        new_size = _infer_size(target.size(), weight.size())
        weight = weight.expand(new_size)
    return torch.binary_cross_entropy(input, target, weight, reduction_enum)


_infer_size = _native.operator("aten::_infer_size")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    pos_weight: Optional[Tensor] = None,
) -> Tensor:
    """Cross entropy of scores of two classes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([2.0, -1.0])
    >>> F.binary_cross_entropy_with_logits(x, torch.tensor([1.0, 0.0]))
    tensor(0.2201)
    """
    if has_torch_function_variadic(input, target, weight, pos_weight):
        return handle_torch_function(binary_cross_entropy_with_logits, (input, target, weight, pos_weight), input, target, weight=weight, size_average=size_average, reduce=reduce, reduction=reduction, pos_weight=pos_weight)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    if not (target.size() == input.size()):
        raise ValueError("Target size ({}) must be the same as input size ({})".format(target.size(), input.size()))  # noqa: UP032
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_enum)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squares of small differences, absolute values of large ones.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 5.0])
    >>> F.smooth_l1_loss(x, torch.tensor([1.5, 2.0]))
    tensor(1.3125)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(smooth_l1_loss, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction, beta=beta)
    if not (target.size() == input.size()):
        warnings.warn(  # noqa: B028
            "Using a target size ({}) that is different to the input size ({}). "  # noqa: UP032
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.".format(target.size(), input.size()),
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = torch.broadcast_tensors(input, target)
    return torch.smooth_l1_loss(expanded_input, expanded_target, _reduction.get_enum(reduction), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Squares of differences below delta, lines above.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 5.0])
    >>> F.huber_loss(x, torch.tensor([1.5, 2.0]), delta=2.0)
    tensor(2.0625)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(huber_loss, (input, target), input, target, reduction=reduction, delta=delta)
    if not (target.size() == input.size()):
        warnings.warn(  # noqa: B028
            "Using a target size ({}) that is different to the input size ({}). "  # noqa: UP032
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.".format(target.size(), input.size()),
            stacklevel=2,
        )
    expanded_input, expanded_target = torch.broadcast_tensors(input, target)
    return torch.huber_loss(expanded_input, expanded_target, _reduction.get_enum(reduction), delta)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Absolute differences.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 2.0])
    >>> F.l1_loss(x, torch.tensor([1.5, 2.0]))
    tensor(0.2500)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(l1_loss, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction)
    if not (target.size() == input.size()):
        warnings.warn(  # noqa: B028
            "Using a target size ({}) that is different to the input size ({}). "  # noqa: UP032
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.".format(target.size(), input.size()),
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = torch.broadcast_tensors(input, target)
    return torch.l1_loss(expanded_input, expanded_target, _reduction.get_enum(reduction))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Squared differences.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([1.0, 2.0])
    >>> F.mse_loss(x, torch.tensor([1.5, 2.0]))
    tensor(0.1250)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(mse_loss, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction)
    if not (target.size() == input.size()):
        warnings.warn(  # noqa: B028
            "Using a target size ({}) that is different to the input size ({}). "  # noqa: UP032
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.".format(target.size(), input.size()),
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = torch.broadcast_tensors(input, target)
    return torch.mse_loss(expanded_input, expanded_target, _reduction.get_enum(reduction))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """How far two scores are from being in order by a margin.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.5, 0.2])
    >>> F.margin_ranking_loss(x, torch.tensor([0.4, 0.4]), torch.tensor([1.0, 1.0]), margin=0.1)
    tensor(0.1500)
    """
    if has_torch_function_variadic(input1, input2, target):
        return handle_torch_function(margin_ranking_loss, (input1, input2, target), input1, input2, target, margin=margin, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            "input1: {}, input2: {}, target: {} ".format(input1.size(), input2.size(), target.size())  # noqa: UP032
        )
    return torch.margin_ranking_loss(input1, input2, target, margin, reduction_enum)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """The distance of similar pairs, what dissimilar ones lack to a margin.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([0.5, 0.2])
    >>> F.hinge_embedding_loss(x, torch.tensor([1.0, -1.0]))
    tensor(0.6500)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(hinge_embedding_loss, (input, target), input, target, margin=margin, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    return torch.hinge_embedding_loss(input, target, margin, reduction_enum)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge loss of several labels.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
    >>> F.multilabel_margin_loss(x, torch.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(multilabel_margin_loss, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    return torch.multilabel_margin_loss(input, target, reduction_enum)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes come near the right one.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.1, 0.2, 0.8]])
    >>> F.multi_margin_loss(x, torch.tensor([2]))
    tensor(0.2333)
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(multi_margin_loss, (input, target, weight), input, target, p=p, margin=margin, weight=weight, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None:
        if weight.dim() != 1:
            raise ValueError("weight must be one-dimensional")
    return torch.multi_margin_loss(input, target, p, margin, weight, reduction_enum)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of independent labels, the mean over the classes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[2.0, -1.0]])
    >>> F.multilabel_soft_margin_loss(x, torch.tensor([[1.0, 0.0]]))
    tensor(0.2201)
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(multilabel_soft_margin_loss, (input, target, weight), input, target, weight=weight, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    C = input.size(class_dim)
    loss = loss.sum(dim=class_dim) / C
    if reduction == "none":
        ret = loss
    elif reduction == "mean":
        ret = loss.mean()
    elif reduction == "sum":
        ret = loss.sum()
    else:
        ret = input
        raise ValueError(reduction + " is not valid")
    return ret


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Logistic loss of labels 1 and -1.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([2.0, -1.0])
    >>> F.soft_margin_loss(x, torch.tensor([1.0, -1.0]))
    tensor(0.2201)
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(soft_margin_loss, (input, target), input, target, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    return torch.soft_margin_loss(input, target, reduction_enum)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Cosine distance of similar pairs, cosine of dissimilar ones.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[1.0, 0.0]])
    >>> F.cosine_embedding_loss(x, torch.tensor([[1.0, 1.0]]), torch.tensor([1]))
    tensor(0.2929)
    """
    if has_torch_function_variadic(input1, input2, target):
        return handle_torch_function(cosine_embedding_loss, (input1, input2, target), input1, input2, target, margin=margin, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    return torch.cosine_embedding_loss(input1, input2, target, margin, reduction_enum)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """What the distance to a negative lacks to that to a positive plus a margin.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.0, 0.0]])
    >>> F.triplet_margin_loss(x, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.5]]))
    tensor(0.5000)
    """
    if has_torch_function_variadic(anchor, positive, negative):
        return handle_torch_function(triplet_margin_loss, (anchor, positive, negative), anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap, size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction_enum = _reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _reduction.get_enum(reduction)
    return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction_enum)


# ---- resizing ----


def _scaled_size(input: Tensor, factors: List[float]) -> List[int]:
    """The size of an image times factors, rounded down. A trace computes it from the size of its input."""
    if not torch.jit.is_scripting():
        if torch.jit.is_tracing():
            return [torch.floor(input.size(i + 2).double() * torch.tensor(f, dtype=torch.float64)).long() for i, f in enumerate(factors)]
    return [int(math.floor(float(input.size(i + 2)) * factors[i])) for i in range(input.dim() - 2)]


@_overload
def interpolate(
    input: Tensor,
    size: Optional[int] = None,
    scale_factor: Optional[List[float]] = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    pass


@_overload
def interpolate(
    input: Tensor,
    size: Optional[List[int]] = None,
    scale_factor: Optional[List[float]] = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    pass


@_overload
def interpolate(
    input: Tensor,
    size: Optional[int] = None,
    scale_factor: Optional[float] = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    pass


@_overload
def interpolate(
    input: Tensor,
    size: Optional[List[int]] = None,
    scale_factor: Optional[float] = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    pass


def interpolate(
    input: Tensor,
    size: Optional[int] = None,
    scale_factor: Optional[List[float]] = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    """The input resized to a size or by factors.

    Takes floats and halves, of 3 dimensions. Gradients flow to the input. Raises NotImplementedError for other numbers of dimensions and
    RuntimeError for other types.

    >>> x = torch.tensor([[[1.0, 2.0]]])
    >>> F.interpolate(x, scale_factor=2, mode="linear", align_corners=True)
    tensor([[[1.0000, 1.3333, 1.6667, 2.0000]]])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(interpolate, (input,), input, size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners, recompute_scale_factor=recompute_scale_factor, antialias=antialias)
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dims = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    elif size is not None:
        factors = None
        if isinstance(size, (list, tuple)):
            if len(size) != dims:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {} and output size of {}. "
                    "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.".format(
                        [input.size(i + 2) for i in range(dims)], size
                    )
                )
            output_size = size
        else:
            output_size = [size for _ in range(dims)]
    elif scale_factor is not None:
        output_size = None
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != dims:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of {} and scale_factor of "
                    "shape {}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.".format(
                        [input.size(i + 2) for i in range(dims)], scale_factor
                    )
                )
            factors = scale_factor
        else:
            factors = [scale_factor for _ in range(dims)]
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor is not None and recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor is not None and recompute_scale_factor and factors is not None:
        output_size = _scaled_size(input, factors)
        factors = None
    if antialias and not (mode in ("bilinear", "bicubic") and dims == 2):
        raise ValueError("Anti-alias option is only supported for bilinear and bicubic modes")
    if dims == 1 and mode == "nearest":
        return torch.upsample_nearest1d(input, output_size, factors)
    if dims == 2 and mode == "nearest":
        return torch.upsample_nearest2d(input, output_size, factors)
    if dims == 3 and mode == "nearest":
        return torch.upsample_nearest3d(input, output_size, factors)
    if dims == 1 and mode == "nearest-exact":
        return torch._upsample_nearest_exact1d(input, output_size, factors)
    if dims == 2 and mode == "nearest-exact":
        return torch._upsample_nearest_exact2d(input, output_size, factors)
    if dims == 3 and mode == "nearest-exact":
        return torch._upsample_nearest_exact3d(input, output_size, factors)
    if mode == "area":
        if output_size is None:
            assert factors is not None
            output_size = _scaled_size(input, factors)
        if dims == 1:
            return adaptive_avg_pool1d(input, output_size)
        if dims == 2:
            return adaptive_avg_pool2d(input, output_size)
        return adaptive_avg_pool3d(input, output_size)
    if dims == 1 and mode == "linear":
        assert align_corners is not None
        return torch.upsample_linear1d(input, output_size, align_corners, factors)
    if dims == 2 and mode == "bilinear":
        assert align_corners is not None
        if antialias:
            return torch._upsample_bilinear2d_aa(input, output_size, align_corners, factors)
        return torch.upsample_bilinear2d(input, output_size, align_corners, factors)
    if dims == 3 and mode == "trilinear":
        assert align_corners is not None
        return torch.upsample_trilinear3d(input, output_size, align_corners, factors)
    if dims == 2 and mode == "bicubic":
        assert align_corners is not None
        if antialias:
            return torch._upsample_bicubic2d_aa(input, output_size, align_corners, factors)
        return torch.upsample_bicubic2d(input, output_size, align_corners, factors)
    if dims >= 1 and dims <= 3 and mode in ("linear", "bilinear", "trilinear"):
        needed = 3 if mode == "linear" else (4 if mode == "bilinear" else 5)
        raise NotImplementedError("Got {}D input, but {} mode needs {}D input".format(dims + 2, mode, needed))  # noqa: UP032
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported"
        " (got {}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact"
        " (got {})".format(input.dim(), mode)
    )  # noqa: UP032


def fold(
    input: Tensor,
    output_size: BroadcastingList2[int],
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """Sums columns of windows into planes.

    Takes floats, halves and complex numbers, of 2 or 3 dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of
    dimensions and other types.

    >>> x = torch.rand(1, 12, 4)
    >>> F.fold(x, (4, 4), 2, stride=2).shape
    torch.Size([1, 3, 4, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(fold, (input,), input, output_size, kernel_size, dilation=dilation, padding=padding, stride=stride)
    return torch.col2im(input, output_size, kernel_size, dilation, padding, stride)


def unfold(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """The windows of planes as columns.

    Takes floats, halves and complex numbers, of 3 or 4 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError for other
    numbers of dimensions and RuntimeError for other types.

    >>> x = torch.rand(1, 3, 4, 4)
    >>> F.unfold(x, 2, stride=2).shape
    torch.Size([1, 12, 4])
    """
    if has_torch_function_unary(input):
        return handle_torch_function(unfold, (input,), input, kernel_size, dilation=dilation, padding=padding, stride=stride)
    return torch.im2col(input, kernel_size, dilation, padding, stride)


GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Optional[bool] = None,
) -> Tensor:
    """Reads input (N, C, H, W) at the places in grid (N, h, w, 2), from -1 to 1 across the image.

    Gives (N, C, h, w); with one dimension more each for volumes.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> F.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=True)
    tensor([[[[2.5000]]]])
    """
    if has_torch_function_variadic(input, grid):
        return handle_torch_function(grid_sample, (input, grid), input, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
    if mode != "bilinear" and mode != "nearest" and mode != "bicubic":
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{}'".format(mode)
        )  # noqa: UP032
    if padding_mode != "zeros" and padding_mode != "border" and padding_mode != "reflection":
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{}'".format(
                padding_mode
            )
        )  # noqa: UP032
    if mode == "bilinear":
        mode_enum = 0
    elif mode == "nearest":
        mode_enum = 1
    else:
        mode_enum = 2
    if padding_mode == "zeros":
        padding_mode_enum = 0
    elif padding_mode == "border":
        padding_mode_enum = 1
    else:
        padding_mode_enum = 2
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
            "Please specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
        )
        align_corners = False
    return torch.grid_sampler(input, grid, mode_enum, padding_mode_enum, align_corners)


def affine_grid(theta: Tensor, size: List[int], align_corners: Optional[bool] = None) -> Tensor:
    """The grid for grid_sample of the affine maps theta (N, 2, 3) for images of a size (N, C, H, W).

    Takes floats and halves, of 3 dimensions. Gradients flow to the input. Raises ValueError for other numbers of dimensions and other types.

    >>> x = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> F.affine_grid(x, [1, 1, 2, 2], align_corners=True)[0, 0]
    tensor([[-1., -1.],
            [ 1., -1.]])
    """
    if has_torch_function_unary(theta):
        return handle_torch_function(affine_grid, (theta,), theta, size, align_corners=align_corners)
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
            "Please specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError("Expected theta to have floating point type, but got {}".format(theta.dtype))  # noqa: UP032
    if len(size) == 4:
        if theta.dim() != 3 or theta.shape[-2] != 2 or theta.shape[-1] != 3:
            raise ValueError(
                "Expected a batch of 2D affine matrices of shape Nx2x3 for size {}. Got {}.".format(size, theta.shape)
            )  # noqa: UP032
    elif len(size) == 5:
        if theta.dim() != 3 or theta.shape[-2] != 3 or theta.shape[-1] != 4:
            raise ValueError(
                "Expected a batch of 3D affine matrices of shape Nx3x4 for size {}. Got {}.".format(size, theta.shape)
            )  # noqa: UP032
    else:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {}.".format(size)
        )  # noqa: UP032
    if min(size) <= 0:
        raise ValueError("Expected non-zero, positive output size. Got {}".format(size))  # noqa: UP032
    return torch.affine_grid_generator(theta, size, align_corners)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
):
    """How much farther than margin the negative is than the positive, by a distance of the caller's.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.tensor([[0.0, 0.0]])
    >>> F.triplet_margin_with_distance_loss(x, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.5]]))
    tensor(0.5000)
    """
    if has_torch_function_variadic(anchor, positive, negative):
        return handle_torch_function(triplet_margin_with_distance_loss, (anchor, positive, negative), anchor, positive, negative, distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


@_overload
def upsample(
    input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None, mode: str = "nearest", align_corners: Optional[bool] = None
) -> Tensor:
    pass


@_overload
def upsample(
    input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None, mode: str = "nearest", align_corners: Optional[bool] = None
) -> Tensor:
    pass


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of interpolate."""
    warnings.warn("nn.functional.upsample is deprecated. Use nn.functional.interpolate instead.")  # noqa: B028
    return interpolate(input, size, scale_factor, mode, align_corners)


@_overload
def upsample_nearest(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None) -> Tensor:
    pass


@_overload
def upsample_nearest(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None) -> Tensor:
    pass


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate(..., mode="nearest").

    Takes bools, integers, floats, halves and complex numbers, of 3, 4 or 5 dimensions. Gradients flow to the input. Raises NotImplementedError
    for other numbers of dimensions.

    >>> x = torch.rand(1, 3, 2, 2)
    >>> F.interpolate(x, scale_factor=2).shape
    torch.Size([1, 3, 4, 4])
    """
    warnings.warn("nn.functional.upsample_nearest is deprecated. Use nn.functional.interpolate instead.")  # noqa: B028
    return interpolate(input, size, scale_factor, mode="nearest")


@_overload
def upsample_bilinear(input: Tensor, size: Optional[int] = None, scale_factor: Optional[float] = None) -> Tensor:
    pass


@_overload
def upsample_bilinear(input: Tensor, size: Optional[int] = None, scale_factor: Optional[List[float]] = None) -> Tensor:
    pass


@_overload
def upsample_bilinear(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[float] = None) -> Tensor:
    pass


@_overload
def upsample_bilinear(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[List[float]] = None) -> Tensor:
    pass


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate(..., mode="bilinear", align_corners=True)."""
    warnings.warn("nn.functional.upsample_bilinear is deprecated. Use nn.functional.interpolate instead.")  # noqa: B028
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---- attention ----


_scaled_dot_product_attention = torch._scaled_dot_product_attention
scaled_dot_product_attention = _native.operator("aten::scaled_dot_product_attention")


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Optional[Tensor] = None) -> List[Tensor]:
    """Query, key and value from one packed weight."""
    E = q.size(-1)
    if k is v:
        if q is k:
            return linear(q, w, b).chunk(3, dim=-1)
        w_q, w_kv = w.split([E, E * 2])
        if b is None:
            b_q = b_kv = None
        else:
            b_q, b_kv = b.split([E, E * 2])
        return (linear(q, w_q, b_q),) + linear(k, w_kv, b_kv).chunk(2, dim=-1)
    w_q, w_k, w_v = w.chunk(3)
    if b is None:
        b_q = b_k = b_v = None
    else:
        b_q, b_k, b_v = b.chunk(3)
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Optional[Tensor] = None, b_k: Optional[Tensor] = None, b_v: Optional[Tensor] = None,
) -> Tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Query, key and value from a weight each."""
    E = q.size(-1)
    assert w_q.shape == (E, E), f"expecting query weights shape of {(E, E)}, but got {w_q.shape}"
    assert w_k.shape == (E, k.size(-1)), f"expecting key weights shape of {(E, k.size(-1))}, but got {w_k.shape}"
    assert w_v.shape == (E, v.size(-1)), f"expecting value weights shape of {(E, v.size(-1))}, but got {w_v.shape}"
    assert b_q is None or b_q.shape == (E,), f"expecting query bias shape of {(E,)}, but got {b_q.shape}"
    assert b_k is None or b_k.shape == (E,), f"expecting key bias shape of {(E,)}, but got {b_k.shape}"
    assert b_v is None or b_v.shape == (E,), f"expecting value bias shape of {(E,)}, but got {b_v.shape}"
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor], attn_mask: Optional[Tensor], num_heads: int
) -> bool:
    """Whether the query is batched; fails where the others are not as it is."""
    n = query.dim()
    assert n == 2 or n == 3, f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor"
    what = "For batched (3-D) `query`" if n == 3 else "For unbatched (2-D) `query`"
    assert key.dim() == n and value.dim() == n, (
        f"{what}, expected `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
    )
    if key_padding_mask is not None:
        assert key_padding_mask.dim() == n - 1, (
            f"{what}, expected `key_padding_mask` to be `None` or {n - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        assert attn_mask.dim() == 2 or attn_mask.dim() == 3, (
            f"{what}, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
        if n == 2 and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            fits = attn_mask.size(0) == expected[0] and attn_mask.size(1) == expected[1] and attn_mask.size(2) == expected[2]
            assert fits, f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
    return n == 3


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Optional[Tensor],
    in_proj_bias: Optional[Tensor],
    bias_k: Optional[Tensor],
    bias_v: Optional[Tensor],
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Optional[Tensor],
    training: bool = True,
    key_padding_mask: Optional[Tensor] = None,
    need_weights: bool = True,
    attn_mask: Optional[Tensor] = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Optional[Tensor] = None,
    k_proj_weight: Optional[Tensor] = None,
    v_proj_weight: Optional[Tensor] = None,
    static_k: Optional[Tensor] = None,
    static_v: Optional[Tensor] = None,
    average_attn_weights: bool = True,
) -> Tuple[Tensor, Optional[Tensor]]:
    """Attention of several heads over projected inputs, sequence first.

    Takes floats and halves. Gradients flow to the input.

    >>> x = torch.rand(5, 2, 8)
    >>> out, _ = F.multi_head_attention_forward(x, x, x, 8, 2, torch.rand(24, 8), None, None, None, False, 0.0, torch.eye(8), None)
    >>> out.shape
    torch.Size([5, 2, 8])
    """
    if has_torch_function_variadic(query, key, value, in_proj_weight, in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias):
        return handle_torch_function(multi_head_attention_forward, (query, key, value, in_proj_weight, in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias), query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask, use_separate_proj_weight=use_separate_proj_weight, q_proj_weight=q_proj_weight, k_proj_weight=k_proj_weight, v_proj_weight=v_proj_weight, static_k=static_k, static_v=static_v, average_attn_weights=average_attn_weights)
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query = query.unsqueeze(1)
        key = key.unsqueeze(1)
        value = value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len, _, _ = key.shape
    assert embed_dim == embed_dim_to_check, (
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
    )
    head_dim = embed_dim // num_heads
    assert head_dim * num_heads == embed_dim, f"embed_dim {embed_dim} not divisible by num_heads {num_heads}"
    if use_separate_proj_weight:
        assert key.shape[:2] == value.shape[:2], (
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    else:
        assert key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}"

    if not use_separate_proj_weight:
        assert in_proj_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None"
        w_q, w_k, w_v = in_proj_weight.chunk(3)
    else:
        assert q_proj_weight is not None, "use_separate_proj_weight is True but q_proj_weight is None"
        assert k_proj_weight is not None, "use_separate_proj_weight is True but k_proj_weight is None"
        assert v_proj_weight is not None, "use_separate_proj_weight is True but v_proj_weight is None"
        w_q, w_k, w_v = q_proj_weight, k_proj_weight, v_proj_weight
    if in_proj_bias is None:
        q, k, v = linear(query, w_q), linear(key, w_k), linear(value, w_v)
    else:
        b_q, b_k, b_v = in_proj_bias.chunk(3)
        q, k, v = linear(query, w_q, b_q), linear(key, w_k, b_k), linear(value, w_v, b_v)

    if key_padding_mask is not None:
        assert key_padding_mask.dtype == torch.bool or key_padding_mask.is_floating_point(), (
            "only bool and floating types of key_padding_mask are supported"
        )
    if attn_mask is not None:
        if attn_mask.dtype == torch.uint8:
            warnings.warn("Byte tensor for attn_mask in nn.MultiheadAttention is deprecated. Use bool tensor instead.")
            attn_mask = attn_mask.to(torch.bool)
        else:
            assert attn_mask.is_floating_point() or attn_mask.dtype == torch.bool, (
                f"Only float, byte, and bool types are supported for attn_mask, not {attn_mask.dtype}"
            )
        if attn_mask.dim() == 2:
            if attn_mask.size(0) != tgt_len or attn_mask.size(1) != src_len:
                raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(tgt_len, src_len)}.")
            attn_mask = attn_mask.unsqueeze(0)
        elif attn_mask.size(0) != bsz * num_heads or attn_mask.size(1) != tgt_len or attn_mask.size(2) != src_len:
            expected = (bsz * num_heads, tgt_len, src_len)
            raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be {expected}.")
    if bias_k is not None and bias_v is not None:
        k = torch.cat([k, bias_k.repeat(1, bsz, 1)])
        v = torch.cat([v, bias_v.repeat(1, bsz, 1)])
        if attn_mask is not None:
            attn_mask = pad(attn_mask, (0, 1))
        if key_padding_mask is not None:
            key_padding_mask = pad(key_padding_mask, (0, 1))

    q = q.contiguous().view(tgt_len, bsz * num_heads, head_dim).transpose(0, 1)
    if static_k is None:
        k = k.contiguous().view(k.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    else:
        k = static_k
    if static_v is None:
        v = v.contiguous().view(v.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    else:
        v = static_v
    if add_zero_attn:
        zero_attn_shape = (bsz * num_heads, 1, head_dim)
        k = torch.cat([k, torch.zeros(zero_attn_shape, dtype=k.dtype, device=k.device)], dim=1)
        v = torch.cat([v, torch.zeros(zero_attn_shape, dtype=v.dtype, device=v.device)], dim=1)
        if attn_mask is not None:
            attn_mask = pad(attn_mask, (0, 1))
        if key_padding_mask is not None:
            key_padding_mask = pad(key_padding_mask, (0, 1))
    if static_k is not None:
        src_len = static_k.size(1)
    elif bias_k is not None and bias_v is not None:
        src_len += 1
    if add_zero_attn:
        src_len += 1

    if key_padding_mask is not None:
        assert key_padding_mask.size(0) == bsz and key_padding_mask.size(1) == src_len, (
            f"expecting key_padding_mask shape of {(bsz, src_len)}, but got {key_padding_mask.shape}"
        )
        key_padding_mask = (
            key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1).reshape(bsz * num_heads, 1, src_len)
        )
        if key_padding_mask.dtype == torch.bool:
            if attn_mask is None:
                attn_mask = key_padding_mask.logical_not()
            elif attn_mask.dtype == torch.bool:
                attn_mask = attn_mask.logical_or(key_padding_mask).logical_not()
            else:
                attn_mask = attn_mask.masked_fill(key_padding_mask, float("-inf"))
        else:
            if attn_mask is None:
                attn_mask = key_padding_mask
            elif attn_mask.dtype == torch.bool:
                attn_mask = key_padding_mask.masked_fill(attn_mask, float("-inf"))
            else:
                attn_mask = attn_mask + key_padding_mask
    elif attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = attn_mask.logical_not()
    if not training:
        dropout_p = 0.0

    attn_output, attn_output_weights = _scaled_dot_product_attention(q, k, v, attn_mask, dropout_p)
    attn_output = attn_output.transpose(0, 1).contiguous().view(tgt_len * bsz, embed_dim)
    attn_output = linear(attn_output, out_proj_weight, out_proj_bias)
    attn_output = attn_output.view(tgt_len, bsz, attn_output.size(1))
    if need_weights:
        attn_output_weights = attn_output_weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            attn_output_weights = attn_output_weights.sum(dim=1) / num_heads
        if not is_batched:
            attn_output = attn_output.squeeze(1)
            attn_output_weights = attn_output_weights.squeeze(0)
        return attn_output, attn_output_weights
    else:
        if not is_batched:
            attn_output = attn_output.squeeze(1)
        return attn_output, None
