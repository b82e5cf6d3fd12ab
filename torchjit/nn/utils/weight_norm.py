"""Weights as a length and a direction (Salimans and Kingma)."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.nn.parameter import Parameter
from torchjit.nn.utils._weight_hook import refuse_second, take_out


class WeightNorm:
    """Computes a weight before each forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim: int = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        return torch._weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module: Any) -> None:
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replaces a weight by name_g, its norm over all dimensions but dim, and name_v, its direction.

    >>> m = nn.utils.weight_norm(nn.Linear(3, 2))
    >>> sorted(name for name, _ in m.named_parameters())
    ['bias', 'weight_g', 'weight_v']
    """
    refuse_second(module, WeightNorm, name, "weight_norm")
    fn = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(torch.norm_except_dim(weight, 2, fn.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, fn.compute_weight(module))
    module.register_forward_pre_hook(fn)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight one parameter again.

    >>> m = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(3, 2)))
    >>> sorted(name for name, _ in m.named_parameters())
    ['bias', 'weight']
    """
    return take_out(module, WeightNorm, name, "weight_norm")
