"""The gradients of convolutions by their input and by their weight, as functions."""

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import Tensor, _lazy
from torchjit.nn.modules.utils import to_tuple


def _gradient(
    which: int, n: int, grad_output: Any, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    wanted = [which == 0, which == 1, False]
    sizes = (list(to_tuple(x, n)) for x in (stride, padding, dilation))
    return torch.ops.aten.convolution_backward(grad_output, input, weight, None, *sizes, False, [0] * n, groups, wanted)[which]


def _of_input(n: int) -> Callable[..., Tensor]:
    def conv_input(
        input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        """The gradient of a convolution by its input, which had a size."""
        input = grad_output.new_empty(1).expand(input_size)
        return _gradient(0, n, grad_output, input, weight, stride, padding, dilation, groups)

    conv_input.__name__ = conv_input.__qualname__ = f"conv{n}d_input"
    return conv_input


def _of_weight(n: int) -> Callable[..., Tensor]:
    def conv_weight(
        input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        """The gradient of a convolution by its weight, which had a size."""
        weight = grad_output.new_empty(1).expand(weight_size)
        return _gradient(1, n, grad_output, input, weight, stride, padding, dilation, groups)

    conv_weight.__name__ = conv_weight.__qualname__ = f"conv{n}d_weight"
    return conv_weight


conv1d_input: Callable[..., Tensor] = _of_input(1)
conv2d_input: Callable[..., Tensor] = _of_input(2)
conv3d_input: Callable[..., Tensor] = _of_input(3)
conv1d_weight: Callable[..., Tensor] = _of_weight(1)
conv2d_weight: Callable[..., Tensor] = _of_weight(2)
conv3d_weight: Callable[..., Tensor] = _of_weight(3)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.nn.modules.utils": "_pair _single _triple"})
