"""The modules that PyTorch's functions live in: names of functions in graphs and generated code."""

from __future__ import annotations

from typing import Any

import torchjit as torch

# Operators that PyTorch has in torch._C._nn alone.
_NN = frozenset(
    """
    _conv_depthwise2d _pad_circular _pad_enum _scaled_dot_product_attention _upsample_bicubic2d_aa _upsample_bilinear2d_aa
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d binary_cross_entropy col2im conv_depthwise3d
    cross_entropy_loss elu elu_ flatten_dense_tensors fractional_max_pool2d fractional_max_pool3d gelu gelu_ glu hardsigmoid
    hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ huber_loss im2col l1_loss leaky_relu leaky_relu_ linear log_sigmoid
    max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d mish mish_ mkldnn_linear mse_loss
    multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d nll_loss_nd one_hot pad_sequence reflection_pad1d
    reflection_pad2d reflection_pad3d relu6 relu6_ replication_pad1d replication_pad2d replication_pad3d rrelu_with_noise
    rrelu_with_noise_ silu silu_ slow_conv3d slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d
    slow_conv_transpose3d smooth_l1_loss soft_margin_loss softplus softshrink thnn_conv2d unflatten_dense_tensors
    upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d
    upsample_trilinear3d
    """.split()
)

# Functions that PyTorch writes in Python, in torch.functional and torch.random.
_FUNCTIONAL = frozenset(
    """
    align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist
    chain_matmul einsum istft lu meshgrid norm split stft tensordot unique unique_consecutive unravel_index
    """.split()
)
_RANDOM = frozenset(("fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"))
_PREFIXES = {"fft_": "torch._C._fft", "linalg_": "torch._C._linalg", "special_": "torch._C._special"}


def _module_by_name(name: str) -> str:
    """Where PyTorch has the function that programs call by torch.name."""
    if name in _FUNCTIONAL:
        return "torch.functional"
    return "torch.random" if name in _RANDOM else "torch"


def module_of_operator(name: str) -> str:
    """Where PyTorch has the function of an operator's name."""
    for prefix, module in _PREFIXES.items():
        if name.startswith(prefix):
            return module
    if name in _NN:
        return "torch._C._nn"
    return "torch.nn.functional" if name == "pad" else _module_by_name(name)


def public_module(func: Any) -> str | None:
    """Where PyTorch has a Python function of a private module of this library; None for others."""
    name = func.__name__
    if func.__module__.startswith("torchjit._") and vars(torch).get(name) is func:
        return _module_by_name(name)
    return None
