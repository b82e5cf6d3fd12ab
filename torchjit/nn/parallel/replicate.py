"""Copies of a module that share its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit.nn.modules.module import Module

__all__ = ["replicate"]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """A copy of a module for each device: its parameters and buffers are the module's own, detached with detach=True.

    Raises RuntimeError for devices other than the CPU, of which there are none.
    """
    for device in devices:
        if not isinstance(device, (str, torch.device)) or torch.device(device).type != "cpu":
            raise RuntimeError(f"replicate: a module cannot move to the device {device}: torchjit has the CPU alone")
    return [_copy(network, detach) for _ in devices]


def _copy(module: Module, detach: bool) -> Module:
    copied = module._replicate_for_data_parallel()
    copied._modules = {name: None if child is None else _copy(child, detach) for name, child in module._modules.items()}
    for name, p in module._parameters.items():
        value = p if p is None or not detach else p.detach()
        setattr(copied, name, value)
    copied._buffers = {name: b if b is None or not detach else b.detach() for name, b in module._buffers.items()}
    return copied
