"""Linear layers whose weights are rounded, and whose inputs are."""

from __future__ import annotations

from typing import Any

from torchjit.ao.nn.qat.modules.linear import Linear as _Linear
from torchjit.ao.quantization.utils import activation_is_dynamically_quantized


class Linear(_Linear):
    """A linear layer for dynamic quantization. Raises ValueError for configurations whose activations are observed."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        observer = getattr(qconfig.activation(), "activation_post_process", qconfig.activation())
        if not (activation_is_dynamically_quantized(qconfig) or getattr(observer, "averaging_constant", None) == 1):
            raise ValueError(
                "Dynamic QAT requires a memoryless observer.This means a MovingAverage observer with averaging constant equal to 1"
            )
