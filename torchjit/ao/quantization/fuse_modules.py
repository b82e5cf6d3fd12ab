"""Modules of a model that follow each other become one."""

from __future__ import annotations

import copy
from typing import Any

from torchjit import nn
from torchjit.ao.quantization.fuser_method_mappings import get_fuser_method
from torchjit.ao.quantization.utils import getattr_from_fqn
from torchjit.nn.utils.parametrize import type_before_parametrizations

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]


def fuse_known_modules(mod_list: Any, is_qat: bool, additional_fuser_method_mapping: Any = None) -> list[Any]:
    """The module for several, and an nn.Identity for each of the others. Hooks before the first and after the last stay."""
    method = get_fuser_method(tuple(type_before_parametrizations(m) for m in mod_list), additional_fuser_method_mapping)
    fused = method(is_qat, *mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    made = [fused]
    for _ in mod_list[1:]:
        identity = nn.Identity()
        identity.training = mod_list[0].training
        made.append(identity)
    return made


def _fuse_named(model: Any, names: list[str], is_qat: bool, fuser_func: Any, custom: Any) -> None:
    """Replaces the modules of these names."""
    made = fuser_func(
        [getattr_from_fqn(model, name) for name in names],
        is_qat,
        (custom or {}).get("additional_fuser_method_mapping", {}),
    )
    for name, module in zip(names, made):
        path, _, last = name.rpartition(".")
        setattr(getattr_from_fqn(model, path) if path else model, last, module)


def _fuse_modules(
    model: Any,
    modules_to_fuse: Any,
    is_qat: bool,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    if not inplace:
        model = copy.deepcopy(model)
    groups = [modules_to_fuse] if all(isinstance(name, str) for name in modules_to_fuse) else modules_to_fuse
    for names in groups:
        _fuse_named(model, names, is_qat, fuser_func, fuse_custom_config_dict)
    return model


def fuse_modules(
    model: Any,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    """A copy of a model in eval mode in which the modules of each list of names are one, and nn.Identity stands for the others.

    >>> m = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> [type(layer).__name__ for layer in torch.quantization.fuse_modules(m, [["0", "1", "2"]])]
    ['ConvReLU2d', 'Identity', 'Identity']
    """
    return _fuse_modules(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(
    model: Any,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    """As fuse_modules, for training: normalizations stay."""
    return _fuse_modules(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
