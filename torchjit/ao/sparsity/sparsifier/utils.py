"""Masks as parametrizations, and modules by their names."""

from __future__ import annotations

from typing import Any

from torchjit import nn


class FakeSparsity(nn.Module):
    """A parametrization that multiplies by a mask, which no state dictionary has."""

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, x: Any) -> Any:
        """The product with the mask, which must have the same size."""
        assert self.mask.shape == x.shape
        return self.mask * x

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Nothing."""
        return {}


def module_to_fqn(model: nn.Module, module: nn.Module, prefix: str = "") -> str | None:
    """The name of a module in a model, with a prefix before it; None where it is not there."""
    if model is module:
        return ""
    for name, child in model.named_children():
        found = module_to_fqn(child, module, ".")
        if found is not None:
            return prefix + name + found
    return None


def fqn_to_module(model: nn.Module | None, path: str) -> nn.Module | None:
    """The module or attribute of a name, None where there is none."""
    found: Any = model
    for part in path.split(".") if path else ():
        found = getattr(found, part, None)
    return found


def get_arg_info_from_tensor_fqn(model: nn.Module, tensor_fqn: str) -> dict[str, Any]:
    """The module that has a tensor of a name, its name, and the name of the tensor in it."""
    module_fqn, _, tensor_name = tensor_fqn.rpartition(".")
    return {"module_fqn": module_fqn, "module": fqn_to_module(model, module_fqn), "tensor_name": tensor_name, "tensor_fqn": tensor_fqn}
