"""Equalization of the ranges of neighbouring layers: the channels of a weight are scaled, those of the next one the other way round."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit.ao.nn import intrinsic as nni

_supported_types = {torch.nn.Conv2d, torch.nn.Linear}
_supported_intrinsic_types = {nni.ConvReLU2d, nni.LinearReLU}
_all_supported_types = _supported_types | _supported_intrinsic_types


def _layer(module: Any) -> Any:
    return module[0] if type(module) in _supported_intrinsic_types else module


def set_module_weight(module: Any, weight: Any) -> None:
    """Gives a layer, or the first of a fused one, a weight."""
    _layer(module).weight = torch.nn.Parameter(weight)


def set_module_bias(module: Any, bias: Any) -> None:
    """Gives a layer, or the first of a fused one, a bias."""
    _layer(module).bias = torch.nn.Parameter(bias)


def get_module_weight(module: Any) -> Any:
    """The weight of a layer, or of the first of a fused one."""
    return _layer(module).weight


def get_module_bias(module: Any) -> Any:
    """The bias of a layer, or of the first of a fused one."""
    return _layer(module).bias


def max_over_ndim(input: Any, axis_list: Sequence[int], keepdim: bool = False) -> Any:
    """The largest elements along some dimensions."""
    for axis in sorted(axis_list, reverse=True):
        input, _ = input.max(axis, keepdim)
    return input


def min_over_ndim(input: Any, axis_list: Sequence[int], keepdim: bool = False) -> Any:
    """The smallest elements along some dimensions."""
    for axis in sorted(axis_list, reverse=True):
        input, _ = input.min(axis, keepdim)
    return input


def channel_range(input: Any, axis: int = 0) -> Any:
    """The largest less the smallest element of each channel."""
    others = [i for i in range(input.ndim) if i != axis]
    found = max_over_ndim(input, others) - min_over_ndim(input, others)
    assert found.size(0) == input.size(axis), "Dimensions of resultant channel range does not match size of requested axis"
    return found


def cross_layer_equalization(module1: Any, module2: Any, output_axis: int = 0, input_axis: int = 1) -> None:
    """Scales the weights of two layers, the second of which reads the first, so that their channels have equal ranges; the result stays."""
    if type(module1) not in _all_supported_types or type(module2) not in _all_supported_types:
        raise ValueError("module type not supported:", type(module1), " ", type(module2))
    weight1, weight2 = get_module_weight(module1), get_module_weight(module2)
    if weight1.size(output_axis) != weight2.size(input_axis):
        raise TypeError("Number of output channels of first arg do not match number input channels of second arg")
    bias = get_module_bias(module1)
    range1, range2 = channel_range(weight1, output_axis), channel_range(weight2, input_axis)
    range2 = range2 + 1e-9
    scale = torch.sqrt(range1 / range2)
    inverse = torch.reciprocal(scale + 1e-9)
    bias = bias * inverse
    along1, along2 = [1] * weight1.ndim, [1] * weight2.ndim
    along1[output_axis], along2[input_axis] = weight1.size(output_axis), weight2.size(input_axis)
    set_module_weight(module1, weight1 * inverse.reshape(along1))
    set_module_bias(module1, bias)
    set_module_weight(module2, weight2 * scale.reshape(along2))


def equalize(model: Any, paired_modules_list: Sequence[Sequence[str]], threshold: float = 1e-4, inplace: bool = True) -> Any:
    """The model with equalized pairs of layers, which are named, until their weights change by less than a threshold."""
    if not inplace:
        model = copy.deepcopy(model)
    wanted = {name for pair in paired_modules_list for name in pair}
    layers = {name: module for name, module in model.named_modules() if name in wanted}
    before: dict[str, Any] = {name: None for name in layers}
    while not converged(layers, before, threshold):
        before = {name: copy.deepcopy(module) for name, module in layers.items()}
        for first, second in paired_modules_list:
            cross_layer_equalization(layers[first], layers[second])
    return model


def converged(curr_modules: dict[str, Any], prev_modules: dict[str, Any], threshold: float = 1e-4) -> bool:
    """Whether the weights of layers differ by less than a threshold from what they were. Raises ValueError for other layers."""
    if curr_modules.keys() != prev_modules.keys():
        raise ValueError("The keys to the given mappings must have the same set of names of modules")
    if None in prev_modules.values():
        return False
    return sum(float(torch.norm(get_module_weight(curr_modules[name]) - get_module_weight(prev_modules[name]))) for name in curr_modules) < threshold
