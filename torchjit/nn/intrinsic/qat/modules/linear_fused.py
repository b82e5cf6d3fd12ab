"""A linear layer with a rounded weight and a batch normalization."""

from __future__ import annotations

from typing import Any

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn
from torchjit.ao.nn import intrinsic as nni
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.nn import init
from torchjit.nn.utils.fusion import fuse_linear_bn_weights

# ruff: noqa: A002


class LinearBn1d(nn.Linear, _FusedModule):
    """A linear layer and its normalization: the weight is rounded with the factor in it that the running statistics give."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, eps: float = 1e-05, momentum: float = 0.1, freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:  # fmt: skip
        nn.modules.linear.Linear.__init__(self, in_features, out_features, bias)
        if not qconfig:
            raise AssertionError("qconfig must be provded for QAT module")
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn: nn.BatchNorm1d = nn.BatchNorm1d(out_features, eps, momentum, True, True)
        self.weight_fake_quant: nn.Module = self.qconfig.weight()
        if bias:
            self.bias: nn.Parameter | None = nn.Parameter(torch.empty(out_features))  # type: ignore[assignment]
        else:
            self.register_parameter("bias", None)
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def reset_running_stats(self) -> None:
        """Forgets the statistics."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Draws the parameters of the normalization, and the bias, anew."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    def reset_parameters(self) -> None:
        super().reset_parameters()

    def update_bn_stats(self) -> Any:
        """Lets the normalization use the statistics of each batch."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self) -> Any:
        """Lets the normalization use its running statistics, in training too."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def forward(self, input: Any) -> Any:
        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.weight_fake_quant(self.weight * factor.reshape([-1] + [1] * (self.weight.dim() - 1)))
        shape = [1, -1] if input.dim() == 2 else [-1]
        zero = (
            torch.zeros_like(self.bias)
            if self.bias is not None
            else torch.zeros(self.out_features, device=weight.device)
        )
        out = F.linear(input, weight, zero) / factor.reshape(shape)
        if self.bias is not None:
            out = out + self.bias.reshape(shape)
        return self.bn(out)

    def train(self, mode: bool = True) -> Any:
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():
                module.train(mode)
        return self

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The layers with the parameters of those without rounding, by the configuration that is on them."""
        if type(mod) is not nni.LinearBn1d:
            raise AssertionError("qat." + cls.__name__ + ".from_float only works for " + nni.LinearBn1d.__name__)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.qconfig:
            raise AssertionError("Input float module must have a valid config")
        linear, bn = mod[0], mod[1]
        made = cls(
            linear.in_features, linear.out_features, linear.bias is not None, bn.eps, bn.momentum, False, mod.qconfig
        )
        made.weight, made.bias = linear.weight, linear.bias
        made.bn.weight, made.bn.bias = bn.weight, bn.bias
        made.bn.running_mean, made.bn.running_var = bn.running_mean, bn.running_var
        made.bn.num_batches_tracked = bn.num_batches_tracked
        return made

    def to_float(self) -> Any:
        """One linear layer that computes what both do in eval mode."""
        made = nn.Linear(self.in_features, self.out_features)
        made.weight, made.bias = fuse_linear_bn_weights(
            self.weight, self.bias, self.bn.running_mean, self.bn.running_var, self.bn.eps, self.bn.weight, self.bn.bias
        )
        return made
