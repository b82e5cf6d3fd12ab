"""Which modules that follow each other become one, and how."""

from __future__ import annotations

from typing import Any

from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.quantization.utils import get_combined_dict

__all__ = [
    "DEFAULT_OP_LIST_TO_FUSER_METHOD", "fuse_conv_bn", "fuse_conv_bn_relu", "fuse_linear_bn", "fuse_convtranspose_bn", "get_fuser_method",
    "sequential_wrapper2", "reverse_sequential_wrapper2", "reverse2", "reverse3",
]  # fmt: skip


def _check_modes(*modules: Any) -> None:
    if len({module.training for module in modules}) != 1:
        names = "Conv and BN both" if len(modules) == 2 else "Conv and BN both"
        raise AssertionError(names + " must be in the same mode (train or eval).")


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> Any:
    """A convolution and its normalization: one convolution in eval mode, one module of both for training. Raises AssertionError otherwise."""
    _check_modes(conv, bn)
    fused = {nn.Conv1d: nni.ConvBn1d, nn.Conv2d: nni.ConvBn2d, nn.Conv3d: nni.ConvBn3d}
    if not is_qat:
        return nn.utils.fuse_conv_bn_eval(conv, bn)
    _check_norm(conv, bn, "Conv2d")
    if type(conv) not in fused:
        raise NotImplementedError(f"Cannot fuse train modules: {(conv, bn)}")
    return fused[type(conv)](conv, bn)


def _check_norm(conv: Any, bn: Any, name: str) -> None:
    if bn.num_features != conv.out_channels:
        raise AssertionError(f"Output channel of {name} must match num_features of BatchNorm2d")
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm2d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError("Only support fusing BatchNorm2d with tracking_running_stats set to True")


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: Any) -> Any:
    """A convolution, its normalization and a rectifier as one module. Raises AssertionError where they are in different modes."""
    _check_modes(conv, bn, relu)
    training = {nn.Conv1d: nni.ConvBnReLU1d, nn.Conv2d: nni.ConvBnReLU2d, nn.Conv3d: nni.ConvBnReLU3d}
    trained = {nn.Conv1d: nni.ConvReLU1d, nn.Conv2d: nni.ConvReLU2d, nn.Conv3d: nni.ConvReLU3d}
    if type(conv) not in training:
        raise NotImplementedError(f"Cannot fuse {'train' if is_qat else 'eval'} modules: {(conv, bn, relu)}")
    if is_qat:
        _check_norm(conv, bn, "Conv")
        return training[type(conv)](conv, bn, relu)
    return trained[type(conv)](nn.utils.fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> Any:
    """A linear layer and its normalization: one layer in eval mode, one module of both for training."""
    if linear.training != bn.training:
        raise AssertionError("Linear and BN both must be in the same mode (train or eval).")
    if not is_qat:
        return nn.utils.fuse_linear_bn_eval(linear, bn)
    if bn.num_features != linear.out_features:
        raise AssertionError("Output features of Linear must match num_features of BatchNorm1d")
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm1d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError("Only support fusing BatchNorm1d with tracking_running_stats set to True")
    return nni.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat: bool, convt: Any, bn: Any) -> Any:
    """A transposed convolution with its normalization in it, in eval mode. Raises Exception for training."""
    if convt.training != bn.training:
        raise AssertionError("ConvTranspose and BN both must be in the same mode (train or eval).")
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")  # noqa: TRY002 - PyTorch's class
    return nn.utils.fuse_conv_bn_eval(convt, bn, transpose=True)


def sequential_wrapper2(sequential: Any) -> Any:
    """The method that puts two modules into one of a class."""

    def fuser_method(is_qat: bool, m1: Any, m2: Any) -> Any:
        return sequential(m1, m2)

    return fuser_method


def reverse_sequential_wrapper2(sequential: Any) -> Any:
    """The method that puts two modules, the last first, into one of a class."""

    def fuser_method(is_qat: bool, m1: Any, m2: Any) -> Any:
        return sequential(m2, m1)

    return fuser_method


def reverse2(f: Any) -> Any:
    """The method of two modules that gets the last first."""

    def reversed(is_qat: bool, x: Any, y: Any) -> Any:  # noqa: A001
        return f(is_qat, y, x)

    return reversed


def reverse3(f: Any) -> Any:
    """The method of three modules that gets the last first, and the others in a pair."""

    def reversed(is_qat: bool, x: Any, w: Any) -> Any:  # noqa: A001
        y, z = w
        return f(is_qat, z, y, x)

    return reversed


DEFAULT_OP_LIST_TO_FUSER_METHOD: dict[tuple[Any, ...], Any] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn,
    (nn.Conv1d, nn.BatchNorm1d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn,
    (nn.Conv2d, nn.BatchNorm2d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn,
    (nn.Conv3d, nn.BatchNorm3d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv1d, nn.ReLU): sequential_wrapper2(nni.ConvReLU1d),
    (nn.Conv2d, nn.ReLU): sequential_wrapper2(nni.ConvReLU2d),
    (nn.Conv3d, nn.ReLU): sequential_wrapper2(nni.ConvReLU3d),
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.Linear, nn.ReLU): sequential_wrapper2(nni.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): sequential_wrapper2(nni.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): sequential_wrapper2(nni.BNReLU3d),
    (nn.ConvTranspose1d, nn.BatchNorm1d): fuse_convtranspose_bn,
    (nn.ConvTranspose2d, nn.BatchNorm2d): fuse_convtranspose_bn,
    (nn.ConvTranspose3d, nn.BatchNorm3d): fuse_convtranspose_bn,
}


def get_fuser_method(op_list: Any, additional_fuser_method_mapping: Any = None) -> Any:
    """The method that makes modules of these classes one. Raises AssertionError where there is none."""
    methods = get_combined_dict(DEFAULT_OP_LIST_TO_FUSER_METHOD, additional_fuser_method_mapping or {})
    found = methods.get(op_list)
    if found is None:
        raise AssertionError(f"did not find fuser method for: {op_list} ")
    return found
