"""Places of a model where its tensors are to become quantized ones, and numbers again."""

from __future__ import annotations

from typing import Any

from torchjit import Tensor, nn


class QuantStub(nn.Module):
    """Where quantized computation begins. It gives what it is given until it is converted.

    >>> torch.quantization.QuantStub()(torch.ones(1))
    tensor([1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class DeQuantStub(QuantStub):
    """Where quantized computation ends. It gives what it is given until it is converted.

    >>> torch.quantization.DeQuantStub()(torch.ones(1))
    tensor([1.])
    """

    def forward(self, x: Tensor) -> Tensor:
        return x


class QuantWrapper(nn.Module):
    """A module between a QuantStub and a DeQuantStub.

    >>> m = torch.quantization.QuantWrapper(nn.Linear(3, 2))
    >>> [name for name, _ in m.named_children()]
    ['quant', 'dequant', 'module']
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.add_module("quant", QuantStub(getattr(module, "qconfig", None)))
        self.add_module("dequant", DeQuantStub(getattr(module, "qconfig", None)))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:  # noqa: N803
        X = self.quant(X)  # noqa: N806
        X = self.module(X)  # noqa: N806
        return self.dequant(X)
