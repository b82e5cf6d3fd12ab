"""torch.utils.mkldnn: modules whose weights are tensors in the layout torch._mkldnn.

PyTorch keeps such weights as oneDNN wants them. Here the layout is there, and operators on it give the same results; nothing becomes faster by it, as layers
take their weights as they are.
"""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import Tensor, nn


class MkldnnLinear(torch.jit.ScriptModule):
    """A linear layer with its weight and bias in the layout torch._mkldnn."""

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__()
        self.register_buffer("weight", dense_module.weight.to_mkldnn(dtype))
        bias = dense_module.bias
        if bias is None:  # oneDNN's layer always has one
            bias = torch.zeros([dense_module.weight.size(0)], dtype=torch.float)
        self.register_buffer("bias", bias.to_mkldnn())

    @torch.jit.script_method
    def __getstate__(self):
        return (self.weight.to_dense(), self.bias.to_dense(), self.training)

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, Tensor, bool]):
        self.weight = state[0].to_mkldnn()
        self.bias = state[1].to_mkldnn()
        self.training = state[2]

    @torch.jit.script_method
    def forward(self, x):
        inner = x if x.is_mkldnn else x.to_mkldnn()
        y = torch._C._nn.mkldnn_linear(inner, self.weight, self.bias)
        return y if x.is_mkldnn else y.to_dense()


class _MkldnnConvNd(torch.jit.ScriptModule):
    """A convolution with its weight and bias in the layout torch._mkldnn."""

    __constants__ = ["stride", "padding", "dilation", "groups"]

    def __init__(self, dense_module: Any) -> None:
        super().__init__()
        self.stride, self.padding, self.dilation, self.groups = dense_module.stride, dense_module.padding, dense_module.dilation, dense_module.groups
        bias = dense_module.bias
        if bias is None:
            bias = torch.zeros([dense_module.weight.size(0)], dtype=torch.float)
        self.register_buffer("bias", bias.to_mkldnn())

    @torch.jit.script_method
    def __getstate__(self):
        return (self.weight.to_dense(), self.bias.to_dense(), self.training)

    @torch.jit.script_method
    def forward(self, x):
        return torch.mkldnn_convolution(x, self.weight, self.bias, self.padding, self.stride, self.dilation, self.groups)


class MkldnnConv1d(_MkldnnConvNd):
    """torch.nn.Conv1d with a weight in the layout torch._mkldnn."""

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__(dense_module)
        self.register_buffer("weight", dense_module.weight.to_mkldnn(dtype))

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, Tensor, bool]):
        self.weight = state[0].to_mkldnn()
        self.bias = state[1].to_mkldnn()
        self.training = state[2]


class MkldnnConv2d(_MkldnnConvNd):
    """torch.nn.Conv2d with a weight in the layout torch._mkldnn."""

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__(dense_module)
        weight = dense_module.weight.to_mkldnn(dtype)
        self.register_buffer("weight", torch._C._nn.mkldnn_reorder_conv2d_weight(weight, self.padding, self.stride, self.dilation, self.groups))

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, Tensor, bool]):
        self.weight = torch._C._nn.mkldnn_reorder_conv2d_weight(state[0].to_mkldnn(), self.padding, self.stride, self.dilation, self.groups)
        self.bias = state[1].to_mkldnn()
        self.training = state[2]


class MkldnnConv3d(_MkldnnConvNd):
    """torch.nn.Conv3d with a weight in the layout torch._mkldnn."""

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__(dense_module)
        weight = dense_module.weight.to_mkldnn(dtype)
        self.register_buffer("weight", torch._C._nn.mkldnn_reorder_conv3d_weight(weight, self.padding, self.stride, self.dilation, self.groups))

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, Tensor, bool]):
        self.weight = torch._C._nn.mkldnn_reorder_conv3d_weight(state[0].to_mkldnn(), self.padding, self.stride, self.dilation, self.groups)
        self.bias = state[1].to_mkldnn()
        self.training = state[2]


class MkldnnBatchNorm(torch.jit.ScriptModule):
    """A batch norm in evaluation with its weight, bias and statistics in the layout torch._mkldnn."""

    __constants__ = ["exponential_average_factor", "eps"]

    def __init__(self, dense_module: Any) -> None:
        super().__init__()
        assert not dense_module.training
        assert dense_module.track_running_stats
        assert dense_module.affine
        self.exponential_average_factor = 0.0 if dense_module.momentum is None else dense_module.momentum
        self.eps = dense_module.eps
        for name in ("weight", "bias", "running_mean", "running_var"):
            self.register_buffer(name, getattr(dense_module, name).to_mkldnn())

    @torch.jit.script_method
    def __getstate__(self):
        return (self.weight.to_dense(), self.bias.to_dense(), self.running_mean.to_dense(), self.running_var.to_dense(), self.training)

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, Tensor, Tensor, Tensor, bool]):
        self.weight = state[0].to_mkldnn()
        self.bias = state[1].to_mkldnn()
        self.running_mean = state[2].to_mkldnn()
        self.running_var = state[3].to_mkldnn()
        self.training = state[4]

    @torch.jit.script_method
    def forward(self, x):
        return torch.batch_norm(
            x, self.weight, self.bias, self.running_mean, self.running_var, False, self.exponential_average_factor, self.eps, False
        )


class MkldnnPrelu(torch.jit.ScriptModule):
    """torch.nn.PReLU with a weight in the layout torch._mkldnn."""

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__()
        self.register_buffer("weight", dense_module.weight.to_mkldnn(dtype))

    @torch.jit.script_method
    def __getstate__(self):
        return (self.weight.to_dense(), self.training)

    @torch.jit.script_method
    def __setstate__(self, state: tuple[Tensor, bool]):
        self.weight = state[0].to_mkldnn()
        self.training = state[1]

    @torch.jit.script_method
    def forward(self, x):
        y = torch.prelu(x if x.is_mkldnn else x.to_mkldnn(), self.weight)
        return y if x.is_mkldnn else y.to_dense()


_TYPED = ((nn.Linear, MkldnnLinear), (nn.Conv1d, MkldnnConv1d), (nn.Conv2d, MkldnnConv2d), (nn.Conv3d, MkldnnConv3d), (nn.PReLU, MkldnnPrelu))


def _converted(module: Any, dtype: Any) -> Any:
    """A layer with its weights in the layout torch._mkldnn, the module itself where there is none for its class."""
    for dense, opaque in _TYPED:
        if isinstance(module, dense):
            return opaque(module, dtype)
    if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
        return MkldnnBatchNorm(module)  # its statistics stay floats
    return module


def to_mkldnn(module: Any, dtype: Any = torch.float) -> Any:
    """A module whose linear layers, convolutions, batch norms and PReLUs have weights in the layout torch._mkldnn, of type torch.float or torch.bfloat16.

    The module is changed, and must be in evaluation where it has batch norms. Its inputs may be dense or in that layout.

    >>> from torch.utils import mkldnn
    >>> layer = mkldnn.to_mkldnn(torch.nn.Linear(2, 3))
    >>> layer.weight.is_mkldnn, layer(torch.ones(1, 2)).shape
    (True, torch.Size([1, 3]))
    """
    assert dtype in (torch.float, torch.bfloat16), "MKLDNN only support float or bfloat16 path now"
    converted = _converted(module, dtype)
    for name, child in module.named_children():
        setattr(converted, name, to_mkldnn(child, dtype))
    return converted
