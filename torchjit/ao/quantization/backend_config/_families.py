"""Patterns of a kind, with all that backends have in common: each function takes the types and gives the configurations."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn import qat as nnqat
from torchjit.ao.nn.quantized import reference as nnqr
from torchjit.ao.quantization.backend_config.backend_config import BackendPatternConfig, DTypeConfig, ObservationType
from torchjit.ao.quantization.fake_quantize import FixedQParamsFakeQuantize
from torchjit.ao.quantization.fuser_method_mappings import (
    fuse_conv_bn,
    fuse_conv_bn_relu,
    fuse_convtranspose_bn,
    fuse_linear_bn,
    reverse2,
    reverse3,
    reverse_sequential_wrapper2,
)
from torchjit.ao.quantization.qconfig_mapping import _FIXED_QPARAMS_OP_TO_OBSERVER
from torchjit.nn.intrinsic import qat as nniqat

Configs = list[BackendPatternConfig]
DTypes = list[DTypeConfig]

_OWN = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
_SHARED = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT
_RELUS = (nn.ReLU, F.relu)


def _config(
    pattern: Any, dtypes: DTypes, observation: ObservationType = _OWN, root: Any = None, qat: Any = None, reference: Any = None,
    fused: Any = None,
    method: Any = None, inputs: dict[str, int] | None = None,
) -> BackendPatternConfig:  # fmt: skip
    made = BackendPatternConfig(pattern).set_observation_type(observation).set_dtype_configs(dtypes)
    made.set_root_module(root).set_qat_module(qat).set_reference_quantized_module(reference)
    made.set_fused_module(fused).set_fuser_method(method)
    return made._set_input_type_to_index(inputs or {})


def _relu_fusions(root: Any, fused: Any, dtypes: DTypes) -> Iterator[BackendPatternConfig]:
    for relu in _RELUS:
        yield _config((relu, root), dtypes, fused=fused, method=reverse_sequential_wrapper2(fused))


def _weighted(function: Any, dtypes: DTypes) -> BackendPatternConfig:
    return _config(function, dtypes, inputs={"weight": 1, "bias": 2})


def _conv_dimension(dim: int, dtypes: DTypes) -> Iterator[BackendPatternConfig]:
    conv, bn, function = getattr(nn, f"Conv{dim}d"), getattr(nn, f"BatchNorm{dim}d"), getattr(F, f"conv{dim}d")
    conv_relu, conv_bn, conv_bn_relu = (getattr(nni, f"{name}{dim}d") for name in ("ConvReLU", "ConvBn", "ConvBnReLU"))
    trained, trained_relu, trained_bn, trained_bn_relu = (
        getattr(module, f"{name}{dim}d")
        for module, name in ((nnqat, "Conv"), (nniqat, "ConvReLU"), (nniqat, "ConvBn"), (nniqat, "ConvBnReLU"))
    )
    rounded = {"root": conv, "reference": getattr(nnqr, f"Conv{dim}d")}
    yield _config(conv, dtypes, qat=trained, **rounded)
    yield _config(trained, dtypes, **rounded)
    yield _weighted(function, dtypes)
    yield from _relu_fusions(conv, conv_relu, dtypes)
    yield _config(conv_relu, dtypes, qat=trained_relu)
    yield _config(trained_relu, dtypes, **rounded)
    for relu in _RELUS:
        yield _config((relu, function), dtypes)
    yield _config((bn, conv), dtypes, fused=conv_bn, method=reverse2(fuse_conv_bn))
    for relu in _RELUS:
        root = conv if relu is F.relu else None
        yield _config((relu, (bn, conv)), dtypes, root=root, fused=conv_bn_relu, method=reverse3(fuse_conv_bn_relu))
    yield _config(conv_bn, dtypes, qat=trained_bn)
    yield _config(conv_bn_relu, dtypes, qat=trained_bn_relu)
    yield _config(trained_bn, dtypes, **rounded)
    yield _config(trained_bn_relu, dtypes, **rounded)
    transposed = getattr(nn, f"ConvTranspose{dim}d")
    rounded = {"root": transposed, "reference": getattr(nnqr, f"ConvTranspose{dim}d")}
    yield _config(transposed, dtypes, **rounded)
    yield _config((bn, transposed), dtypes, method=reverse2(fuse_convtranspose_bn), **rounded)


def conv_configs(dtypes: DTypes) -> Configs:
    """Convolutions, with normalizations and rectifiers after them, and transposed ones."""
    return [config for dim in (1, 2, 3) for config in _conv_dimension(dim, dtypes)]


def linear_configs(dtypes: DTypes) -> Configs:
    """Linear layers, with normalizations and rectifiers after them."""
    rounded: dict[str, Any] = {"root": nn.Linear, "reference": nnqr.Linear}
    return [
        _config(nn.Linear, dtypes, qat=nnqat.Linear, **rounded),
        _config(nnqat.Linear, dtypes, **rounded),
        _weighted(F.linear, dtypes),
        *_relu_fusions(nn.Linear, nni.LinearReLU, dtypes),
        _config(nni.LinearReLU, dtypes, qat=nniqat.LinearReLU, **rounded),
        _config(nniqat.LinearReLU, dtypes, **rounded),
        *(_config((relu, F.linear), dtypes) for relu in _RELUS),
        _config((nn.BatchNorm1d, nn.Linear), dtypes, fused=nni.LinearBn1d, method=reverse2(fuse_linear_bn)),
        _config(nni.LinearBn1d, dtypes, qat=nniqat.LinearBn1d, **rounded),
        _config(nniqat.LinearBn1d, dtypes, **rounded),
    ]


def addmm_configs(dtypes: DTypes) -> Configs:
    """A product with a sum."""
    return [_config(torch.addmm, dtypes, inputs={"bias": 0, "input": 1, "weight": 2})]


def binary_configs(dtypes: DTypes) -> Configs:
    """Sums and products of elements, with rectifiers after them, and products of matrices.

    With a number the result has the scale of the tensor.
    """
    made = []
    for function in (operator.add, torch.add, operator.mul, torch.mul):
        for pattern in [(relu, function) for relu in (*_RELUS, torch.relu)] + [function]:
            made.append(_config(pattern, dtypes)._set_num_tensor_args_to_observation_type({0: _OWN, 1: _SHARED, 2: _OWN}))
    return [*made, _config(torch.matmul, dtypes)]


def cat_configs(dtypes: DTypes) -> Configs:
    """Tensors joined, all with one scale."""
    return [_config(torch.cat, dtypes, _SHARED)]


def default_configs(dtypes: DTypes) -> Configs:
    """Modules and functions that get quantized tensors and a scale for the result."""
    plain = (
        nn.ELU, nn.LeakyReLU, nn.Hardswish, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d, nn.Dropout, nn.PReLU,
        F.elu, F.hardswish, F.leaky_relu, F.dropout,
    )  # fmt: skip
    return [
        *(_config(pattern, dtypes) for pattern in plain),
        _config(F.group_norm, dtypes, inputs={"weight": 2, "bias": 3}),
        _config(F.instance_norm, dtypes, inputs={"weight": 3, "bias": 4}),
    ]


def layer_norm_configs(dtypes: DTypes) -> Configs:
    """Normalizations of layers."""
    return [_config(nn.LayerNorm, dtypes), _config(F.layer_norm, dtypes, inputs={"weight": 2, "bias": 3})]


def fixed_qparams_configs(dtypes: DTypes) -> Configs:
    """Functions whose results are always in the same range."""
    made = []
    for pattern, observer in _FIXED_QPARAMS_OP_TO_OBSERVER.items():
        config = _config(pattern, dtypes)
        config._set_overwrite_output_fake_quantize(FixedQParamsFakeQuantize.with_args(observer=observer))
        made.append(config._set_overwrite_output_observer(observer))
    return made


def share_qparams_configs(dtypes: DTypes) -> Configs:
    """What takes quantized tensors as others, and gives tensors with the scale of its input."""
    shared = (
        nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.Hardtanh,
        nn.Identity,
        nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.ReLU, nn.ReLU6,
        F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.hardtanh, F.hardtanh_, F.interpolate, F.max_pool1d,
        F.max_pool2d,
        F.max_pool3d, F.relu, F.relu6, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d,
        torch.clamp, torch.flatten, torch.mean, torch.repeat_interleave, torch.transpose, torch.squeeze, torch.stack, torch.unsqueeze,
        operator.floordiv, "contiguous", "clamp", "detach", "detach_", "mean", "permute", "repeat", "repeat_interleave", "reshape",
        "resize_",
        "relu", "relu_", "shape", "size", "squeeze", "squeeze_", "transpose", "unsqueeze", "unsqueeze_", "view",
    )  # fmt: skip
    return [_config(pattern, dtypes, _SHARED) for pattern in shared]


def bn_configs(dtypes: DTypes) -> Configs:
    """Normalizations by themselves, with rectifiers after them."""
    made = []
    for bn, fused in ((nn.BatchNorm2d, nni.BNReLU2d), (nn.BatchNorm3d, nni.BNReLU3d)):
        made += [*_relu_fusions(bn, fused, dtypes), _config(bn, dtypes)]
    return made + [_config(nni.BNReLU2d, dtypes), _config(nni.BNReLU3d, dtypes)]


def rnn_configs(dtypes: DTypes) -> Configs:
    """Recurrent cells and layers."""
    names = ("GRUCell", "LSTMCell", "RNNCell", "LSTM")
    return [_config(getattr(nn, name), dtypes, root=getattr(nn, name), reference=getattr(nnqr, name)) for name in names]


def embedding_configs(dtypes: DTypes) -> Configs:
    """Tables of vectors, whose inputs are numbers of rows and are not quantized."""
    made = []
    for name in ("Embedding", "EmbeddingBag"):
        root, trained, reference = getattr(nn, name), getattr(nnqat, name), getattr(nnqr, name)
        made.append(_config(root, dtypes, root=root, qat=trained, reference=reference)._set_input_output_observed(False))
        made.append(_config(trained, dtypes, root=root, reference=reference)._set_input_output_observed(False))
    return made
